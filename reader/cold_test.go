package reader

// The rule: where memory is full, one entry of a leaf that is not there is
// found by its rank and read alone, as the transaction sees it.

import (
	"slices"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func TestEntriesOfFullRangesAreReadAlone(t *testing.T) {
	rng := seed.Fresh(t).Rand(0)
	for _, x := range []struct {
		id     schema.IndexID
		prefix string
	}{{schema.ByID(things.ID), group("g")}, {schema.Index(things.ID, 1), group("v")}} {
		g := newRig(t, 64<<10)
		const n = 4000
		var want []string
		for i := range n {
			g.put(things, thing("g", i), "v")
			if i == n/2 {
				g.merge(-1)
			}
		}
		if _, err := g.view().Ordered(things, x.id, x.prefix); err != nil {
			t.Fatal(err)
		}
		g.must(func(x tx) error { return x.put(plain, []byte("other"), "1") }) // takes it over
		for key, err := range g.view().Keys(things, index.PrefixRange(x.id, x.prefix), 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, key)
		}
		cold := 0
		for round := 0; round < 60 || cold < 100 && round < 600; round++ {
			g.must(func(tx tx) error {
				o, err := tx.view.Ordered(things, x.id, x.prefix)
				if err != nil {
					return err
				}
				if o.Len() != len(want) {
					t.Fatalf("length: got %d, want %d", o.Len(), len(want))
				}
				for range 20 {
					i, pages := rng.IntN(len(want)), o.in.tree.Pages()
					_, _, gap := o.in.tree.At(i)
					if gap != nil && g.head.rangesFull() {
						cold++
					}
					item, err := o.At(i)
					if err != nil || item.Key != want[i] {
						t.Fatalf("at %d of %d: got %q, %v, want %q", i, len(want), item.Key, err, want[i])
					}
					if gap != nil && g.head.rangesFull() && o.in.tree.Pages() > pages {
						t.Fatalf("a leaf was read for one entry")
					}
				}
				i := rng.IntN(len(want))
				item, err := o.At(i)
				want = slices.Delete(want, i, i+1)
				if err != nil {
					return err
				}
				return tx.del(things, []byte(item.Doc.ID))
			})
			if rng.IntN(10) == 0 {
				g.merge(-1)
			}
		}
		if mean := meanGap(g.head.ranges.byKey[rangeKey{x.id, x.prefix}], want); mean > 100 || mean == 0 { // a leaf has some 140
			t.Errorf("index %d: %d entries in a gap, want it cut by what was read", x.id.Number(), mean)
		}
		if cold < 100 {
			t.Errorf("index %d: %d entries were read alone, want 100 and more", x.id.Number(), cold)
		}
	}
}

// meanGap is how many of a range's keys are in a leaf that is absent, on average.
func meanGap(s *warmRange, keys []string) int {
	entries, gaps := 0, map[string]bool{}
	for _, key := range keys {
		if gap := s.work.AbsentAt(key); gap != nil {
			gaps[gap.From] = true
			entries++
		}
	}
	return entries / max(len(gaps), 1)
}

package reader

// The rule: a document that is in its range is not kept a second time, and is
// found there; what is in neither is known not to exist as long as nothing was
// evicted, and looked for otherwise.

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func TestDocumentsOfRangesAreKeptOnce(t *testing.T) {
	g := newRig(t, 1<<20)
	g.head.Assume(things.ID)
	g.must(func(x tx) error {
		g.head.Fresh(group("a"))
		return x.put(things, thing("a", 1), "1")
	}, func(x tx) error { return x.put(things, thing("a", 2), "2") })
	if got := g.head.Size(); got.Documents != 0 || got.Ranges != 1 {
		t.Errorf("size: got %+v, want no documents and a range", got)
	}
	hot := func(read func(v *View)) {
		v := new(View)
		v.Reset(g.head, true)
		defer v.Close()
		read(v)
	}
	hot(func(v *View) {
		if got := is(v, thing("a", 1)) + is(v, thing("a", 2)) + is(v, thing("a", 3)) + is(v, thing("b", 1)); got != "12--" {
			t.Errorf("documents: got %s, want 12--", got)
		}
		if _, err := v.Last(things, thing("a", 3)); err != ErrNotFound {
			t.Errorf("what was never written: got %v, want %v", err, ErrNotFound)
		}
	})
	g.must(func(x tx) error { return x.del(things, thing("a", 1)) })
	hot(func(v *View) {
		if row, err := v.Last(things, thing("a", 1)); err != nil || !row.Deleted {
			t.Errorf("a tombstone: got %+v, %v", row, err)
		}
	})
	g.empty()
	hot(func(v *View) {
		if _, err := v.Get(things, thing("a", 2)); err != ErrCold {
			t.Errorf("after eviction: got %v, want %v", err, ErrCold)
		}
	})
	if got := is(g.view(), thing("a", 2)); got != "2" {
		t.Errorf("from the file: got %s, want 2", got)
	}
}

// pasts is what each document was from which moment on.
type pasts map[string][]schema.Row

func (p pasts) at(id string, at schema.Timestamp) string {
	got := "-"
	for _, row := range p[id] {
		if row.TS <= at {
			got = string(row.Value)
		}
	}
	return got
}

// writes is what TestGetsFindWhatRangesHave does.
type writes struct {
	g       *rig
	rng     *rand.Rand
	written pasts
	begun   map[string]bool // groups that are not new any more
}

// step is one transaction, which may fail.
func (w *writes) step(i int) {
	var names []string
	fresh := pasts{}
	failing := w.rng.IntN(6) == 0
	if err := w.g.commit(func(x tx) error {
		for range 1 + w.rng.IntN(6) {
			name := fmt.Sprint(w.rng.IntN(min(12, 1+i/20)))
			if !w.begun[name] {
				w.g.head.Fresh(group(name))
				names = append(names, name)
			}
			id := thing(name, w.rng.IntN(25))
			row := schema.Row{TS: x.ts, Value: []byte(fmt.Sprint(x.ts))}
			err := x.put(things, id, string(row.Value))
			if w.rng.IntN(3) == 0 {
				row.Value = []byte("-")
				err = x.del(things, id)
			}
			if err != nil {
				return err
			}
			fresh[string(id)] = []schema.Row{row}
			if got := is(x.view, id); got != string(row.Value) {
				w.g.t.Fatalf("own write of %q: got %s, want %s", id, got, row.Value)
			}
		}
		if failing {
			return errStop
		}
		return nil
	}); err != nil {
		w.g.t.Fatal(err)
	}
	if !failing {
		for id, rows := range fresh {
			w.written[id] = append(w.written[id], rows...)
		}
		for _, name := range names {
			w.begun[name] = true
		}
	}
}

// TestGetsFindWhatRangesHave begins, changes and evicts ranges at random, and
// reads single documents of the present, of a moment ago, and in transactions.
func TestGetsFindWhatRangesHave(t *testing.T) {
	for _, budget := range []int64{3 << 10, 8 << 10, 1 << 20} {
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			seed := seed.Fresh(t)
			rng := seed.Rand(0)
			g := newRig(t, budget)
			g.head.pageBytes = smallPage
			g.head.Assume(things.ID)
			w := writes{g, rng, pasts{}, map[string]bool{}}
			check := func(v *View, at schema.Timestamp) {
				t.Helper()
				id := thing(fmt.Sprint(rng.IntN(12)), rng.IntN(25))
				if got, want := is(v, id), w.written.at(string(id), at); got != want {
					t.Fatalf("%q at %d: got %s, want %s", id, at, got, want)
				}
			}
			for i := range 500 {
				w.step(i)
				for range 6 {
					check(g.view(), g.now)
					at := g.now - schema.Timestamp(rng.IntN(8))
					check(g.at(at), at)
				}
				g.must(func(x tx) error { check(x.view, g.now); return nil })
				switch rng.IntN(40) {
				case 0:
					g.merge(-1)
				case 1:
					g.empty()
				case 2:
					if _, err := g.view().Ordered(things, schema.ByID(things.ID), group(fmt.Sprint(rng.IntN(12)))); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

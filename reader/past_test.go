package reader

// The rule: what the fences say of a large range is what a walk finds, at every
// moment, whatever has been merged since, and a view that asks does not walk
// what has not changed.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// remembered is a range as it was.
type remembered struct {
	ts   schema.Timestamp
	keys []string
}

// ask compares ranks, counts and skips of parts of the range with what it was.
func (was remembered) ask(t *testing.T, v *View, r schema.KeyRange, skip, limit int) {
	t.Helper()
	from, _ := slices.BinarySearch(was.keys, r.From)
	to, _ := slices.BinarySearch(was.keys, r.To)
	want := was.keys[from:max(from, to)]
	all := skip % 2 * len(was.keys) // known, or not
	if n, err := v.CountRange(things, r, all); n != len(want) || err != nil {
		t.Fatalf("count of %+v of %d at %d: got %d, %v, want %d", r, all, v.at, n, err, len(want))
	}
	if want = slices.Clone(want); r.Reverse {
		slices.Reverse(want)
	}
	want = want[min(skip, len(want)):]
	want = want[:min(limit, len(want))]
	var got []string
	for key, err := range v.Keys(things, r, skip, limit) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("keys of %+v at %d, skip %d, limit %d: got %q, want %q", r, v.at, skip, limit, got, want)
	}
}

func TestPastIsCountedByFences(t *testing.T) {
	for _, budget := range []int64{0, 32 << 10} {
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			rng := seed.Fresh(t).Rand(0)
			g := newRig(t, budget)
			g.merger = index.NewMerger(g.tail, map[schema.TableID]*index.Table{things.ID: things})
			const members = 5000
			live := map[string]bool{}
			var past []remembered
			change := func(from, n int, put bool) {
				g.must(func(x tx) error {
					for i := range n {
						id := thing("large", (from+i)%members)
						if live[string(id)] = put; !put {
							delete(live, string(id))
						}
						var err error
						if put {
							err = x.put(things, id, "v")
						} else {
							err = x.del(things, id)
						}
						if err != nil {
							return err
						}
					}
					return nil
				})
				keys := []string{}
				for key := range live {
					keys = append(keys, key)
				}
				slices.Sort(keys)
				past = append(past, remembered{g.now, keys})
			}
			change(0, 3000, true)
			for range 40 {
				change(rng.IntN(members), 1+rng.IntN([]int{3, 600}[rng.IntN(2)]), rng.IntN(3) > 0)
				g.merge(rng.IntN(100))
				for range 4 {
					was := past[rng.IntN(len(past))]
					r := whole("large")
					if rng.IntN(2) == 0 {
						r.From = string(thing("large", rng.IntN(members)))
					}
					if rng.IntN(2) == 0 {
						r.To = string(thing("large", rng.IntN(members)))
					}
					r.Reverse = rng.IntN(2) == 0
					v := g.at(was.ts)
					if rng.IntN(4) == 0 {
						was, v = past[len(past)-1], g.view()
					}
					was.ask(t, v, r, rng.IntN(members), 3)
					v.Close()
				}
				g.head.Lock()
				r := whole("large")
				r.Reverse = rng.IntN(2) == 0
				past[len(past)-1].ask(t, g.head.Transaction(), r, rng.IntN(members), 3)
				g.head.Unlock()
			}
			if got := len(g.head.counted.recent); got == 0 && budget > 0 {
				t.Error("ranges that are remembered: got none, want some")
			}
		})
	}
}

func TestWhatHasNotChangedIsNotWalked(t *testing.T) {
	g := newRig(t, 32<<10)
	g.merger = index.NewMerger(g.tail, map[schema.TableID]*index.Table{things.ID: things})
	const members = 20_000
	var were remembered
	for n := range members / 1000 {
		g.must(func(x tx) error {
			for i := range 1000 {
				id := thing("large", 1000*n+i)
				were.keys = append(were.keys, string(id))
				if err := x.put(things, id, "v"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.merge(-1)
	then := g.now
	g.must(func(x tx) error { return x.del(things, thing("large", 10)) })
	g.put(things, thing("large", 12), "another value")
	g.merge(-1)
	v := g.at(then)
	before := g.engine.reads.Load()
	were.ask(t, v, schema.KeyRange{Index: schema.ByID(things.ID), From: group("large"), To: string(thing("large", 15_000))}, 14_000, 1)
	// The keys before the fences are asked, an interval that has changed, the
	// interval of the bound and that of the key; the tail is empty.
	if got := g.engine.reads.Load() - before; got > 20 {
		t.Errorf("scans of the file for a count and a skip in %d keys: got %d, want at most 20", members, got)
	}
}

// Of a range that has changed everywhere the nearer part is walked, and by two
// sessions if it is large.
func TestManyChangesAreWalkedFromTheNearerEnd(t *testing.T) {
	g := newRig(t, 64<<10)
	const members = 80_000
	var were remembered
	write := func(change func(tx, []byte) error, step int) {
		for from := 0; from < members; from += 4000 {
			g.must(func(x tx) error {
				for i := from; i < from+4000; i += step {
					if err := change(x, thing("large", i)); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	write(func(x tx, id []byte) error {
		were.keys = append(were.keys, string(id))
		return x.put(things, id, "v")
	}, 1)
	g.mergeBy(4096)
	then := g.now
	write(func(x tx, id []byte) error { return x.del(things, id) }, 50)
	g.mergeBy(4096)
	rng := seed.Fresh(t).Rand(0)
	for _, tt := range []struct {
		to       int
		sessions int64 // that have walked
		unknown  int   // intervals, then
	}{{members / 100, 1, 98}, {members - members/100, 1, 98}, {members / 2, 2, 49}} {
		g.head.counted = countedRanges{}
		for len(g.head.idle) > 0 {
			(<-g.head.idle).Close()
		}
		v, opened := g.at(then), g.engine.opened.Load()
		r := whole("large")
		r.To = string(thing("large", tt.to))
		if n, err := v.CountRange(things, r, members); n != tt.to || err != nil {
			t.Fatalf("rank of %d: got %d, %v", tt.to, n, err)
		}
		if got := g.engine.opened.Load() - opened; got != tt.sessions {
			t.Errorf("sessions that counted up to %d: got %d, want %d", tt.to, got, tt.sessions)
		}
		c := g.head.counted.recent[0]
		if got := 100 * c.unknown(0, len(c.fences)) / len(c.fences); got < tt.unknown-3 {
			t.Errorf("intervals that were not walked to count up to %d: got %d %%, want %d", tt.to, got, tt.unknown)
		}
		were.ask(t, v, r, rng.IntN(tt.to), 3)
		r.Reverse = true
		were.ask(t, v, r, rng.IntN(tt.to), 3)
		v.Close()
	}
}

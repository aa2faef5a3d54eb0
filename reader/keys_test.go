package reader

// The rule: Keys and CountRange answer as Scan does, from wherever, and Warm
// loads what fits.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// scanned is the keys that Scan yields.
func scanned(t *testing.T, v *View, r schema.KeyRange) (keys []string) {
	t.Helper()
	for item, err := range v.Scan(things, r, 0) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, item.Key)
	}
	return keys
}

// checkKeys compares one walk over keys, and a count, with Scan.
func checkKeys(t *testing.T, v *View, r schema.KeyRange, skip, limit int) {
	t.Helper()
	want := scanned(t, v, r)
	if n, err := v.CountRange(things, r, 0); err != nil || n != len(want) {
		t.Fatalf("count of %+v:\n got %d, %v\nwant %d", r, n, err, len(want))
	}
	want = want[min(skip, len(want)):]
	if limit > 0 {
		want = want[:min(limit, len(want))]
	}
	var got []string
	for key, err := range v.Keys(things, r, skip, limit) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("keys of %+v, skip %d, limit %d:\n got %q\nwant %q", r, skip, limit, got, want)
	}
}

// smallPage is a leaf of a few elements.
const smallPage = 160

// checkedLeaves counts the ranges that were found with an absent leaf.
var checkedLeaves int

func checkLeaves(t *testing.T, g *rig, x schema.IndexID, prefix string) {
	t.Helper()
	g.head.mu.RLock()
	defer g.head.mu.RUnlock()
	if s := g.head.ranges.byKey[rangeKey{x, prefix}]; s != nil && !s.editions[0].tree.Whole() {
		checkedLeaves++
	}
}

// checkOrdered compares an Ordered with Scan.
func checkOrdered(t *testing.T, v *View, x schema.IndexID, prefix string, rng *rand.Rand) {
	t.Helper()
	want := scanned(t, v, index.PrefixRange(x, prefix))
	o, err := v.Ordered(things, x, prefix)
	if err != nil || o.Len() != len(want) {
		t.Fatalf("ordered: got %d, %v, want %d", o.Len(), err, len(want))
	}
	if len(want) == 0 {
		return
	}
	i := len(want) / 2
	if rng != nil {
		i = rng.IntN(len(want))
	}
	item, err := o.At(i)
	if err != nil || item.Key != want[i] || string(item.Doc.Value) == "" {
		t.Fatalf("at %d: got %+v, %v, want %q", i, item, err, want[i])
	}
	if rank, found, err := o.Rank([]byte(want[i])); rank != i || !found || err != nil {
		t.Fatalf("rank of %q: got %d, %t, %v, want %d", want[i], rank, found, err, i)
	}
	var up, down []string
	for item, err := range o.Ascend([]byte(want[i])) {
		if err != nil {
			t.Fatal(err)
		}
		up = append(up, item.Key)
	}
	for item, err := range o.Descend([]byte(want[i])) {
		if err != nil {
			t.Fatal(err)
		}
		down = append(down, item.Key)
	}
	slices.Reverse(down)
	if !slices.Equal(up, want[i:]) || !slices.Equal(down, want[:i+1]) {
		t.Fatalf("from %d of %d: got %d up, %d down", i, len(want), len(up), len(down))
	}
}

func TestKeysAreThoseThatScanYields(t *testing.T) {
	for _, budget := range []int64{0, 6 << 10, 12 << 10, 1 << 20} { // a few leaves, most of them, all
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			seed := seed.Fresh(t)
			rng := seed.Rand(0)
			g := newRig(t, budget)
			g.head.pageBytes = smallPage
			before := checkedLeaves
			check := func(v *View) {
				name := fmt.Sprint(rng.IntN(3))
				x, prefix := schema.ByID(things.ID), group(name)
				bound := func() string { return string(thing(name, rng.IntN(60))) }
				if rng.IntN(2) == 0 {
					x, prefix = schema.Index(things.ID, 1), group("v"+name)
					bound = func() string { return prefix + string(thing(fmt.Sprint(rng.IntN(3)), rng.IntN(60))) }
				}
				r := index.PrefixRange(x, prefix)
				switch rng.IntN(3) {
				case 0:
					r.From = bound()
				case 1:
					r.From, r.To = bound(), bound()
				}
				if r.From > r.To {
					r.From, r.To = r.To, r.From
				}
				r.Reverse = rng.IntN(2) == 0
				if rng.IntN(4) == 0 {
					if _, err := v.Warm(things, x, prefix, 60); err != nil {
						t.Fatal(err)
					}
				}
				checkKeys(t, v, r, rng.IntN(8)*rng.IntN(10), rng.IntN(5)*rng.IntN(10))
				if rng.IntN(2) == 0 {
					checkOrdered(t, v, x, prefix, rng)
				}
				checkLeaves(t, g, x, prefix)
			}
			for range 400 {
				failing := rng.IntN(8) == 0
				if err := g.commit(func(x tx) error {
					id := thing(fmt.Sprint(rng.IntN(3)), rng.IntN(60))
					check(x.view)
					if rng.IntN(3) == 0 {
						return x.del(things, id)
					}
					err := x.put(things, id, fmt.Sprint("v", rng.IntN(3)))
					check(x.view)
					if failing {
						return errStop
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				check(g.view())
				check(g.at(g.now - schema.Timestamp(rng.IntN(20))))
				if rng.IntN(40) == 0 {
					g.merge(-1)
				}
			}
			if thin := checkedLeaves - before; budget > 0 && budget < 1<<20 && thin == 0 {
				t.Error("ranges with absent leaves: got none, want some")
			}
		})
	}
}

func TestWarmLoadsWhatFits(t *testing.T) {
	g := newRig(t, 1<<20)
	value := schema.Index(things.ID, 1)
	for i := range 50 {
		g.put(things, thing("g", i), "v")
	}
	g.merge(-1)
	warm := func(v *View, n int) string {
		held, err := v.Warm(things, value, group("v"), n)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(held)
	}
	hot := new(View)
	hot.Reset(g.head, true)
	defer hot.Close()
	for _, tt := range []struct {
		name string
		view *View
		n    int
		want string
	}{
		{"too large", g.view(), 1 << 40, "false"},
		{"too large, memory only", hot, 1 << 40, "false"},
		{"past", g.at(g.now - 1), 50, "false"},
		{"memory only", hot, 50, ErrCold.Error()},
		{"fits", g.view(), 50, "true"},
		{"held", hot, 50, "true"},
		{"held, however large", g.view(), 1 << 40, "true"},
	} {
		if got := warm(tt.view, tt.n); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

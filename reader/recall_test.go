package reader

// The rule: large ranges are counted in memory before anybody asks, and small
// ones are left alone.

import (
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

func TestLargeRangesAreRecalled(t *testing.T) {
	g := newRig(t, 4<<20)
	for _, size := range []struct {
		group   string
		members int
	}{{"a", 700}, {"b", 30_000}, {"c", 800}, {"d", 900}, {"e", 40_000}, {"f", 600}} {
		for from := 0; from < size.members; from += 5000 {
			g.must(func(x tx) error {
				for i := from; i < min(from+5000, size.members); i++ {
					if err := x.put(things, thing(size.group, i), size.group); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	g.mergeBy(4096)
	g.empty()
	g.head.Recall(t.Context(), things)
	v := g.view()
	for _, x := range []schema.IndexID{schema.ByID(things.ID), schema.Index(things.ID, 1)} {
		for name, large := range map[string]bool{"a": false, "b": true, "c": false, "d": false, "e": true, "f": false} {
			if got := v.InMemory(x, group(name)); got != large {
				t.Errorf("index %d: range %s in memory: got %t, want %t", x.Number(), name, got, large)
			}
		}
	}
	before := g.engine.reads.Load()
	r := index.PrefixRange(schema.ByID(things.ID), group("e"))
	r.To = string(thing("e", 31_111))
	if n, err := v.CountRange(things, r, 0); n != 31_111 || err != nil {
		t.Errorf("count: got %d, %v, want 31111", n, err)
	}
	if got := g.engine.reads.Load() - before; got > 1 {
		t.Errorf("scans of the file for the first count: got %d, want 1", got)
	}
}

// Nothing is recalled where it would not stay.
func TestRecallingKeepsToTheBudget(t *testing.T) {
	g := newRig(t, 8<<10)
	g.must(func(x tx) error {
		for i := range 40_000 {
			if err := x.put(things, thing("a", i), "v"); err != nil {
				return err
			}
		}
		return nil
	})
	g.mergeBy(4096)
	g.empty()
	g.head.Recall(t.Context(), things)
	if got := g.head.ranges.bytes; got > 8<<10 {
		t.Errorf("bytes of ranges: got %d, want at most %d", got, 8<<10)
	}
}

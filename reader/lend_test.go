package reader

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/schema"
)

// TestLentItemsAreThoseOfAScan, wherever the range is and however it is walked.
func TestLentItemsAreThoseOfAScan(t *testing.T) {
	for _, source := range []struct {
		name   string
		budget int64
		merge  bool
	}{{"head", 64 << 20, false}, {"tail", 0, false}, {"file", 0, true}} {
		g := newRig(t, source.budget)
		fillGroup(g, 300, 1)
		g.put(things, thing("g", 7), "changed")
		g.must(func(x tx) error { return x.del(things, thing("g", 8)) })
		if source.merge {
			g.merge(-1)
		}
		if _, err := g.view().Ordered(things, schema.ByID(things.ID), group("g")); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{0, 1, 100} {
			for _, reverse := range []bool{false, true} {
				r := whole("g")
				r.From, r.Reverse = string(thing("g", 3)), reverse
				got, want := show(g.view().Lend(things, r, limit)), show(g.view().Scan(things, r, limit))
				if got != want || want == "" {
					t.Errorf("%s, limit %d, reverse %v: got %q, want %q", source.name, limit, reverse, got, want)
				}
			}
		}
	}
}

// TestLendingTakesNoMemoryForEachItem, of a range that is held.
func TestLendingTakesNoMemoryForEachItem(t *testing.T) {
	g := newRig(t, 64<<20)
	fillGroup(g, 1000, 1)
	if _, err := g.view().Ordered(things, schema.ByID(things.ID), group("g")); err != nil {
		t.Fatal(err)
	}
	v, r := g.view(), whole("g")
	items := 0
	allocations := testing.AllocsPerRun(20, func() {
		items = 0
		for item, err := range v.Lend(things, r, 0) {
			if err != nil || len(item.Doc.Value) != 64 {
				t.Fatalf("item %q: %v", item.Key, err)
			}
			items++
		}
	})
	if items != 1000 || allocations > 30 {
		t.Errorf("%d items took %.0f pieces of memory, want 1000 in at most 30", items, allocations)
	}
}

// TestWhatWasLentIsOverwritten if a test asks for that: who keeps a key, a row
// or a value finds neither it nor another item's.
func TestWhatWasLentIsOverwritten(t *testing.T) {
	OverwriteLent(true)
	defer OverwriteLent(false)
	g := newRig(t, 64<<20)
	fillGroup(g, 3, 1)
	if _, err := g.view().Ordered(things, schema.ByID(things.ID), group("g")); err != nil {
		t.Fatal(err)
	}
	var kept []Item
	var values [][]byte
	for item, err := range g.view().Lend(things, whole("g"), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Doc.ID != item.Key || len(item.Doc.Value) != 64 || item.Doc.TS == 0 {
			t.Errorf("lent %q: %+v", item.Key, item.Doc)
		}
		kept, values = append(kept, item), append(values, item.Doc.Value)
	}
	for i, item := range kept {
		if item.Key == string(thing("g", i)) || item.Doc.TS != 0 || values[i][0] != 0xdb {
			t.Errorf("item %d was kept: key %q, document %+v, value % x", i, item.Key, *item.Doc, values[i][:4])
		}
	}
	if len(kept) != 3 {
		t.Errorf("%d items, want 3", len(kept))
	}
	for item, err := range g.view().Scan(things, whole("g"), 0) {
		if err != nil || item.Doc.Value[0] != 0 {
			t.Errorf("then %q is %+v, %v", item.Key, item.Doc, err)
		}
	}
}

// BenchmarkLend is BenchmarkScan of what is held, with items that are lent.
func BenchmarkLend(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("elements=%d", size), func(b *testing.B) {
			g := newRig(b, 64<<20)
			fillGroup(g, size, 1)
			if _, err := g.view().Ordered(things, schema.ByID(things.ID), group("g")); err != nil {
				b.Fatal(err)
			}
			v, r := g.view(), whole("g")
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				for item := range v.Lend(things, r, 0) {
					n += len(item.Doc.Value)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/element")
			if n == 0 {
				b.Fatal("nothing was lent")
			}
		})
	}
}

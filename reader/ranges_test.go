package reader

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// TestTheNewestRangeIsNotTheFirstToGo: what was just loaded is read again
// soon, and must outlive what nobody asked for in a round of the clock.
func TestTheNewestRangeIsNotTheFirstToGo(t *testing.T) {
	r := newRanges()
	load := func(i int) rangeKey {
		s := newWarmRange(rangeKey{prefix: fmt.Sprintf("%06d", i)}, new(pages.Tree))
		s.work.Set("key", pages.Value{Bytes: make([]byte, 1000)})
		r.publish(s.picture(), 1, 1)
		r.add(s)
		return s.key
	}
	const old, fresh = 100, 10
	for i := range old {
		load(i)
	}
	budget := r.bytes
	var last []rangeKey
	for i := range fresh {
		last = append(last, load(old+i))
		r.shrink(budget)
	}
	kept := 0
	for _, k := range last {
		if r.published(k, 1) != nil {
			kept++
		}
	}
	if kept < fresh {
		t.Errorf("ranges loaded last: %d of %d are still there, want all", kept, fresh)
	}
	if r.bytes > budget {
		t.Errorf("bytes: got %d, want at most %d", r.bytes, budget)
	}
}

// TestMomentsWithinAGroupHaveNoEdition reads at the moments of the transactions
// of one group, between two published states of a range.
func TestMomentsWithinAGroupHaveNoEdition(t *testing.T) {
	g := newRig(t, 1<<20)
	g.must(func(x tx) error {
		g.head.Fresh(group("g"))
		return x.put(things, thing("g", 1), "1")
	})
	g.must(
		func(x tx) error { return x.put(things, thing("g", 2), "2") },
		func(x tx) error { return x.put(things, thing("g", 3), "3") },
		func(x tx) error { return x.put(things, thing("g", 1), "4") })
	for at, want := range map[schema.Timestamp]string{
		1001: "1@1001 ", 1002: "1@1001 2@1002 ", 1003: "1@1001 2@1002 3@1003 ", 1004: "4@1004 2@1002 3@1003 ",
	} {
		if got := show(g.at(at).Scan(things, whole("g"), 0)); got != want {
			t.Errorf("at %d: got %q, want %q", at, got, want)
		}
	}
}

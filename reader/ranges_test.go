package reader

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/pages"
)

// TestTheNewestRangeIsNotTheFirstToGo: what was just loaded is read again
// soon, and must outlive what nobody asked for in a round of the clock.
func TestTheNewestRangeIsNotTheFirstToGo(t *testing.T) {
	r := newRanges()
	load := func(i int) rangeKey {
		s := newWarmRange(rangeKey{prefix: fmt.Sprintf("%06d", i)}, new(pages.Tree))
		s.work.Set("key", pages.Value{Bytes: make([]byte, 1000)})
		r.publish(s.picture(), 1)
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

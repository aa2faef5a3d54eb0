package reader

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/schema"
)

// TestTheNewestDocumentIsNotTheFirstToGo: what was just read in is read again
// soon, and must outlive what nobody asked for in a round of the clock.
func TestTheNewestDocumentIsNotTheFirstToGo(t *testing.T) {
	d := newDocs()
	row := func(i int) *schema.Row {
		return &schema.Row{Table: 1, TS: 1, ID: fmt.Sprintf("%06d", i), Value: []byte("value")}
	}
	const old, fresh = 1000, 100
	for i := range old {
		d.put(row(i))
	}
	budget := d.bytes
	for i := range fresh {
		d.fill(row(old + i))
		d.shrink(budget)
	}
	kept := 0
	for i := range fresh {
		if found, _ := d.find(1, []byte(row(old+i).ID)); found != nil {
			kept++
		}
	}
	if kept < fresh {
		t.Errorf("documents read in last: %d of %d are still there, want all", kept, fresh)
	}
	if d.bytes > budget {
		t.Errorf("bytes: got %d, want at most %d", d.bytes, budget)
	}
}

package index

import (
	"strconv"
	"testing"

	"github.com/firndb/firn/schema"
)

// A transaction that wrote one entry over and over is undone in a time that
// grows with what it wrote, not with its square: 200,000 entries would be
// looked for 10¹⁰ times.
func TestMuchIsRemovedAtOnce(t *testing.T) {
	const writes = 200_000
	r := newRun()
	var entries []schema.Entry
	for i := range writes {
		pair := []schema.Entry{
			{Index: schema.ByID(1), TS: 1, Key: "one"},
			{Index: schema.Index(2, 1), TS: 1, Key: strconv.Itoa(i), ID: "x"},
		}
		r.insert(pair, i > 0)
		entries = append(entries, pair...)
	}
	r.remove(entries)
	if r.count != 0 || len(r.recent) != 0 {
		t.Errorf("got %d entries, %d of them recent, none wanted", r.count, len(r.recent))
	}
}

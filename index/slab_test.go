package index

import (
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// Keys of every length come back, and lie apart.

func TestSlabKeepsWhatIsPut(t *testing.T) {
	random := seeded(t)
	var s slab
	var want []schema.Entry
	var got []record
	longest := strings.Repeat("long", schema.MaxIDBytes/4)
	for i := range 20_000 {
		e := schema.Entry{Index: schema.Index(1, 1), TS: schema.Timestamp(i + 1), Deleted: i%3 == 0, Key: longest[:random.IntN(60)], ID: longest[:random.IntN(3)]}
		switch random.IntN(1000) {
		case 0:
			e.Key, e.ID = longest, longest
		case 1:
			e.Key, e.ID = longest, ""
		case 2:
			e.Key = longest[:chunkBytes/2+random.IntN(chunkBytes/2)]
		}
		want, got = append(want, e), append(got, s.record(&e))
	}
	for i := range got {
		if e := s.entry(&got[i]); e != want[i] {
			t.Fatalf("entry %d: got a key of %d bytes and an id of %d, want %d and %d", i, len(e.Key), len(e.ID), len(want[i].Key), len(want[i].ID))
		}
		if at := got[i].at; i > 0 && at <= got[i-1].at {
			t.Fatalf("entry %d: got place %d behind %d", i, at, got[i-1].at)
		}
	}
}

package index

// A transaction has one entry of a key, however often it writes it and however
// many it has, and whatever has been sorted meanwhile.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firndb/firn/schema"
)

// slot is what only one entry has.
type slot struct {
	index schema.IndexID
	key   string
	ts    schema.Timestamp
}

func TestTransactionsAgreeWithAMap(t *testing.T) {
	random := seeded(t)
	for range 20 {
		r, want := newRun(), map[slot]schema.Entry{}
		for ts := schema.Timestamp(1); ts < 60; ts++ {
			written := map[slot]schema.Entry{}
			var all []schema.Entry
			for range 1 + random.IntN(10) {
				var entries []schema.Entry
				again := random.IntN(4) == 0
				for range 1 + random.IntN(20) {
					e := schema.Entry{Index: schema.Index(1, 1), TS: ts, Key: fmt.Sprint("key ", random.IntN(60)), ID: fmt.Sprint(random.IntN(3)), Deleted: random.IntN(2) == 0, Changes: random.IntN(2) == 0}
					if again {
						e.Index, e.ID = schema.ByID(1), ""
					}
					s := slot{e.Index, e.Key, e.TS}
					old, has := written[s]
					kept := e
					if has && e.Deleted && !old.Deleted && old.ID != e.ID {
						kept = old
					}
					kept.Changes = e.Changes != old.Changes
					written[s] = kept
					entries = append(entries, e)
				}
				r.insert(entries, again)
				all = append(all, entries...)
				if random.IntN(20) == 0 {
					r.merging() // sorts
				}
			}
			if random.IntN(4) == 0 {
				r.remove(all)
				continue
			}
			for s, e := range written {
				want[s] = e
			}
		}
		got := r.all()
		if !slices.IsSortedFunc(got, compare) || len(got) != len(want) || r.Len() != len(want) {
			t.Fatalf("got %d entries, %d in all, sorted %t, want %d in order", len(got), r.Len(), slices.IsSortedFunc(got, compare), len(want))
		}
		for _, e := range got {
			if expected := want[slot{e.Index, e.Key, e.TS}]; e != expected {
				t.Fatalf("got %+v, want %+v", e, expected)
			}
		}
	}
}

// TestHashesThatAreEqual finds the entries of a transaction also where the
// hashes of keys do not tell them apart.
func TestHashesThatAreEqual(t *testing.T) {
	r, x := newRun(), schema.Index(1, 1)
	var entries []schema.Entry
	for i := range 3 * fewInserted {
		entries = append(entries, schema.Entry{Index: x, TS: 7, Key: fmt.Sprint(i), ID: "first"})
	}
	r.insert(entries, false)
	r.equal(&entries[0]) // fills seen
	for i := range r.recent {
		r.latest.note(&r.slab, &r.recent[i]) // as if another had its hash
	}
	for hash, at := range r.latest.seen {
		if at != severalSeen {
			t.Fatalf("hash %x of two keys: got %d, want that there are several", hash, at)
		}
	}
	for i := range entries {
		entries[i].ID = "second"
	}
	r.insert(entries, false)
	slices.SortFunc(entries, compare)
	if got := r.all(); !slices.Equal(got, entries) {
		t.Errorf("got %v, want %v", got, entries)
	}
}

// TestDocumentWithManyKeys has more entries than are sorted at once.
func TestDocumentWithManyKeys(t *testing.T) {
	r, entries := newRun(), make([]schema.Entry, maxRecent+1)
	for ts := schema.Timestamp(1); ts <= 2; ts++ {
		for i := range entries {
			entries[i] = schema.Entry{Index: schema.Index(1, 1), TS: ts, Key: fmt.Sprint(i)}
		}
		r.insert(entries, false)
	}
	if got := r.all(); len(got) != 2*len(entries) || !slices.IsSortedFunc(got, compare) {
		t.Errorf("got %d entries, want %d in order", len(got), 2*len(entries))
	}
}

// TestFailedTransactionsTakeNoRoom: a run that nothing stays in does not grow.
func TestFailedTransactionsTakeNoRoom(t *testing.T) {
	r := newRun()
	for ts := range schema.Timestamp(1000) {
		entries := []schema.Entry{{Index: schema.ByID(1), TS: ts + 1, Key: "key"}}
		r.insert(entries, false)
		r.remove(entries)
	}
	if got := r.Size(); got != (Size{}) {
		t.Errorf("got %+v, want nothing", got)
	}
}

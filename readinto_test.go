package firn

// The rule: memory that a caller lends to reads is used again, and what the
// store keeps or others have read does not change with it.

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/race"
)

// TestReadsIntoTheCallersMemory reads one document after the other into the
// same memory, in a snapshot and in a transaction.
func TestReadsIntoTheCallersMemory(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	for i := range 10 {
		put(t, s, notes, fmt.Sprint("id ", i), fmt.Sprint("value ", i))
	}
	read := func(r Reader) error {
		first, err := r.Get(notes, []byte("id 0"))
		into := new(Document)
		for i := range 10 {
			doc, failed := r.GetInto(notes, fmt.Append(nil, "id ", i), into)
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			if doc.ID != fmt.Sprint("id ", i) || string(doc.Value) != fmt.Sprint("value ", i) || doc.TS == 0 {
				t.Errorf("document %d: got %q: %q at %d", i, doc.ID, doc.Value, doc.TS)
			}
		}
		if first.ID != "id 0" || string(first.Value) != "value 0" {
			t.Errorf("what was read before: got %q: %q", first.ID, first.Value)
		}
		if _, err := r.GetInto(notes, []byte("none"), into); err != ErrNotFound {
			t.Errorf("what is not there: got %v, want %v, bare", err, ErrNotFound)
		}
		id := []byte("id 3")
		if got := testing.AllocsPerRun(20, func() { _, err = r.GetInto(notes, id, into) }); got > 0 && !race.Enabled {
			t.Errorf("reading into memory that suffices: got %v allocations", got)
		}
		return err
	}
	if err := s.View(func(snap *Snapshot) error { return read(snap) }); err != nil {
		t.Error(err)
	}
	if _, err := s.Update(t.Context(), func(tx *Tx) error { return read(tx) }); err != nil {
		t.Error(err)
	}
}

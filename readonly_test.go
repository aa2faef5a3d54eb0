package firn

// A store that is open for reading only shows the moment of opening, whatever
// another process does to the file, or says that it cannot.

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// readOnly opens beside s, whose tables it has.
func readOnly(t *testing.T, s *Store) *Store {
	t.Helper()
	return openAt(t, s.engine.Path(), Options{ReadOnly: true, Tables: s.opts.Tables})
}

func TestReadOnlyStoreShowsTheMomentOfOpening(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	first := put(t, s, notes, "a", "one")
	second := put(t, s, notes, "a", "two")
	ro := readOnly(t, s)
	put(t, s, notes, "a", "three")
	put(t, s, notes, "b", "new")
	if err := ro.View(func(snap *Snapshot) error {
		if got := valueOf(snap, ro.Table("notes"), "a"); got != "two" {
			t.Errorf("present: got %s, want two", got)
		}
		if got := valueOf(snap, ro.Table("notes"), "b"); got != ErrNotFound.Error() {
			t.Errorf("what came later: got %s, want it not found", got)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := ro.At(first, func(snap *Snapshot) error {
		if got := valueOf(snap, ro.Table("notes"), "a"); got != "one" {
			t.Errorf("past: got %s, want one", got)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if got := ro.Bounds(); got.Newest != second || got.Incarnation != s.Bounds().Incarnation {
		t.Errorf("bounds: got %+v, want newest %d", got, second)
	}
}

func TestReadOnlyStoreRefusesToWrite(t *testing.T) {
	s := openNew(t, Options{})
	put(t, s, s.Table("notes"), "a", "one")
	ro := readOnly(t, s)
	ran := false
	_, err := ro.Update(t.Context(), func(*Tx) error { ran = true; return nil })
	if !errors.Is(err, schema.ErrReadOnly) || ran {
		t.Errorf("update: got %v, ran=%t, want ErrReadOnly", err, ran)
	}
	if err := ro.Submit(&calls{n: 1}); !errors.Is(err, schema.ErrReadOnly) {
		t.Errorf("submit: got %v, want ErrReadOnly", err)
	}
	if ro.TrySubmit(&calls{n: 1}) {
		t.Error("TrySubmit: got true, want false")
	}
	if err := ro.Checkpoint(t.Context()); !errors.Is(err, schema.ErrReadOnly) {
		t.Errorf("checkpoint: got %v, want ErrReadOnly", err)
	}
	if err := ro.At(ro.writer.Clock().Now()+1, func(*Snapshot) error { return nil }); !errors.Is(err, ErrFuture) {
		t.Errorf("a moment after that of opening: got %v, want ErrFuture", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.db"), Options{ReadOnly: true}); err == nil {
		t.Error("a file that is not there: got no error")
	}
}

// TestReadOnlyStoreSaysWhatIsForgotten has another process forget what was
// current when the store was opened.
func TestReadOnlyStoreSaysWhatIsForgotten(t *testing.T) {
	s := openNew(t, Options{Memory: -1})
	notes := s.Table("notes")
	put(t, s, notes, "a", "one")
	ro := openAt(t, s.engine.Path(), Options{ReadOnly: true, Tables: s.opts.Tables, Memory: -1})
	read := func() error {
		return ro.View(func(snap *Snapshot) error {
			got, err := snap.Get(ro.Table("notes"), []byte("a"))
			if err == nil && string(got.Value) != "one" {
				return fmt.Errorf("got %s, want one", got.Value)
			}
			return err
		})
	}
	if err := read(); err != nil {
		t.Errorf("before: %v", err)
	}
	old := ro.Bounds().Newest
	last := put(t, s, notes, "a", "two")
	if err := moveHorizon(t.Context(), s, last); err != nil {
		t.Fatal(err)
	}
	if err := s.writer.Exec(t.Context(), func(a schema.Appender) error {
		return a.DeleteRows([]*Document{{TS: old, Table: notes.def.ID, ID: "a"}})
	}); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, ErrCompacted) {
		t.Errorf("present after it was forgotten: got %v, want ErrCompacted", err)
	}
	if err := ro.At(old, func(*Snapshot) error { return nil }); !errors.Is(err, ErrCompacted) {
		t.Errorf("its moment: got %v, want ErrCompacted", err)
	}
	if err := readOnly(t, s).View(func(*Snapshot) error { return nil }); err != nil {
		t.Errorf("opened again: got %v, want no error", err)
	}
}

// TestReadOnlyStoreKnowsPoliciesApart has another process apply a policy up to
// where another one had been already.
func TestReadOnlyStoreKnowsPoliciesApart(t *testing.T) {
	s := openNew(t, Options{})
	var written []Timestamp
	for range 4 {
		written = append(written, put(t, s, s.Table("notes"), "a", "x"))
	}
	reached := func(hour, day Timestamp) {
		t.Helper()
		text := fmt.Sprintf(`{"time 1h0m0s":{"horizon":%d},"time 24h0m0s":{"horizon":%d}}`, hour, day)
		if err := s.writer.Exec(t.Context(), func(a schema.Appender) error {
			return a.SetGlobal(retention.ClassesGlobal, text)
		}); err != nil {
			t.Fatal(err)
		}
	}
	reached(written[3], written[0])
	ro := readOnly(t, s)
	at := func(ts Timestamp) error { return ro.At(ts, func(*Snapshot) error { return nil }) }
	if err := at(written[1]); err != nil {
		t.Errorf("before: got %v, want no error", err)
	}
	reached(written[3], written[2])
	var compacted *CompactedError
	if err := at(written[1]); !errors.As(err, &compacted) || compacted.Oldest != written[2] {
		t.Errorf("after: got %v, want that %d is the oldest", err, written[2])
	}
	if err := at(written[2]); err != nil {
		t.Errorf("at the horizon: got %v, want no error", err)
	}
}

// TestMergesBesideAReadOnlyStoreChangeNothing closes the store, which merges,
// and opens it again, while another looks on.
func TestMergesBesideAReadOnlyStoreChangeNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "merge.db")
	o := Options{Tables: append(modelTables(), TableSpec{Name: "notes"}), Durability: None}
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		put(t, s, s.Table("notes"), fmt.Sprintf("n%d", i%50), fmt.Sprint(i))
	}
	ro := readOnly(t, s)
	look := func() (all []string) {
		if err := ro.View(func(snap *Snapshot) error {
			for item, err := range snap.Scan(Range{Index: ro.Table("notes").ByID()}) {
				if err != nil {
					return err
				}
				all = append(all, item.Key+"="+string(item.Doc.Value))
			}
			for doc, err := range snap.Versions(ro.Table("notes"), []byte("n7"), VersionRange{}) {
				if err != nil {
					return err
				}
				all = append(all, string(doc.Value))
			}
			n, err := snap.CountRange(Range{Index: ro.Table("notes").ByID()})
			all = append(all, fmt.Sprint(n))
			return err
		}); err != nil {
			t.Error(err)
		}
		return all
	}
	want := fmt.Sprint(look())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(look()); got != want {
		t.Errorf("after a merge: got %s, want %s", got, want)
	}
	s = openAt(t, path, o)
	for i := range 50 {
		put(t, s, s.Table("notes"), fmt.Sprintf("n%d", i), "later")
	}
	if got := fmt.Sprint(look()); got != want {
		t.Errorf("after more writes: got %s, want %s", got, want)
	}
}

package firn

// Whatever only reads opens any store: declarations are for whoever writes.

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firndb/firn/tuple"
)

// TestReadersNeedNoDeclarations reads a table with an index, and counts, that
// the reader does not declare.
func TestReadersNeedNoDeclarations(t *testing.T) {
	byValue := func(id string, value []byte, add func([]byte)) { add(append(slices.Clone(value), id...)) }
	mine := func(id string) Scope { return Scope{Group: "mine", Member: id} }
	declared := []TableSpec{
		{Name: "people", Prefix: 1, Counted: true, Indexes: []IndexSpec{{Name: "name", Keys: byValue}}},
		{Name: "own", Scope: mine},
	}
	path := filepath.Join(t.TempDir(), "any.db")
	s := openAt(t, path, Options{Tables: declared})
	id := tuple.AppendString(nil, "ada")
	var first Timestamp
	for _, name := range []string{"one", "two"} {
		ts, err := s.Update(t.Context(), func(tx *Tx) error {
			return errors.Join(tx.Put(s.Table("people"), id, []byte(name)), tx.Put(s.Table("own"), []byte("k"), []byte(name)))
		})
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = ts
		}
	}
	if err := s.SetRetention(t.Context(), Scope{Group: "mine", Member: "k"}, &Retention{Age: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forget(t.Context(), s.Table("own"), []byte("k"), s.Bounds().Newest); err != nil {
		t.Fatal(err)
	}
	r := openAt(t, path, Options{ReadOnly: true})
	if got, want := r.Tables(), []string{"firn.authors", "firn.holds", "firn.retention", "own", "people"}; !slices.Equal(got, want) {
		t.Errorf("tables: got %q, want %q", got, want)
	}
	people := r.Table("people")
	if people == nil || people.Index("name") != nil {
		t.Fatalf("people: got %v, want a table to read by id", people)
	}
	if err := r.View(func(snap *Snapshot) error {
		doc, err := snap.Get(people, id)
		if err == nil && string(doc.Value) != "two" {
			t.Errorf("people: got %q, want two", doc.Value)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	// Whose history a document of own is, only its program knows.
	for doc, err := range r.History(r.Table("own"), []byte("k"), VersionRange{From: first}) {
		if !errors.Is(err, ErrCompacted) {
			t.Errorf("own, of which something was forgotten: got %v, %v, want ErrCompacted", doc, err)
		}
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrTable) {
		t.Errorf("open for writing: got %v, want ErrTable", err)
	}
}

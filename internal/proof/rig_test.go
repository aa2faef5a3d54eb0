package proof

// What the proofs share: a store to work on, and short ways to write and read.

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// openAt opens a store that is closed when the test ends.
func openAt(t testing.TB, path string, o firn.Options) *firn.Store {
	t.Helper()
	s, err := firn.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openNew opens a store with a table of notes and the model's table.
func openNew(t testing.TB, o firn.Options) *firn.Store {
	t.Helper()
	o.Durability = firn.None
	o.Tables = append(modelTables(), firn.TableSpec{Name: "notes"})
	return openAt(t, filepath.Join(t.TempDir(), "new.db"), o)
}

// put commits one document.
func put(t testing.TB, s *firn.Store, table *firn.Table, id, value string) firn.Timestamp {
	t.Helper()
	ts, err := s.Update(t.Context(), func(tx *firn.Tx) error { return tx.Put(table, []byte(id), []byte(value)) })
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// valueOf is what a reader has under an id, or the error.
func valueOf(r firn.Reader, table *firn.Table, id string) string {
	doc, err := r.Get(table, []byte(id))
	if err != nil {
		return err.Error()
	}
	return string(doc.Value)
}

// first is the first error of a walk, which ends there.
func first[T any](items func(func(T, error) bool)) error {
	for _, err := range items {
		return err
	}
	return nil
}

// told is what a walk has found, or its error.
func told(lines []string, err error) string {
	if err != nil {
		return err.Error()
	}
	if len(lines) == 0 {
		return "(nothing)"
	}
	return strings.Join(lines, "\n")
}

// moveHorizon moves the store's horizon, and everything that may go does.
func moveHorizon(ctx context.Context, s *firn.Store, ts firn.Timestamp) error {
	_, err := s.Prune(ctx, ts)
	return err
}

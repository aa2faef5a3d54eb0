package firn_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
)

// Vacuum gives the file's free pages back, and changes nothing that can be
// read.

// freePages makes a store with so many bytes in free pages, and one document.
func freePages(t *testing.T, path string, bytes int) {
	engine, err := schema.Open(path, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	app := engine.Appender()
	for _, text := range []string{strings.Repeat("x", bytes), ""} {
		if err := errors.Join(app.Begin(), app.SetGlobal("filler", `"`+text+`"`), app.Commit()); err != nil {
			t.Fatal(err)
		}
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
}

func fileBytes(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestVacuumReturnsFreePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "firn.db")
	freePages(t, path, 8<<20)
	store, err := firn.Open(path, firn.Options{Tables: []firn.TableSpec{{Name: "t"}}})
	if err != nil {
		t.Fatal(err)
	}
	table := store.Table("t")
	if _, err := store.Update(t.Context(), func(tx *firn.Tx) error { return tx.Put(table, []byte("k"), []byte("v")) }); err != nil {
		t.Fatal(err)
	}
	before := fileBytes(t, path)
	freed, err := store.Vacuum(t.Context())
	if err != nil || freed < 7<<20 { // the writer may have made a step before
		t.Errorf("Vacuum: got %d bytes, %v, want at least %d", freed, err, 7<<20)
	}
	after := fileBytes(t, path)
	if got := before - after; got < freed-1<<16 {
		t.Errorf("the file became smaller by %d bytes, want about %d", got, freed)
	}
	if got := store.Stats(); got.VacuumedBytes < max(freed, 8<<20) || got.WALBytes != 0 {
		t.Errorf("stats: got %d bytes returned and %d in the log, want at least %d and 0", got.VacuumedBytes, got.WALBytes, max(freed, 8<<20))
	}
	if freed, err := store.Vacuum(t.Context()); freed != 0 || err != nil {
		t.Errorf("Vacuum again: got %d, %v, want nothing", freed, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Vacuum(t.Context()); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Vacuum of a closed store: got %v, want %v", err, firn.ErrClosed)
	}
	if problems, err := firn.Check(path, func(p string) { t.Error(p) }); problems > 0 || err != nil {
		t.Errorf("check: got %v, %v, want nothing", problems, err)
	}
}

// TestTruncateSaysWhatAReaderKeeps: the log is emptied once it has gone.
func TestTruncateSaysWhatAReaderKeeps(t *testing.T) {
	l := newWALLoad(t)
	l.read(t, func() {
		l.put(t, 2)
		logged, moved, err := l.store.Truncate(t.Context())
		if moved >= logged || err != nil {
			t.Errorf("with a reader: got %d of %d pages moved, %v, want fewer than all", moved, logged, err)
		}
	})
	logged, moved, err := l.store.Truncate(t.Context())
	if moved != logged || logged == 0 || err != nil {
		t.Errorf("without: got %d of %d pages moved, %v, want all", moved, logged, err)
	}
	if got := l.bytes(t); got != 0 {
		t.Errorf("the log's file: got %d bytes, want 0", got)
	}
}

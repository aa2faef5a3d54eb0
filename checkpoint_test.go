package firn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/firndb/firn"
)

// A checkpoint moves the write-ahead log into the file and changes nothing
// that can be read.
func TestCheckpointKeepsEverything(t *testing.T) {
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), firn.Options{Tables: []firn.TableSpec{{Name: "t"}}})
	if err != nil {
		t.Fatal(err)
	}
	table := store.Table("t")
	for i := range 50 {
		_, err := store.Update(t.Context(), func(tx *firn.Tx) error { return tx.Put(table, fmt.Appendf(nil, "k%d", i), make([]byte, 2000)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Checkpoint(t.Context()); err != nil {
		t.Errorf("Checkpoint: got %v, want nil", err)
	}
	err = store.View(func(snap *firn.Snapshot) error {
		if _, err := snap.Get(table, []byte("k49")); err != nil {
			t.Errorf("Get after a checkpoint: got %v, want nil", err)
		}
		return nil
	})
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if err := store.Checkpoint(t.Context()); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Checkpoint of a closed store: got %v, want %v", err, firn.ErrClosed)
	}
}

package firn

// The rule: what takes long ends soon when the store does, and says so.

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

func TestEndMaintenanceLeavesAPruneUnfinished(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	const commits, documents = 300, 200
	for n := range commits {
		if _, err := s.Update(t.Context(), func(tx *Tx) error {
			for i := range documents {
				if err := tx.Put(notes, fmt.Append(nil, i), fmt.Append(nil, n)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Prune(t.Context(), s.Bounds().Newest)
		ended <- err
	}()
	for s.Stats().Compacted == 0 {
		runtime.Gosched()
	}
	s.EndMaintenance()
	if err := <-ended; err != errUnfinished || !errors.Is(err, ErrClosed) {
		t.Errorf("the prune: got %v, want %v", err, errUnfinished)
	}
	if got := s.Stats().Compacted; got >= (commits-1)*documents {
		t.Errorf("versions deleted: got %d, want that some were left", got)
	}
	put(t, s, notes, "ada", "still here")
	_, prune := s.Prune(t.Context(), 0)
	_, compact := s.Compact(t.Context())
	_, forget := s.Forget(t.Context(), notes, []byte("ada"), s.Bounds().Newest)
	_, vacuum := s.Vacuum(t.Context())
	for name, err := range map[string]error{
		"prune": prune, "compact": compact, "forget": forget, "vacuum": vacuum,
		"backup": s.Backup(t.Context(), t.TempDir()+"/copy.db", 0, nil, nil),
	} {
		if !errors.Is(err, ErrClosed) || errors.Is(err, errUnfinished) {
			t.Errorf("%s afterwards: got %v, want %v", name, err, ErrClosed)
		}
	}
}

package firn

// The rule: Forget deletes everything that it says is forgotten, or says why
// not. Who reads it is waited for, and who comes later is not.

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
)

// pastReader is somebody who reads the past until told to end.
type pastReader struct {
	again, end chan struct{}
	saw        chan string
	err        chan error
}

func readPast(s *Store, ts Timestamp, id string) *pastReader {
	r := &pastReader{make(chan struct{}), make(chan struct{}), make(chan string), make(chan error, 1)}
	began := make(chan struct{})
	go func() {
		r.err <- s.At(ts, func(snap *Snapshot) error {
			close(began)
			for {
				select {
				case <-r.again:
					r.saw <- valueOf(snap, s.Table("notes"), id)
				case <-r.end:
					return nil
				}
			}
		})
	}()
	<-began
	return r
}

func (r *pastReader) look() string {
	r.again <- struct{}{}
	return <-r.saw
}

// forgetting is a Forget that is under way: nobody who comes can read what it
// forgets any more.
type forgetting struct {
	versions int64
	err      error
}

func forget(ctx context.Context, s *Store, id string, before Timestamp) chan forgetting {
	done := make(chan forgetting, 1)
	go func() {
		n, err := s.Forget(ctx, s.Table("notes"), []byte(id), before)
		done <- forgetting{n, err}
	}()
	for s.Oldest(Scope{Group: "notes", Member: id}) < before {
		runtime.Gosched()
	}
	return done
}

func TestForgetWaitsForReaders(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	first := put(t, s, notes, "a", "1")
	put(t, s, notes, "b", "of b")
	put(t, s, notes, "a", "2")
	newest := put(t, s, notes, "a", "3")
	early := readPast(s, first, "a")
	done := forget(t.Context(), s, "a", newest)
	late := readPast(s, first, "b")
	if got := early.look(); got != "1" {
		t.Errorf("who read before: got %s, want 1", got)
	}
	if len(done) > 0 {
		t.Error("Forget has ended while somebody reads")
	}
	close(early.end)
	if got := <-done; got.versions != 2 || got.err != nil {
		t.Errorf("Forget: got %+v, want 2 versions", got)
	}
	close(late.end)
	if err := errors.Join(<-early.err, <-late.err); err != nil {
		t.Error(err)
	}
}

func TestForgetThatIsGivenUpCanBeFinished(t *testing.T) {
	s := openNew(t, Options{})
	first := put(t, s, s.Table("notes"), "a", "1")
	newest := put(t, s, s.Table("notes"), "a", "2")
	r := readPast(s, first, "a")
	ctx, cancel := context.WithCancel(t.Context())
	done := forget(ctx, s, "a", newest)
	cancel()
	if got := <-done; got.versions != 0 || !errors.Is(got.err, context.Canceled) {
		t.Errorf("given up: got %+v, want %v", got, context.Canceled)
	}
	if got := r.look(); got != "1" {
		t.Errorf("who reads: got %s, want 1", got)
	}
	close(r.end)
	<-r.err
	if got := <-forget(t.Context(), s, "a", newest); got.versions != 1 || got.err != nil {
		t.Errorf("again: got %+v, want 1 version", got)
	}
	r = readPast(s, newest-1, "b")
	put(t, s, s.Table("notes"), "a", "3")
	done = forget(t.Context(), s, "a", s.Bounds().Newest)
	s.EndMaintenance()
	if got := <-done; got.err != errUnfinished {
		t.Errorf("the store ends: got %+v, want %v", got, errUnfinished)
	}
	close(r.end)
	<-r.err
}

func TestForgetWaitsForABackup(t *testing.T) {
	s := openNew(t, Options{})
	put(t, s, s.Table("notes"), "a", "1")
	newest := put(t, s, s.Table("notes"), "a", "2")
	var done chan forgetting
	err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"), 0, func(int64, int64) {
		if done == nil {
			done = forget(t.Context(), s, "a", newest)
		}
		if len(done) > 0 {
			t.Error("Forget has ended during the backup")
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.versions != 1 || got.err != nil {
		t.Errorf("Forget: got %+v, want 1 version", got)
	}
}

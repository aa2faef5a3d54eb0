package proof

// A full disk, a failing disk, another process: each is an error that says so,
// nothing acknowledged is lost, and the store recovers.

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/schema/schematest"
)

// openOn is Open on an engine with options that a user has not. The caller
// closes the store.
func openOn(t *testing.T, path string, e schema.Options, o firn.Options) *firn.Store {
	t.Helper()
	opened, err := inside.Open(path, e, o)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := opened.(*firn.Store)
	if !ok {
		t.Fatalf("open: got a %T", opened)
	}
	t.Cleanup(func() { s.Close() }) // again is harmless
	return s
}

// crashDisk registers a disk that can fail, until the test ends.
func crashDisk(t *testing.T) *crashvfs.Disk {
	t.Helper()
	disk, err := crashvfs.Register("firn-" + t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(disk.Unregister)
	return disk
}

func nowhere() int64 { return 0 }

// TestFullDiskRefusesAndRecovers fills a file of bounded size, makes room by
// opening it without the bound, and compares it with what was acknowledged.
func TestFullDiskRefusesAndRecovers(t *testing.T) {
	random := seededRandom(t)
	path := filepath.Join(t.TempDir(), "full.db")
	s := openOn(t, path, schema.Options{MaxPages: 40}, crashOptions(firn.None))
	c, refused := &crashLog{now: model{}}, 0
	for range 400 {
		err := c.write(s, random, nowhere)
		switch {
		case errors.Is(err, firn.ErrFull) && !errors.Is(err, firn.ErrInDoubt):
			refused++
		case err != nil:
			t.Fatalf("write to a full disk: got %v, want ErrFull", err)
		}
	}
	if len(c.commits) == 0 || refused == 0 {
		t.Fatalf("writes: got %d done and %d refused, want some of both", len(c.commits), refused)
	}
	if err := c.compare(t, s, len(c.commits), random); err != nil {
		t.Errorf("full store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: got %v, want no error", err)
	}
	if n, err := c.recovered(t, path, random); n != len(c.commits) || err != nil {
		t.Errorf("with room again: got %d commits, %v, want the %d that were acknowledged", n, err, len(c.commits))
	}
}

// TestFullDiskTellsEveryCallerTheTruth has groups of many callers: those who
// were told of a commit find it, the others do not.
func TestFullDiskTellsEveryCallerTheTruth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.db")
	o := crashOptions(firn.None)
	s := openOn(t, path, schema.Options{MaxPages: 60}, o)
	things, value := s.Table("things"), []byte("red:"+strings.Repeat("x", 700))
	var mu sync.Mutex
	told := map[string]bool{}
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for n := range 60 {
				id := thingID(caller, n)
				_, err := s.Update(context.Background(), func(tx *firn.Tx) error { return tx.Put(things, id, value) })
				if err != nil && !errors.Is(err, firn.ErrFull) {
					t.Errorf("write to a full disk: got %v, want ErrFull", err)
				}
				mu.Lock()
				told[string(id)] = err == nil
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	if err := s.Close(); err != nil {
		t.Errorf("close: got %v, want no error", err)
	}
	s = openAt(t, path, o)
	done := 0
	for id, want := range told {
		err := s.View(func(snap *firn.Snapshot) error { _, err := snap.Get(s.Table("things"), []byte(id)); return err })
		if got := err == nil; got != want || err != nil && !errors.Is(err, firn.ErrNotFound) {
			t.Errorf("document %x: got %v, want it there: %t", id, err, want)
		}
		if want {
			done++
		}
	}
	if done == 0 || done == len(told) {
		t.Errorf("writes: got %d of %d done, want some and not all", done, len(told))
	}
}

// TestFailingDiskStopsTheStore fails a commit's write or fsync. Its outcome is
// not known, the store takes no more, and the file decides.
func TestFailingDiskStopsTheStore(t *testing.T) {
	for _, kind := range []crashvfs.Kind{crashvfs.Write, crashvfs.Sync} {
		t.Run(kind.String(), func(t *testing.T) {
			random, disk := seededRandom(t), crashDisk(t)
			path := filepath.Join(t.TempDir(), "failing.db")
			s := openOn(t, path, schema.Options{VFS: disk.Name()}, crashOptions(firn.Always))
			c := &crashLog{now: model{}}
			for range 20 {
				if err := c.write(s, random, nowhere); err != nil {
					t.Fatal(err)
				}
			}
			disk.SetFault(func(op crashvfs.Op) bool { return op.Kind == kind && strings.HasSuffix(op.Path, "-wal") })
			for n := range 3 {
				if err := c.write(s, random, nowhere); !errors.Is(err, firn.ErrInDoubt) {
					t.Errorf("write %d to a failing disk: got %v, want ErrInDoubt", n, err)
				}
			}
			disk.SetFault(nil)
			if err := c.write(s, random, nowhere); !errors.Is(err, firn.ErrInDoubt) {
				t.Errorf("write after the disk is well again: got %v, want ErrInDoubt", err)
			}
			if err := c.compare(t, s, len(c.commits), random); err != nil {
				t.Errorf("reading a store that has stopped: %v", err)
			}
			if err := s.Close(); !errors.Is(err, firn.ErrInDoubt) {
				t.Errorf("close: got %v, want ErrInDoubt", err)
			}
			// The commit in doubt may be there; c does not know its timestamp.
			s, err := firn.Open(path, crashOptions(firn.None))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if newest, last := inside.Of(s).Head.Newest(), c.commits[len(c.commits)-1].ts; newest < last {
				t.Errorf("newest commit: got %d, want %d or the one in doubt", newest, last)
			} else if newest == last {
				if err := c.compare(t, s, len(c.commits), random); err != nil {
					t.Errorf("opened again: %v", err)
				}
			}
			if err := c.write(s, random, nowhere); err != nil {
				t.Errorf("write after opening again: got %v, want no error", err)
			}
		})
	}
}

// oneBatch is a batch that must not run.
type oneBatch struct{}

func (oneBatch) Len() int                     { return 1 }
func (oneBatch) Transact(int, *firn.Tx) error { return errors.New("it has run") }
func (oneBatch) Done(firn.Timestamp, error)   {}

// TestAnotherProcessHoldsTheFile: a write waits for the other's transaction,
// and says ErrBusy if that does not end.
func TestAnotherProcessHoldsTheFile(t *testing.T) {
	random := seededRandom(t)
	path := filepath.Join(t.TempDir(), "busy.db")
	c := &crashLog{now: model{}}
	for _, patient := range []bool{false, true} {
		timeout := 50 * time.Millisecond
		if patient {
			timeout = time.Minute
		}
		o := crashOptions(firn.Always)
		o.LockWait = timeout
		s := openOn(t, path, schema.Options{}, o)
		if err := c.write(s, random, nowhere); err != nil {
			t.Fatal(err)
		}
		release := schematest.HoldWriteLock(t, path)
		if patient {
			released := make(chan struct{})
			go func() {
				defer close(released)
				for s.Stats().LockWaits == 0 {
					runtime.Gosched()
				}
				if s.TrySubmit(&oneBatch{}) {
					t.Error("a batch beside another process's lock: got it run, want it refused")
				}
				release()
			}()
			if err := c.write(s, random, nowhere); err != nil {
				t.Errorf("write that waits for another process: got %v, want no error", err)
			}
			<-released
		} else {
			if err := c.write(s, random, nowhere); !errors.Is(err, schema.ErrBusy) || !errors.Is(err, firn.ErrBusy) || errors.Is(err, firn.ErrInDoubt) || strings.Contains(err.Error(), "waiting") {
				t.Errorf("write while another process writes: got %v, want an ErrBusy of the file that says so", err)
			}
			if err := c.compare(t, s, len(c.commits), random); err != nil {
				t.Errorf("reading while another process writes: %v", err)
			}
			release()
		}
		if err := c.write(s, random, nowhere); err != nil {
			t.Errorf("write after the other process: got %v, want no error", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: got %v, want no error", err)
		}
	}
	if n, err := c.recovered(t, path, random); n != len(c.commits) || err != nil {
		t.Errorf("at the end: got %d commits, %v, want the %d that were acknowledged", n, err, len(c.commits))
	}
}

package writer

// An outcome that nobody knows stops the writer; everyone who waits and
// everyone who comes is told so.

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/schema"
)

func TestUnknownCommitStopsTheWriter(t *testing.T) {
	for name, fail := range map[string]func(*fakeEngine){
		"commit":   func(e *fakeEngine) { e.commit = func() error { return errDisk } },
		"rollback": func(e *fakeEngine) { e.append, e.rollback = fault(schema.ErrFull), fault(errDisk) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{MaxQueue: 8})
			fail(r.engine)
			r.start()
			release := r.hold()
			first, second := r.submit(r.job(1)), r.submit(r.job(1))
			request := make(chan error, 1)
			go func() { request <- r.w.Exec(context.Background(), func(schema.Appender) error { return nil }) }()
			for r.queuedExecs() == 0 {
				runtime.Gosched()
			}
			release()
			for _, a := range []answered{r.answer(first), r.answer(second)} {
				if !errors.Is(a.err, ErrInDoubt) || !errors.Is(a.err, errDisk) || a.last != 0 {
					t.Errorf("job of the group: got %+v, want ErrInDoubt and the cause", a)
				}
			}
			if err := <-request; !errors.Is(err, ErrInDoubt) {
				t.Errorf("request behind the group: got %v, want ErrInDoubt", err)
			}
			r.wantEnd(ErrInDoubt)
			for _, err := range []error{r.w.Submit(r.job(1)), r.w.SubmitWait(context.Background(), r.job(1))} {
				if !errors.Is(err, ErrInDoubt) {
					t.Errorf("submit afterwards: got %v, want ErrInDoubt", err)
				}
			}
			if e := r.engine; e.begun > 2 || e.commits != 0 || len(r.state.shown()) != 0 {
				t.Errorf("afterwards: got %d transactions, %d commits and %v published, want the held one, its next, and nothing", e.begun, e.commits, r.state.shown())
			}
		})
	}
}

func fault(err error) func() error { return func() error { return err } }

// TestUnknownRequestStopsTheWriter answers the requests behind the one whose
// commit failed.
func TestUnknownRequestStopsTheWriter(t *testing.T) {
	r := newRig(t, Options{})
	r.engine.commit = fault(errDisk)
	requests := make(chan error, 3)
	for range 3 {
		queued := r.queuedExecs()
		go func() {
			requests <- r.w.Exec(context.Background(), func(schema.Appender) error { return nil })
		}()
		for r.queuedExecs() == queued {
			runtime.Gosched()
		}
	}
	r.start()
	for range 3 {
		if err := <-requests; !errors.Is(err, ErrInDoubt) {
			t.Errorf("request: got %v, want ErrInDoubt", err)
		}
	}
	r.wantEnd(ErrInDoubt)
}

func TestFailedFsyncStopsTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Durability: EverySecond, Idle: time.Hour})
		r.start()
		if a := r.write(); a.err != nil {
			t.Fatal(a.err)
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		r.engine.fail(&r.engine.sync, errDisk)
		if a := r.write(); a.err != nil {
			t.Fatalf("write before the fsync: got %v, want no error", a.err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		r.wantEnd(ErrInDoubt)
		if err := r.w.Submit(r.job(1)); !errors.Is(err, ErrInDoubt) || !errors.Is(err, errDisk) {
			t.Errorf("submit after the fsync failed: got %v, want ErrInDoubt and the cause", err)
		}
		time.Sleep(time.Hour)
		if r.engine.syncs != 2 {
			t.Errorf("fsyncs: got %d, want 2, the failed one not tried again", r.engine.syncs)
		}
	})
}

// TestIdleSecondsAreNotSynced covers what an fsync is for: one per second
// with commits.
func TestIdleSecondsAreNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Durability: EverySecond, Idle: time.Hour})
		for range 3 {
			r.write()
			r.write()
			time.Sleep(time.Minute + time.Second/5) // not when a tick is due
		}
		r.stop()
		r.wantEnd(nil)
		if r.engine.syncs != 3 {
			t.Errorf("fsyncs: got %d, want 3", r.engine.syncs)
		}
	})
}

// TestLastFsyncIsReported fails the fsync with which the writer ends, and
// must not merge or checkpoint over it.
func TestLastFsyncIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Durability: EverySecond})
		r.engine.sync = fault(errDisk)
		r.start()
		if a := r.write(); a.err != nil {
			t.Fatal(a.err)
		}
		r.stop()
		r.wantEnd(ErrInDoubt)
		if r.engine.merged != 0 {
			t.Errorf("merged behind a failed fsync: got %d entries, want none", r.engine.merged)
		}
	})
}

// TestUnknownMergeStopsTheWriter fails the commit of a merge that nobody
// waits for: between groups, and at the end.
func TestUnknownMergeStopsTheWriter(t *testing.T) {
	for _, atEnd := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Options{Idle: time.Second})
			if a := r.write(); a.err != nil {
				t.Fatal(a.err)
			}
			r.engine.fail(&r.engine.commit, errDisk)
			if atEnd {
				r.stop()
			} else {
				time.Sleep(2 * time.Second)
			}
			synctest.Wait()
			r.wantEnd(ErrInDoubt)
			if begun := r.engine.begun; begun != 2 {
				t.Errorf("transactions: got %d, want the write and one merge", begun)
			}
		})
	}
}

// TestFailedMergeIsHarmless fails the merge itself, which is known to have
// kept nothing.
func TestFailedMergeIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Idle: time.Second})
		r.engine.merge = fault(errDisk)
		r.start()
		r.write()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if a := r.write(); a.err != nil {
			t.Errorf("write after a failed merge: got %v, want no error", a.err)
		}
		r.stop()
		r.wantEnd(nil)
	})
}

// TestFailedCheckpointIsHarmless: the log keeps what could not be moved.
func TestFailedCheckpointIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		r.engine.checkpoint = fault(errDisk)
		r.start()
		signal(r.w.wal.due)
		synctest.Wait()
		if a := r.write(); a.err != nil {
			t.Errorf("write after a failed checkpoint: got %v, want no error", a.err)
		}
		r.stop()
		r.wantEnd(nil)
	})
}

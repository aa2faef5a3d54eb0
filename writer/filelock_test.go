package writer

// Another process that has the file's write lock is waited for, up to a
// bound, away from everybody who does not write.

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/schema"
)

// lockFor makes another process hold the lock for a while from now on.
func (r *rig) lockFor(d time.Duration) {
	until := time.Now().Add(d)
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	r.engine.begin = func() error {
		if time.Now().Before(until) {
			return schema.ErrBusy
		}
		return nil
	}
}

func TestLockOfAnotherProcessIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{})
		r.write()
		r.lockFor(3 * time.Second)
		began, ran := time.Now(), time.Time{}
		j := r.job(1)
		run := j.run
		j.run = func(i int, ts schema.Timestamp) error { ran = time.Now(); return run(i, ts) }
		r.submit(j)
		time.Sleep(time.Second)
		if !ran.IsZero() {
			t.Error("job behind another process's lock: got it run, want it to wait")
		}
		if r.w.TryRun(r.job(1)) {
			t.Error("try behind it: got it run, want it refused")
		}
		if err := r.w.Barrier(); err != nil || time.Since(began) > time.Second {
			t.Errorf("barrier: got %v after %v, want it over at once", err, time.Since(began))
		}
		a := r.answer(j)
		if waited := time.Since(began); a.err != nil || waited < 3*time.Second || waited > 3*time.Second+lastLockPause {
			t.Errorf("job: got %v after %v, want it committed after 3 s", a.err, waited)
		}
		if got := r.w.Stats(); got.LockWaits != 1 || got.FailedGroups != 0 {
			t.Errorf("stats: got %+v, want one wait and no group that failed", got)
		}
	})
}

func TestLockIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{LockWait: 2 * time.Second})
		r.lockFor(time.Hour)
		began := time.Now()
		first := r.submit(r.job(1))
		time.Sleep(time.Second)
		second := r.submit(r.job(1))
		for _, wait := range []struct {
			job  *testJob
			want time.Duration
		}{{first, 2 * time.Second}, {second, 4 * time.Second}} {
			a := r.answer(wait.job)
			if !errors.Is(a.err, schema.ErrBusy) || errors.Is(a.err, ErrBusy) || errors.Is(a.err, ErrInDoubt) {
				t.Errorf("job behind another process's lock: got %v, want schema.ErrBusy", a.err)
			}
			if got := time.Since(began); got != wait.want {
				t.Errorf("answered after %v, want after %v: at least the bound, however long others have waited", got, wait.want)
			}
		}
		r.lockFor(0)
		if a := r.write(); a.err != nil {
			t.Errorf("write after the other process: got %v, want no error", a.err)
		}
	})
}

func TestTryRunRefusesALockedFile(t *testing.T) {
	r := newRig(t, Options{})
	r.lockFor(time.Hour)
	j := r.job(1)
	if r.w.TryRun(j) || len(j.done) > 0 || len(r.state.staged) > 0 {
		t.Error("try on a locked file: got it run, want it refused and untouched")
	}
	r.lockFor(0)
	if !r.w.TryRun(j) || r.answer(j).err != nil {
		t.Error("try afterwards: got it refused, want it committed")
	}
}

// TestIdleMergeWaitsForTheLock has another process lock the file while the
// writer idles: that is no failure, and the merge comes later.
func TestIdleMergeWaitsForTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		r := start(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		last := r.write().last
		r.lockFor(3 * time.Second)
		time.Sleep(2900 * time.Millisecond)
		synctest.Wait()
		if got := r.w.opts.Tail.Watermark(); got != 0 {
			t.Errorf("merged behind another process's lock: got up to %d, want nothing", got)
		}
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		if got := r.w.opts.Tail.Watermark(); got != last {
			t.Errorf("merged after the lock: got up to %d, want %d", got, last)
		}
		if log.Len() > 0 {
			t.Errorf("log: got %q, want nothing: the merge has only waited", log.String())
		}
	})
}

package writer

import (
	"testing"
	"testing/synctest"
	"time"
)

// slowed is a rig in a bubble of its own time, in which a commit takes as long
// as the function says.
func slowed(t *testing.T, fn func(r *rig, commit func(time.Duration))) {
	synctest.Test(t, func(t *testing.T) {
		var takes time.Duration
		r := newRig(t, Options{Durability: Always})
		r.engine.commit = func() error { time.Sleep(takes); return nil }
		r.start()
		fn(r, func(d time.Duration) { synctest.Wait(); takes = d })
	})
}

// refused is how many jobs TryRun refuses, and Run is given, before one is run.
func refused(r *rig) (n int) {
	synctest.Wait()
	for !r.w.TryRun(r.job(1)) {
		n++
		r.write()
		synctest.Wait()
	}
	return n
}

// TestTryRunComesBackAfterASlowCommit: one commit that was held up keeps jobs
// away for a moment only, and for the longer the more there are in a row.
func TestTryRunComesBackAfterASlowCommit(t *testing.T) {
	slowed(t, func(r *rig, commit func(time.Duration)) {
		for _, quick := range []int{0, 4, 8, 16, 32, 64, 128, 256, 256} {
			commit(0)
			for range quick {
				synctest.Wait()
				if r.w.TryRun(r.job(1)) {
					t.Fatalf("before %d quick groups: got it run, want it refused", quick)
				}
				r.write()
			}
			commit(2 * slowGroup)
			if !r.w.TryRun(r.job(1)) {
				t.Fatalf("after %d quick groups: got it refused, want it run", quick)
			}
		}
		commit(0)
		if n := refused(r); n != mostQuick {
			t.Errorf("refused at last: got %d, want %d", n, mostQuick)
		}
		refused(r)
		commit(2 * slowGroup)
		r.w.TryRun(r.job(1))
		commit(0)
		if n := refused(r); n != leastQuick {
			t.Errorf("refused after a slow one behind a quick one: got %d, want %d", n, leastQuick)
		}
	})
}

// TestTryRunStaysAwayFromASlowDisk: groups of Run that are slow are not tried
// on the caller's goroutine.
func TestTryRunStaysAwayFromASlowDisk(t *testing.T) {
	slowed(t, func(r *rig, commit func(time.Duration)) {
		commit(2 * slowGroup)
		r.w.TryRun(r.job(1))
		for range 2 * mostQuick {
			synctest.Wait()
			if r.w.TryRun(r.job(1)) {
				t.Fatal("got it run, want it refused")
			}
			r.write()
		}
	})
}

// TestTryRunLeavesCheckpointsToRun: the last pages are moved by Run.
func TestTryRunLeavesCheckpointsToRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		signal(r.w.wal.finish)
		if !r.w.TryRun(r.job(1)) || r.w.Stats().Checkpoints != 0 {
			t.Errorf("TryRun: got %d checkpoints, want it run and none", r.w.Stats().Checkpoints)
		}
		r.start()
		synctest.Wait()
		if got := r.w.Stats().Checkpoints; got != 1 {
			t.Errorf("Run: got %d checkpoints, want 1", got)
		}
	})
}

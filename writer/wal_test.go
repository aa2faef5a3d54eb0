package writer

import (
	"testing"
	"testing/synctest"
	"time"
)

// The write-ahead log stays below its bound whatever readers do, unless one
// never lets go; then that is counted, and over when the reader is.

// walRig is a writer with a small bound, in a bubble of its own time.
func walRig(t *testing.T, boundPages int64) *rig {
	return start(t, Options{WALMaxBytes: boundPages * walPageBytes, TailEntries: 1 << 20})
}

// writePages writes a page a millisecond, one after the other.
func (r *rig) writePages(n int) (slowest time.Duration) {
	r.t.Helper()
	for range n {
		began := time.Now()
		if a := r.write(); a.err != nil {
			r.t.Fatalf("write: got %v, want no error", a.err)
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(time.Millisecond)
	}
	return slowest
}

func (e *fakeEngine) setReads(reads func(int64) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log.reads = reads
}

func (e *fakeEngine) longestLog() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.longest
}

func TestLogWithoutReadersStaysFarBelowItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := walRig(t, 1600)
		slowest := r.writePages(20_000)
		if got, want := r.engine.longestLog(), int64(400); got > want {
			t.Errorf("longest log: got %d pages, want at most %d", got, want)
		}
		if slowest > 0 {
			t.Errorf("slowest write: got %v, want no wait", slowest)
		}
	})
}

// TestLogStaysBelowItsBoundWhileReadersFollowOneAnother: at every moment of
// the load somebody reads, each for 400 ms, until the writer stands still.
func TestLogStaysBelowItsBoundWhileReadersFollowOneAnother(t *testing.T) {
	for _, lasts := range []time.Duration{3 * time.Millisecond, 40 * time.Millisecond, 800 * time.Millisecond} {
		t.Run(lasts.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := walRig(t, 1600)
				// The last reader that is in the way began with the last commit.
				grown, since := int64(0), time.Now()
				r.engine.setReads(func(pages int64) bool {
					if pages != grown {
						grown, since = pages, time.Now()
					}
					return time.Since(since) < lasts
				})
				slowest := r.writePages(10_000)
				if got := r.engine.longestLog(); got >= 1600 {
					t.Errorf("longest log: got %d pages, want less than 1600", got)
				}
				if got := r.w.Stats().WALOverruns; got != 0 {
					t.Errorf("overruns: got %d, want 0", got)
				}
				if slowest > lasts+retryPause {
					t.Errorf("slowest write: got %v, want at most %v", slowest, lasts+retryPause)
				}
			})
		})
	}
}

func TestReaderThatNeverLetsGoIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := walRig(t, 1600)
		r.engine.setReads(func(int64) bool { return true })
		r.writePages(1500)
		if got := r.w.Stats().WALOverruns; got != 0 {
			t.Errorf("overruns below the bound: got %d, want 0", got)
		}
		began := time.Now()
		r.writePages(10_000)
		if got := r.w.Stats().WALOverruns; got != 1 {
			t.Errorf("overruns past the bound: got %d, want 1", got)
		}
		if waited, want := time.Since(began)-10*time.Second, 3*time.Second; waited > want {
			t.Errorf("waited for a reader that stays: got %v in ten seconds, want at most %v", waited, want)
		}
		r.engine.setReads(nil)
		r.writePages(1000)
		if got, want := r.engine.log.pages, int64(400); got > want {
			t.Errorf("log after the reader has gone: got %d pages, want at most %d", got, want)
		}
		r.engine.setReads(func(int64) bool { return true })
		r.writePages(2000)
		if got := r.w.Stats().WALOverruns; got != 2 {
			t.Errorf("overruns past the bound again: got %d, want 2", got)
		}
	})
}

// TestPagesAreMovedBesideUntilFewAreLeft: what is written while pages are moved
// is moved too, before the writer is held up for the rest.
func TestPagesAreMovedBesideUntilFewAreLeft(t *testing.T) {
	for _, tt := range []struct {
		written []int64 // pages of the log when each round begins
		rounds  int
	}{
		{[]int64{finishPages}, 1},
		{[]int64{9000, finishPages}, 2},
		{[]int64{9000, 600, 30, 30}, 3},
		{[]int64{9000, 9000, 9000, 9000, 9000, 9000}, checkpointTries},
	} {
		r := newRig(t, Options{})
		rounds := 0
		r.engine.checkpoint = func() error {
			r.engine.log.pages += tt.written[rounds]
			rounds++
			return nil
		}
		moveBeside(r.w)
		if rounds != tt.rounds {
			t.Errorf("%v pages written meanwhile: got %d rounds, want %d", tt.written, rounds, tt.rounds)
		}
	}
}

// TestIdleWriterTriesUntilTheLogIsEmpty: a reader may be in the way at first.
func TestIdleWriterTriesUntilTheLogIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := walRig(t, 1600)
		r.engine.setReads(func(int64) bool { return true })
		r.writePages(10)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := r.engine.log.pages; got != 10 {
			t.Errorf("log with a reader: got %d pages, want 10", got)
		}
		r.engine.setReads(nil)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := r.engine.log.pages; got != 0 {
			t.Errorf("log without one: got %d pages, want 0", got)
		}
	})
}

// TestTryRunNeverWaitsForReaders: near the bound it refuses instead, and the
// writer's goroutine waits in its place.
func TestTryRunNeverWaitsForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := walRig(t, 1600)
		r.engine.setReads(func(int64) bool { return true })
		refused, again := 0, 0
		for range 4000 {
			synctest.Wait() // until the goroutine has nothing to do
			began := time.Now()
			ran := r.w.TryRun(r.job(1))
			if waited := time.Since(began); waited > 0 {
				t.Errorf("TryRun waited %v", waited)
				break
			}
			if ran && refused > 0 {
				again++
			}
			if !ran {
				refused++
				if a := r.write(); a.err != nil {
					t.Fatal(a.err)
				}
			}
			time.Sleep(time.Millisecond)
		}
		if refused == 0 || again == 0 {
			t.Errorf("TryRun: got %d refusals, and %d runs after the first, want some of both", refused, again)
		}
	})
}

package writer

// A caller may run a job itself when nothing else is under way; to everyone
// else that looks as if the writer had run it.

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/firndb/firn/schema"
)

func TestTryRunCommitsBeforeItReturns(t *testing.T) {
	r := newRig(t, Options{}) // nobody runs the writer: the caller does it all
	j := r.job(3)
	if !r.w.TryRun(j) {
		t.Fatal("try: got false, want it done")
	}
	select {
	case a := <-j.done:
		if a.err != nil || !r.engine.has(a.last) || len(r.state.shown()) != 3 {
			t.Errorf("answer: got %+v, %v shown, want three rows committed and shown", a, r.state.shown())
		}
	default:
		t.Error("answer: got none when TryRun had returned")
	}
	if got, want := r.w.Stats(), (Stats{Groups: 1, Commits: 3, Rows: 3}); got != want {
		t.Errorf("stats: got %+v, want %+v", got, want)
	}
}

func TestTryRunDoesNothingWhileOthersWait(t *testing.T) {
	r := newRig(t, Options{})
	waits := r.submit(r.job(1))
	refused := r.job(1)
	if r.w.TryRun(refused) || len(refused.done) > 0 || len(r.engine.rows()) > 0 {
		t.Errorf("try behind a waiting job: got it run, want it refused")
	}
	r.start()
	first := r.answer(waits)
	r.w.mu.Lock() // as the writer does while something is under way
	if r.w.TryRun(refused) {
		t.Error("try beside a group: got it run, want it refused")
	}
	r.w.mu.Unlock()
	r.stop()
	r.wantEnd(nil)
	if r.w.TryRun(refused) || len(refused.done) > 0 {
		t.Error("try after the end: got it run, want it refused")
	}
	if first.err != nil {
		t.Errorf("the job that waited: got %v, want no error", first.err)
	}
}

func TestTryRunOfUnknownOutcomeStopsTheWriter(t *testing.T) {
	r := newRig(t, Options{})
	r.engine.commit = fault(errDisk)
	r.start()
	j := r.job(1)
	if !r.w.TryRun(j) {
		t.Fatal("try: got false, want it run")
	}
	if a := r.answer(j); !errors.Is(a.err, ErrInDoubt) {
		t.Errorf("answer: got %+v, want ErrInDoubt", a)
	}
	r.wantEnd(ErrInDoubt)
	if err := r.w.Submit(r.job(1)); !errors.Is(err, ErrInDoubt) {
		t.Errorf("submit afterwards: got %v, want ErrInDoubt", err)
	}
}

// TestTryRunAndSubmitShareOneOrder has both used at once: every job is
// answered once, and no timestamp is given twice.
func TestTryRunAndSubmitShareOneOrder(t *testing.T) {
	const callers, each = 8, 200
	r := start(t, Options{})
	var mu sync.Mutex
	seen := map[schema.Timestamp]bool{}
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			for n := range each {
				j := r.job(1)
				if (c+n)%2 == 0 || !r.w.TryRun(j) {
					if err := r.w.SubmitWait(context.Background(), j); err != nil {
						t.Errorf("submit: %v", err)
						return
					}
				}
				a := <-j.done
				mu.Lock()
				if a.err != nil || a.last == 0 || seen[a.last] {
					t.Errorf("answer: got %+v, want a timestamp of its own", a)
				}
				seen[a.last] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if got, want := r.w.Stats().Commits, int64(callers*each); got != want {
		t.Errorf("commits: got %d, want %d", got, want)
	}
}

package writer

// Every accepted job is answered exactly once, whatever ends the writer.

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func TestEveryAcceptedJobIsAnsweredWhenRunStops(t *testing.T) {
	random := seed.Fresh(t).Rand(0)
	for range 20 {
		r := start(t, Options{MaxQueue: 16, TailEntries: 8})
		var accepted, answers, requests, refused atomic.Int64
		var traffic sync.WaitGroup
		for n := range 8 {
			traffic.Go(func() {
				for {
					err := r.hammer(n, &accepted, &answers, &requests)
					if errors.Is(err, ErrClosed) {
						refused.Add(1)
						return
					}
					if err != nil && !errors.Is(err, ErrBusy) {
						t.Errorf("submit: got %v, want ErrBusy or ErrClosed", err)
						return
					}
				}
			})
		}
		for answers.Load() < int64(random.IntN(2000)) {
			runtime.Gosched()
		}
		r.stop()
		r.wantEnd(nil)
		traffic.Wait()
		if accepted.Load() != answers.Load() || accepted.Load() == 0 {
			t.Fatalf("answers: got %d, want the %d that were accepted", answers.Load(), accepted.Load())
		}
		if refused.Load() != 8 {
			t.Errorf("callers that were refused in the end: got %d, want 8", refused.Load())
		}
	}
}

// hammer submits one job or request in one of three ways, and waits for it.
func (r *rig) hammer(n int, accepted, answers, requests *atomic.Int64) error {
	if n == 0 {
		requests.Add(1)
		return r.w.Exec(context.Background(), func(schema.Appender) error { return nil })
	}
	j, err := r.job(1+n%2), error(nil)
	if n%2 == 0 {
		err = r.w.Submit(j)
	} else {
		err = r.w.SubmitWait(context.Background(), j)
	}
	if err != nil {
		return err
	}
	accepted.Add(1)
	a := <-j.done
	if a.err != nil || !r.engine.has(a.last) {
		r.t.Errorf("accepted job: got %+v, want it committed", a)
	}
	answers.Add(1)
	return nil
}

func TestWhatComesAfterTheEndIsRefused(t *testing.T) {
	r := start(t, Options{})
	r.stop()
	r.wantEnd(nil)
	ctx := context.Background()
	nothing := func(schema.Appender) error { return nil }
	for name, err := range map[string]error{
		"Submit": r.w.Submit(r.job(1)), "SubmitWait": r.w.SubmitWait(ctx, r.job(1)),
		"Exec": r.w.Exec(ctx, nothing), "Maintain": r.w.Maintain(ctx, nothing),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after the end: got %v, want ErrClosed", name, err)
		}
	}
}

func TestQueueHasABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{MaxQueue: 10})
		release := r.hold()
		waiting := []*testJob{r.submit(r.job(6)), r.submit(r.job(4))}
		if got := r.w.Stats().Waiting; got != 10 {
			t.Errorf("waiting: got %d, want 10", got)
		}
		if err := r.w.Submit(r.job(1)); !errors.Is(err, ErrBusy) {
			t.Errorf("one too many: got %v, want ErrBusy", err)
		}
		ctx, leave := context.WithCancel(context.Background())
		left, patient, large := make(chan error, 1), r.job(3), r.job(50)
		go func() { left <- r.w.SubmitWait(ctx, r.job(1)) }()
		entered := make(chan error, 2)
		go func() { entered <- r.w.SubmitWait(context.Background(), patient) }()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting until the context ends: got %v, want its error", err)
		}
		release()
		if err := <-entered; err != nil {
			t.Errorf("waiting for room: got %v, want no error", err)
		}
		waiting = append(waiting, patient)
		go func() { entered <- r.w.SubmitWait(context.Background(), large) }()
		if err := <-entered; err != nil {
			t.Errorf("a job larger than the queue: got %v, want no error", err)
		}
		for _, j := range append(waiting, large) {
			if a := r.answer(j); a.err != nil {
				t.Errorf("accepted job: got %v, want no error", a.err)
			}
		}
	})
}

// TestWaitingForRoomEndsWithTheWriter closes the queue under those who wait.
func TestWaitingForRoomEndsWithTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{MaxQueue: 1})
		r.submit(r.job(1))
		waited := make(chan error, 1)
		go func() { waited <- r.w.SubmitWait(context.Background(), r.job(1)) }()
		synctest.Wait()
		r.engine.commit = func() error { return errDisk }
		r.start()
		if err := <-waited; err != nil && !errors.Is(err, ErrInDoubt) {
			t.Errorf("waiting while the writer fails: got %v, want ErrInDoubt or room", err)
		}
		r.wantEnd(ErrInDoubt)
		time.Sleep(time.Hour)
	})
}

// TestEndedGoroutineLeavesNobodyWaiting panics, or calls Goexit as t.Fatal
// does, in each place where the writer runs foreign code.
func TestEndedGoroutineLeavesNobodyWaiting(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("a job's bug") }, "Goexit": runtime.Goexit} {
		for _, where := range []string{"job", "request"} {
			t.Run(name+" in a "+where, func(t *testing.T) {
				r := start(t, Options{})
				release := r.hold()
				before, bad, after := r.job(1), r.job(2), r.job(1)
				bad.run = func(i int, ts schema.Timestamp) error {
					r.state.stage(ts)
					if i == 1 && where == "job" {
						end()
					}
					return nil
				}
				r.submit(before)
				r.submit(bad)
				r.submit(after)
				requests := make(chan error, 2)
				for range 2 {
					queued := r.queuedExecs()
					go func() {
						requests <- r.w.Exec(context.Background(), func(schema.Appender) error {
							if where == "request" {
								end()
							}
							return nil
						})
					}()
					for r.queuedExecs() == queued {
						runtime.Gosched()
					}
				}
				release()
				for n, j := range []*testJob{before, bad, after} {
					if a := r.answer(j); where == "job" && !errors.Is(a.err, ErrClosed) {
						t.Errorf("job %d: got %+v, want ErrClosed", n, a)
					}
				}
				for range 2 {
					if err := <-requests; !errors.Is(err, ErrClosed) {
						t.Errorf("request: got %v, want ErrClosed", err)
					}
				}
				if where == "job" && len(r.engine.rows()) != 0 {
					t.Errorf("rows: got %v, want none", r.engine.rows())
				}
				for range r.ended {
				}
				if err := r.w.Submit(r.job(1)); !errors.Is(err, ErrClosed) {
					t.Errorf("submit afterwards: got %v, want ErrClosed", err)
				}
			})
		}
	}
}

func (r *rig) queuedExecs() int {
	r.w.queue.mu.Lock()
	defer r.w.queue.mu.Unlock()
	return len(r.w.queue.execs)
}

// TestRefusingQueueKeepsWhatWaits is the moment between the last look at the
// queue and its closing.
func TestRefusingQueueKeepsWhatWaits(t *testing.T) {
	q := newQueue(10)
	if err := q.push(&testJob{n: 1}); err != nil {
		t.Fatal(err)
	}
	q.refuse()
	if q.refusing() {
		t.Error("refusing with a job waiting: got true, want false until it is taken")
	}
	if jobs, _ := q.take(nil, 10); len(jobs) != 1 || !q.refusing() {
		t.Errorf("taken from a closed queue: got %d jobs, refusing %t, want one and true", len(jobs), q.refusing())
	}
	if err := q.push(&testJob{n: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("push: got %v, want ErrClosed", err)
	}
}

package writer

import (
	"errors"
	"testing"

	"github.com/firndb/firn/schema"
)

// A job that takes long is by itself: what came before it is answered first, and
// what comes behind it can be turned away.

// lone is a job that says that it takes long.
type lone struct{ *testJob }

func (lone) Alone() bool { return true }

func TestWhatCameBeforeALongJobIsAnsweredFirst(t *testing.T) {
	r := newRig(t, Options{})
	before := r.submit(r.job(2))
	var seen []answered
	long := lone{r.job(1)}
	stage := long.run
	long.run = func(i int, ts schema.Timestamp) error {
		select {
		case a := <-before.done:
			seen = append(seen, a)
		default:
		}
		return stage(i, ts)
	}
	if err := r.w.Submit(long); err != nil {
		t.Fatal(err)
	}
	r.start() // both are taken at once
	if a := r.answer(long.testJob); a.err != nil || len(seen) != 1 || seen[0].err != nil || !r.engine.has(seen[0].last) {
		t.Errorf("before the long job ran: got %+v answered, want the job before it, and that committed", seen)
	}
	r.stop()
	r.wantEnd(nil)
}

func TestJobsBehindALongOneCanBeTurnedAway(t *testing.T) {
	r := newRig(t, Options{})
	errBusy := errors.New("busy")
	long, taken, stays := r.job(1), r.job(1), r.job(1)
	var queued *testJob
	stage := long.run
	long.run = func(i int, ts schema.Timestamp) error {
		queued = r.submit(r.job(3))
		TurnAway(r.w, func(j Job) bool { return j == Job(stays) }, errBusy)
		return stage(i, ts)
	}
	for _, j := range []*testJob{long, taken, stays} {
		r.submit(j)
	}
	r.start()
	for what, j := range map[string]*testJob{"the long job": long, "the one that stays": stays} {
		if a := r.answer(j); a.err != nil || !r.engine.has(a.last) {
			t.Errorf("%s: got %+v, want it committed", what, a)
		}
	}
	for what, j := range map[string]*testJob{"a job of the same round": taken, "a job in the queue": queued} {
		if a := r.answer(j); a.err != errBusy {
			t.Errorf("%s: got %+v, want %v", what, a, errBusy)
		}
	}
	if n := r.w.queue.waiting(); n != 0 {
		t.Errorf("transactions that wait: got %d, want none", n)
	}
	r.stop()
	r.wantEnd(nil)
}

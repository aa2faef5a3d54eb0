package writer

// What waits becomes one commit; what fails leaves no trace and disturbs
// nobody.

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
)

func TestWaitingJobsShareOneTransaction(t *testing.T) {
	r := start(t, Options{})
	release := r.hold()
	var jobs []*testJob
	for n := range 50 {
		jobs = append(jobs, r.submit(r.job(1+n%3)))
	}
	release()
	var last schema.Timestamp
	for n, j := range jobs {
		a := r.answer(j)
		if a.err != nil || a.last < last+schema.Timestamp(j.n) {
			t.Fatalf("job %d: got %d, %v after %d, want a later timestamp", n, a.last, a.err, last)
		}
		last = a.last
	}
	rows := r.engine.rows()
	if len(rows) != 1 || !slices.IsSorted(rows[0]) {
		t.Errorf("commits: got %v, want one in order", rows)
	}
	if got, want := r.w.Stats(), (Stats{Groups: 1, Commits: 99, Rows: 99}); got != want {
		t.Errorf("stats: got %+v, want %+v", got, want)
	}
}

func TestFailedTransactionLeavesNeighboursAlone(t *testing.T) {
	r := start(t, Options{})
	release := r.hold()
	var wrote []schema.Timestamp
	mixed := func(n int, fails func(i int) bool) *testJob {
		j := r.job(n)
		j.run = func(i int, ts schema.Timestamp) error {
			r.state.stage(ts)
			if fails(i) {
				return errors.New("wrong type")
			}
			wrote = append(wrote, ts)
			return nil
		}
		return r.submit(j)
	}
	odd := mixed(5, func(i int) bool { return i%2 == 1 })
	all := mixed(2, func(int) bool { return true })
	tail := mixed(3, func(i int) bool { return i == 2 })
	release()
	if a := r.answer(odd); a.err != nil || a.last != wrote[2] {
		t.Errorf("every other failed: got %+v, want the last that wrote, %d", a, wrote[2])
	}
	if a := r.answer(all); a.err != nil || a.last != 0 {
		t.Errorf("all failed: got %+v, want neither a timestamp nor an error", a)
	}
	if a := r.answer(tail); a.err != nil || a.last != wrote[4] {
		t.Errorf("the last failed: got %+v, want the one before, %d", a, wrote[4])
	}
	if got := r.engine.rows(); len(got) != 1 || !slices.Equal(got[0], wrote) {
		t.Errorf("rows: got %v, want one commit of %v", got, wrote)
	}
	if got := r.state.shown(); !slices.Equal(got, wrote) {
		t.Errorf("published: got %v, want %v", got, wrote)
	}
	if _, total := r.w.opts.Tail.Size(); total.Entries != len(wrote) {
		t.Errorf("entries in the tail: got %d, want %d", total.Entries, len(wrote))
	}
}

func TestNothingWrittenIsNotCommitted(t *testing.T) {
	r := start(t, Options{})
	j := r.job(3)
	j.run = func(int, schema.Timestamp) error { return nil }
	if a := r.answer(r.submit(j)); a != (answered{}) {
		t.Errorf("job that wrote nothing: got %+v, want 0 and no error", a)
	}
	if err := r.w.Barrier(); err != nil || r.engine.open || r.engine.commits != 0 {
		t.Errorf("file: got %d commits, open %t, %v, want no transaction left", r.engine.commits, r.engine.open, err)
	}
}

// TestFailedCommitFailsItsGroupOnly fails the commit of one group in each way
// that is known to have kept nothing.
func TestFailedCommitFailsItsGroupOnly(t *testing.T) {
	for name, set := range map[string]func(*fakeEngine, func() error){
		"busy at begin":  func(e *fakeEngine, f func() error) { e.begin = f },
		"full at append": func(e *fakeEngine, f func() error) { e.append = f },
		"full at commit": func(e *fakeEngine, f func() error) { e.commit = f },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{LockWait: -1})
			var failing atomic.Bool
			want := schema.ErrFull
			if name == "busy at begin" {
				want = schema.ErrBusy
			}
			set(r.engine, func() error {
				if failing.Load() {
					return want
				}
				return nil
			})
			r.start()
			before := r.write()
			release := r.hold()
			failing.Store(true)
			one, two := r.submit(r.job(1)), r.submit(r.job(2))
			release()
			for _, a := range []answered{r.answer(one), r.answer(two)} {
				if !errors.Is(a.err, want) || errors.Is(a.err, ErrInDoubt) || a.last != 0 {
					t.Errorf("job of the failed group: got %+v, want %v", a, want)
				}
			}
			failing.Store(false)
			after := r.write()
			if before.err != nil || after.err != nil || after.last <= before.last {
				t.Errorf("jobs around it: got %+v and %+v, want both committed", before, after)
			}
			if got, want := r.state.shown(), []schema.Timestamp{before.last, after.last}; !slices.Equal(got, want) {
				t.Errorf("published: got %v, want %v", got, want)
			}
			if _, total := r.w.opts.Tail.Size(); total.Entries != 2 {
				t.Errorf("entries in the tail: got %d, want 2", total.Entries)
			}
			if got, want := r.w.Stats(), (Stats{Groups: 2, FailedGroups: 1, Commits: 2, Rows: 2}); got != want {
				t.Errorf("stats: got %+v, want %+v", got, want)
			}
		})
	}
}

// TestMergeThatFailsDoesNotFailTheGroup commits without merging, and merges
// later.
func TestMergeThatFailsDoesNotFailTheGroup(t *testing.T) {
	r := newRig(t, Options{TailEntries: 4, Idle: time.Hour})
	failing := true
	r.engine.merge = func() error {
		if failing {
			return schema.ErrFull
		}
		return nil
	}
	r.start()
	for n := range 20 {
		if a := r.write(); a.err != nil {
			t.Fatalf("write %d while merges fail: got %v, want no error", n, a.err)
		}
	}
	if r.engine.merged != 0 || r.w.opts.Tail.Watermark() != 0 {
		t.Errorf("merged: got %d entries up to %d, want none", r.engine.merged, r.w.opts.Tail.Watermark())
	}
	release := r.hold()
	failing = false
	release()
	r.write()
	r.stop()
	r.wantEnd(nil)
	if r.engine.merged != 21 || len(r.engine.committed) != 21 {
		t.Errorf("at the end: got %d entries merged and %d commits, want 21", r.engine.merged, len(r.engine.committed))
	}
}

// TestBusyMergeIsNotTriedAgain meets the lock before the group has run.
func TestBusyMergeIsNotTriedAgain(t *testing.T) {
	r := newRig(t, Options{TailEntries: 1, Idle: time.Hour, LockWait: -1})
	r.engine.merge = func() error { return errDisk }
	r.start()
	r.write() // the next group has something to merge
	release := r.hold()
	begun := 0
	r.engine.begin = func() error { begun++; return schema.ErrBusy }
	j := counted{r.job(1), &begun, make(chan int, 1)}
	if err := r.w.Submit(j); err != nil {
		t.Fatal(err)
	}
	release()
	if a, attempts := r.answer(j.testJob), <-j.then; !errors.Is(a.err, schema.ErrBusy) || attempts != 1 {
		t.Errorf("busy group: got %v after %d attempts, want ErrBusy after one", a.err, attempts)
	}
}

// counted tells what the writer has counted when it answers.
type counted struct {
	*testJob
	count *int
	then  chan int // capacity 1
}

func (j counted) Done(last schema.Timestamp, err error) {
	j.then <- *j.count
	j.testJob.Done(last, err)
}

func TestExecRunsInATransaction(t *testing.T) {
	r := start(t, Options{})
	ctx := context.Background()
	write := func(a schema.Appender) error { return a.Append([]*schema.Row{{TS: 5}}) }
	if err := r.w.Exec(ctx, write); err != nil || !r.engine.has(5) {
		t.Errorf("exec: got %v, want its row committed", err)
	}
	fails := func(a schema.Appender) error { return errors.Join(a.Append([]*schema.Row{{TS: 6}}), errDisk) }
	if err := r.w.Exec(ctx, fails); !errors.Is(err, errDisk) || errors.Is(err, ErrInDoubt) || r.engine.has(6) {
		t.Errorf("failing exec: got %v, want its error and no row", err)
	}
	if err := r.w.Maintain(ctx, write); err == nil {
		t.Error("maintain: got a transaction, want none")
	}
	if err := r.w.Maintain(ctx, func(a schema.Appender) error { _, err := a.Truncate(); return err }); err != nil {
		t.Errorf("maintain: got %v, want no error", err)
	}
	if a := r.write(); a.err != nil {
		t.Errorf("write after a failing exec: got %v, want no error", a.err)
	}
}

func TestExecWhoseCallerLeavesIsInDoubt(t *testing.T) {
	r := start(t, Options{})
	release := r.hold()
	ctx, leave := context.WithCancel(context.Background())
	leave()
	ran := make(chan bool, 1)
	err := r.w.Exec(ctx, func(schema.Appender) error { ran <- true; return nil })
	if !errors.Is(err, ErrInDoubt) || !errors.Is(err, context.Canceled) {
		t.Errorf("exec whose context ended: got %v, want ErrInDoubt and the context's error", err)
	}
	release()
	<-ran
}

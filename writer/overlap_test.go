package writer

// While a group is committed the next one runs. Nobody hears of that: answers
// come in order and after commits, and who has read what then failed fails.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// flight is a rig in a bubble, and a group in the air that lands when the test
// says so. The commits after it are not held up.
type flight struct {
	*rig
	first *testJob
	order []string // who was answered, as name or name: error
	gate  chan error
}

// inFlight runs fn with a group of launchAt transactions in the air, because
// there was another job to run, which reads. The fault of the write session's
// append, if there is one, comes from land.
func inFlight(t *testing.T, o Options, fn func(f *flight)) {
	synctest.Test(t, func(t *testing.T) {
		o.Durability = None
		f := &flight{rig: newRig(t, o), gate: make(chan error)}
		held := true
		f.engine.append = func() error {
			if held {
				held = false
				return <-f.gate
			}
			return nil
		}
		f.first = f.submit(f.job(launchAt))
		other := f.job(1)
		other.run = func(int, schema.Timestamp) error { return nil }
		f.submit(other)
		f.start()
		synctest.Wait()
		if f.w.air.flying == nil || len(f.first.done) > 0 {
			t.Fatal("a large group: got none in the air, want one")
		}
		fn(f)
	})
}

func (f *flight) land(err error) { f.gate <- err }

// noted is a job whose answer is noted in the order of all.
type noted struct {
	*testJob
	f    *flight
	name string
}

func (n noted) Done(last schema.Timestamp, err error) {
	if err != nil {
		n.name = fmt.Sprintf("%s: %v", n.name, err)
	}
	n.f.order = append(n.f.order, n.name)
	n.testJob.Done(last, err)
}

// send submits a job that writes, or if it is not to, only reads, and returns
// when it has run as far as it can.
func (f *flight) send(name string, writes bool) *testJob {
	f.t.Helper()
	j := f.job(1)
	if !writes {
		j.run = func(int, schema.Timestamp) error { return nil }
	}
	ran := j.run
	started := false
	j.run = func(i int, ts schema.Timestamp) error { started = true; return ran(i, ts) }
	if err := f.w.Submit(noted{j, f, name}); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
	if !started || len(j.done) > 0 {
		f.t.Errorf("%s, beside a commit: got it started %t and answered %t, want it run and not answered", name, started, len(j.done) > 0)
	}
	return j
}

func TestTheNextGroupRunsBesideACommit(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		second := f.send("second", true)
		if f.state.newest.Load() != 0 {
			t.Error("published before it is committed")
		}
		f.land(nil)
		one, two := f.answer(f.first), f.answer(second)
		if one.err != nil || two.err != nil || two.last <= one.last {
			t.Errorf("answers: got %+v and %+v, want two, one after the other", one, two)
		}
		f.stop()
		f.wantEnd(nil)
		if rows := f.engine.rows(); len(rows) != 2 || len(rows[0]) != launchAt || len(rows[1]) != 1 || !slices.IsSorted(slices.Concat(rows...)) {
			t.Errorf("commits: got %v, want one of %d and one of 1 rows", rows, launchAt)
		}
		if shown := f.state.shown(); len(shown) != launchAt+1 || !slices.IsSorted(shown) {
			t.Errorf("published: got %d, want all in order", len(shown))
		}
	})
}

// TestWhoOnlyReadsWaitsForWhatIsInTheAir: it may have read that.
func TestWhoOnlyReadsWaitsForWhatIsInTheAir(t *testing.T) {
	for _, failure := range []error{nil, errDisk} {
		inFlight(t, Options{}, func(f *flight) {
			reads := f.send("reads", false)
			f.land(failure)
			if a := f.answer(reads); !errors.Is(a.err, failure) || a.last != 0 {
				t.Errorf("who read: got %+v, want %v", a, failure)
			}
			if a := f.answer(f.first); !errors.Is(a.err, failure) {
				t.Errorf("what it read: got %+v, want %v", a, failure)
			}
		})
	}
}

func TestAnswersComeInOrder(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		a := f.send("writes", true)
		b := f.send("reads", false)
		c := f.send("writes again", true)
		f.land(nil)
		for _, j := range []*testJob{a, b, c} {
			f.answer(j)
		}
		f.stop()
		f.wantEnd(nil)
		if want := []string{"writes", "reads", "writes again"}; !slices.Equal(f.order, want) {
			t.Errorf("order of answers: got %q, want %q", f.order, want)
		}
	})
}

// TestAFailedGroupTakesTheNextOneWithIt lets a commit fail while a job of the
// next group is half run. That stops there; what was staged is undone from
// the end; who comes next finds a writer that works.
func TestAFailedGroupTakesTheNextOneWithIt(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		before := f.send("before", true)
		half, ran := f.job(10), 0
		half.run = func(i int, ts schema.Timestamp) error {
			f.state.stage(ts)
			if ran++; i == 3 {
				f.land(errDisk)
				for len(f.w.air.landed) == 0 {
					runtime.Gosched()
				}
			}
			return nil
		}
		f.submit(half)
		for name, j := range map[string]*testJob{"in the air": f.first, "run": before, "half run": half} {
			if a := f.answer(j); !errors.Is(a.err, errDisk) || a.last != 0 {
				t.Errorf("%s: got %+v, want the commit's error", name, a)
			}
		}
		if ran != 4 {
			t.Errorf("transactions of the job that was half run: got %d, want it stopped after 4", ran)
		}
		after := f.write()
		f.stop()
		f.wantEnd(nil)
		if got := f.engine.rows(); after.err != nil || len(got) != 1 || len(f.state.shown()) != 1 {
			t.Errorf("after the failure: got %+v and %v committed, want the last row alone", after, got)
		}
		undone := slices.Clone(f.state.undone)
		slices.Reverse(undone)
		if len(undone) != launchAt+1+4 || !slices.IsSorted(undone) {
			t.Errorf("undone: got %v, want all %d, the newest first", f.state.undone, launchAt+5)
		}
		if got, want := f.w.Stats(), (Stats{Groups: 1, FailedGroups: 1, Commits: 1, Rows: 1}); got.Groups != want.Groups || got.FailedGroups != want.FailedGroups || got.Commits != want.Commits {
			t.Errorf("stats: got %+v, want %+v", got, want)
		}
	})
}

// TestDoubtInTheAirStopsTheWriter: what runs may be on what nobody knows.
func TestDoubtInTheAirStopsTheWriter(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		f.engine.fail(&f.engine.commit, errDisk)
		next := f.send("next", true)
		late := f.job(1)
		slow := f.job(1)
		slow.run = func(_ int, ts schema.Timestamp) error {
			f.state.stage(ts)
			f.submit(late)
			f.land(nil)
			return nil
		}
		f.submit(slow)
		for _, j := range []*testJob{f.first, next, slow, late} {
			if a := f.answer(j); !errors.Is(a.err, ErrInDoubt) {
				t.Errorf("answer: got %+v, want ErrInDoubt", a)
			}
		}
		f.wantEnd(ErrInDoubt)
		if shown := f.state.shown(); len(shown) > 0 {
			t.Errorf("published: got %v, want nothing", shown)
		}
	})
}

// TestBarrierWaitsForWhatRunsAndWhatIsInTheAir: both are stamped.
func TestBarrierWaitsForWhatRunsAndWhatIsInTheAir(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		f.send("next", true)
		passed := make(chan int64, 1)
		go func() {
			if err := f.w.Barrier(); err != nil {
				t.Errorf("barrier: got %v, want no error", err)
			}
			passed <- f.state.newest.Load()
		}()
		synctest.Wait()
		if len(passed) > 0 {
			t.Error("barrier beside a commit: got it over, want it to wait")
		}
		f.land(nil)
		if newest, want := <-passed, f.engine.rows()[1][0]; newest < int64(want) {
			t.Errorf("published when the barrier is over: got up to %d, want %d", newest, want)
		}
	})
}

// TestRequestsFindNothingInTheAir and neither do those who take over ranges.
func TestRequestsFindNothingInTheAir(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		f.send("next", true)
		done := make(chan error, 1)
		go func() {
			done <- f.w.Exec(context.Background(), func(schema.Appender) error {
				if f.w.air.busy || len(f.engine.rows()) != 2 {
					t.Errorf("within a request: got %d groups committed, want both", len(f.engine.rows()))
				}
				return nil
			})
		}()
		synctest.Wait()
		if f.w.TryRun(f.job(1)) {
			t.Error("try beside a commit: got it run, want it refused")
		}
		f.land(nil)
		if err := <-done; err != nil {
			t.Errorf("request: got %v, want no error", err)
		}
	})
	inFlight(t, Options{}, func(f *flight) {
		f.send("next", true)
		f.state.offered.Store(true)
		third := f.submit(f.job(1)) // waits until that is taken over
		f.land(nil)
		f.answer(third)
		f.stop()
		f.wantEnd(nil)
		if f.state.offered.Load() {
			t.Error("what was offered: got it still there, want it taken over")
		}
	})
}

// TestEndWaitsForWhatIsInTheAir stops the writer, or ends its goroutine.
func TestEndWaitsForWhatIsInTheAir(t *testing.T) {
	inFlight(t, Options{}, func(f *flight) {
		next := f.send("next", true)
		f.stop()
		synctest.Wait()
		f.land(nil)
		f.wantEnd(nil)
		if a, b := f.answer(f.first), f.answer(next); a.err != nil || b.err != nil || !f.engine.has(b.last) {
			t.Errorf("answers: got %+v and %+v, want both committed", a, b)
		}
	})
	for name, end := range map[string]func(){"panic": func() { panic("a job's bug") }, "Goexit": runtime.Goexit} {
		for _, failure := range []error{nil, errDisk} {
			inFlight(t, Options{}, func(f *flight) {
				next, bad, want := f.send("next", true), f.job(2), failure
				if want == nil {
					want = ErrClosed
				}
				bad.run = func(_ int, ts schema.Timestamp) error { f.state.stage(ts); end(); return nil }
				f.submit(bad)
				synctest.Wait()
				f.land(failure)
				if a := f.answer(f.first); !errors.Is(a.err, failure) || (failure == nil) != f.engine.has(a.last) {
					t.Errorf("%s: in the air: got %+v, want %v", name, a, failure)
				}
				for _, j := range []*testJob{next, bad} {
					if a := f.answer(j); !errors.Is(a.err, want) {
						t.Errorf("%s: what ran: got %+v, want %v", name, a, want)
					}
				}
				for range f.ended {
				}
				if shown := f.state.shown(); (failure == nil) != (len(shown) == launchAt) {
					t.Errorf("%s: published: got %d rows after %v", name, len(shown), failure)
				}
			})
		}
	}
}

// TestACommitThatEndsItsGoroutine leaves nobody waiting.
func TestACommitThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Durability: None})
		r.engine.append = func() error { runtime.Goexit(); return nil }
		flies, runs := r.submit(r.job(launchAt)), r.submit(r.job(1))
		r.start()
		for _, j := range []*testJob{flies, runs} {
			if a := r.answer(j); !errors.Is(a.err, ErrInDoubt) {
				t.Errorf("answer: got %+v, want ErrInDoubt", a)
			}
		}
		r.wantEnd(ErrInDoubt)
	})
}

// TestALockBetweenTwoGroups is another process that takes the file's lock
// after one group and before the next, which has run by then.
func TestALockBetweenTwoGroups(t *testing.T) {
	for _, long := range []bool{false, true} {
		inFlight(t, Options{LockWait: time.Second}, func(f *flight) {
			locked := time.Now().Add(time.Second / 2)
			if long {
				locked = locked.Add(time.Second)
			}
			next := f.send("next", true)
			f.engine.begin = func() error {
				if time.Now().Before(locked) {
					return schema.ErrBusy
				}
				return nil
			}
			f.land(nil)
			if a := f.answer(f.first); a.err != nil {
				t.Errorf("the group before: got %+v, want no error", a)
			}
			if a := f.answer(next); long != errors.Is(a.err, schema.ErrBusy) || !long && a.err != nil {
				t.Errorf("locked long %t: got %+v, want ErrBusy only then", long, a)
			}
			time.Sleep(time.Second)
			if a := f.write(); a.err != nil {
				t.Errorf("afterwards: got %+v, want no error", a)
			}
		})
	}
}

// TestOverlappingGroupsUnderFire has many at work while commits fail, merges
// run, barriers pass and requests come. What was answered with nil is in the
// file, nothing else is, and views have been shown just that, in order.
func TestOverlappingGroupsUnderFire(t *testing.T) {
	random := seed.Fresh(t).Rand(0)
	r := newRig(t, Options{Durability: None, TailEntries: 3000, Idle: time.Millisecond})
	var failing, flown atomic.Int64
	failing.Store(random.Int64N(1 << 40))
	r.engine.append = func() error {
		if r.w.air.busy {
			flown.Add(1)
		}
		if n := failing.Add(0x9e3779b9); n>>7%8 == 0 {
			return errDisk
		}
		return nil
	}
	r.start()
	var kept sync.Map // timestamps of jobs that were answered with nil
	var group sync.WaitGroup
	for c := range 6 {
		group.Go(func() {
			for n := range 60 {
				j := r.job(1 + (c*n)%(2*launchAt))
				if n%9 == 8 {
					j.run = func(int, schema.Timestamp) error { return nil }
				}
				r.submit(j)
				if a := <-j.done; a.err == nil && a.last > 0 {
					kept.Store(a.last, true)
				} else if a.err != nil && !errors.Is(a.err, errDisk) {
					t.Errorf("answer: got %+v, want no error or the disk's", a)
				}
				switch {
				case n%20 == 10:
					r.w.Barrier()
				case n%20 == 15:
					r.w.Exec(context.Background(), func(schema.Appender) error { return nil })
				case n%20 == 19:
					r.state.offered.Store(true)
				}
			}
		})
	}
	group.Wait()
	r.stop()
	r.wantEnd(nil)
	committed := slices.Concat(r.engine.rows()...)
	if !slices.Equal(committed, r.state.shown()) || !slices.IsSorted(committed) {
		t.Errorf("committed %d rows and published %d, want the same in order", len(committed), len(r.state.shown()))
	}
	kept.Range(func(ts, _ any) bool {
		if !slices.Contains(committed, ts.(schema.Timestamp)) {
			t.Errorf("answered with nil at %d: not in the file", ts)
		}
		return true
	})
	if flown.Load() == 0 {
		t.Error("groups that overlapped: got none, want some")
	}
}

// TestLoadWithoutEndLeavesRoom: while something always waits, what needs that
// nothing is in the air has its turn.
func TestLoadWithoutEndLeavesRoom(t *testing.T) {
	const early, late = 5, 1000 // jobs: when it is asked for, and when it must have been at the latest
	for name, c := range map[string]struct {
		ask func(r *rig, had chan<- struct{})
		has func(r *rig) bool
	}{
		"request": {ask: func(r *rig, had chan<- struct{}) {
			run := func(schema.Appender) error { close(had); return nil }
			if err := r.w.queue.pushExec(exec{run: run, done: make(chan error, 1)}); err != nil {
				t.Error(err)
			}
		}},
		"barrier": {ask: func(r *rig, had chan<- struct{}) {
			go func() { r.w.Barrier(); close(had) }()
		}},
		"range": {
			ask: func(r *rig, _ chan<- struct{}) { r.state.offered.Store(true) },
			has: func(r *rig) bool { return !r.state.offered.Load() },
		},
		"merge": {has: func(r *rig) bool { return r.w.merger.Active() }},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Durability: None}
			if name == "merge" {
				o.TailEntries = 10 * launchAt // it also ends what overlaps
			}
			r := newRig(t, o)
			had, ended, ran, over := make(chan struct{}), make(chan int, 1), 0, false
			has := func() bool {
				if c.has != nil {
					return c.has(r)
				}
				select {
				case <-had:
					return true
				default:
					return false
				}
			}
			var next func() *testJob
			next = func() *testJob {
				j := r.job(launchAt)
				j.run = func(i int, ts schema.Timestamp) error {
					if i == 0 && !over {
						runtime.Gosched()
						if ran++; ran == early && c.ask != nil {
							c.ask(r, had)
						}
						if over = ran > early && has() || ran > late; over {
							ended <- ran
						} else {
							r.submit(next())
						}
					}
					r.state.stage(ts)
					return nil
				}
				return j
			}
			r.submit(next())
			r.submit(next())
			r.start()
			if n := <-ended; n > late {
				t.Errorf("under a load without end: got it not done after %d jobs", n)
			}
			r.stop()
			r.wantEnd(nil)
		})
	}
}

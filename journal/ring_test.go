package journal

// The ring never says that it has what it has not, and costs nobody anything who
// does not follow.

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/schema"
)

// feeder publishes commits of one row, as the head does.
type feeder struct {
	ring   *Ring
	newest atomic.Int64
}

func newFeeder(limit int64) *feeder {
	f := new(feeder)
	f.ring = newRing(limit, func() schema.Timestamp { return schema.Timestamp(f.newest.Load()) })
	return f
}

// publish publishes a group of commits.
func (f *feeder) publish(size int, stamps ...schema.Timestamp) {
	var rows []*schema.Row
	var entries []schema.Entry
	for _, ts := range stamps {
		rows = append(rows, &schema.Row{TS: ts, Table: 1, ID: "id", Value: make([]byte, size)})
		entries = append(entries, schema.Entry{Index: schema.ByID(1), TS: ts, Key: "id"})
	}
	before := schema.Timestamp(f.newest.Swap(int64(stamps[len(stamps)-1])))
	f.ring.Publish(before, rows, entries)
	clear(rows) // lent
	clear(entries)
}

// have is the timestamps of the rows that the ring has behind a moment.
func (f *feeder) have(t *testing.T, after schema.Timestamp) (stamps []schema.Timestamp, ok bool) {
	t.Helper()
	groups, ok := f.ring.Groups(nil, after, 1<<30)
	for _, g := range groups {
		if len(g.Rows) != len(g.Entries) {
			t.Errorf("a group has %d rows and %d entries, want as many", len(g.Rows), len(g.Entries))
		}
		for i, row := range g.Rows {
			if g.Entries[i].TS != row.TS {
				t.Errorf("entry %d is of %d, its row of %d", i, g.Entries[i].TS, row.TS)
			}
			if row.TS > after {
				stamps = append(stamps, row.TS)
			}
		}
	}
	return stamps, ok
}

func TestRingSaysHowFarItReaches(t *testing.T) {
	f := newFeeder(1 << 20)
	f.publish(10, 1, 2)
	if got, ok := f.have(t, 1); ok {
		t.Errorf("while nobody followed: got %v, want that it does not reach", got)
	}
	f.ring.follow(1)
	if got, ok := f.have(t, 2); !ok || len(got) != 0 {
		t.Errorf("before the first group: got %v, %t, want nothing behind the newest", got, ok)
	}
	f.publish(10, 3, 5)
	f.publish(10, 7)
	for _, tt := range []struct {
		after schema.Timestamp
		ok    bool
		want  int
	}{{1, false, 0}, {2, true, 3}, {3, true, 2}, {4, true, 2}, {5, true, 1}, {7, true, 0}, {9, true, 0}} {
		got, ok := f.have(t, tt.after)
		if ok != tt.ok || len(got) != tt.want {
			t.Errorf("behind %d: got %v, %t, want %d commits, %t", tt.after, got, ok, tt.want, tt.ok)
		}
	}
	groups, _ := f.ring.Groups(nil, 2, 1)
	if len(groups) != 1 || len(groups[0].Rows) != 2 {
		t.Errorf("one row of groups: got %d groups, want the first, as a whole", len(groups))
	}
}

func TestRingIsBounded(t *testing.T) {
	const limit = 10 * (groupBytes + rowBytes + entryBytes + 2 + 2 + 100)
	f := newFeeder(limit)
	f.ring.follow(1)
	for ts := schema.Timestamp(1); ts <= 1000; ts++ {
		f.publish(100, ts)
		if size := f.ring.Size(); size.Bytes > limit {
			t.Fatalf("after %d commits: got %d bytes, want at most %d", ts, size.Bytes, limit)
		}
	}
	if got, ok := f.have(t, 990); !ok || len(got) != 10 {
		t.Errorf("the newest: got %v, %t, want 10 commits", got, ok)
	}
	if got, ok := f.have(t, 989); ok {
		t.Errorf("what was pushed out: got %v, want that it does not reach", got)
	}
	f.publish(2*limit, 1001)
	if size := f.ring.Size(); size.Bytes != 0 {
		t.Errorf("a group that is too large: got %d bytes, want 0", size.Bytes)
	}
	if _, ok := f.have(t, 1000); ok {
		t.Error("a group that is too large: got that the ring has it")
	}
	f.publish(100, 1002)
	if got, ok := f.have(t, 1001); !ok || len(got) != 1 {
		t.Errorf("behind it: got %v, %t, want one commit", got, ok)
	}
}

// TestRingHasNoGap gives it a group that does not follow the one before: it
// forgets that.
func TestRingHasNoGap(t *testing.T) {
	f := newFeeder(1 << 20)
	f.ring.follow(1)
	f.publish(1, 1)
	f.newest.Store(2) // a commit that the ring was not told of
	f.publish(1, 3)
	if got, ok := f.have(t, 1); ok {
		t.Errorf("across the gap: got %v, want that it does not reach", got)
	}
	if got, ok := f.have(t, 2); !ok || len(got) != 1 {
		t.Errorf("behind the gap: got %v, %t, want one commit", got, ok)
	}
}

func TestRingIsLeftAloneWhenNobodyFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeeder(1 << 20)
		f.ring.follow(1)
		f.publish(1, 1)
		f.ring.follow(-1)
		f.publish(1, 2)
		if got, ok := f.have(t, 0); !ok || len(got) != 2 {
			t.Errorf("shortly after the last: got %v, %t, want two commits", got, ok)
		}
		time.Sleep(ringLinger + 1)
		f.publish(1, 3)
		if size := f.ring.Size(); size.Bytes != 0 || f.ring.active.Load() {
			t.Errorf("later: got %d bytes, want 0, and that it is filled no more", size.Bytes)
		}
		rows := []*schema.Row{{TS: 4}}
		if n := testing.AllocsPerRun(100, func() { f.ring.Publish(3, rows, nil) }); n > 0 {
			t.Errorf("a publication that nobody follows: got %v allocations, want none", n)
		}
	})
}

func TestNotifyComesOnceAndIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := newFeeder(1 << 20)
		go f.ring.run(ctx)
		calls := 0
		count := func() { calls++ }
		expect := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			if calls != want {
				t.Errorf("%s: got %d calls, want %d", when, calls, want)
			}
		}
		f.publish(1, 1)
		f.ring.Notify(0, count)
		expect("a commit is there already", 1)
		f.ring.Notify(1, count)
		stop := f.ring.Notify(1, count)
		f.ring.Notify(3, count)
		stop()
		expect("nothing was committed", 1)
		f.publish(1, 2)
		expect("one waits, one does not any more, one waits for more", 2)
		f.publish(1, 3)
		expect("not after 3", 2)
		time.Sleep(time.Hour) // who waits is not forgotten when nobody else follows
		f.publish(1, 4)
		expect("after 3", 3)
		f.ring.Notify(4, count)
		f.ring.notifyAll()
		expect("a pass of the compactor", 4)
	})
}

// TestNoCallIsLost publishes each commit as soon as everybody has heard of the
// one before, which is when they begin to wait for it. Some give up and come
// again.
func TestNoCallIsLost(t *testing.T) {
	const commits, waiters = 5000, 4
	f := newFeeder(1 << 12)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go f.ring.run(ctx)
	var heard [waiters]atomic.Int64
	for n := range waiters {
		go func() {
			for i, at := 0, schema.Timestamp(0); at < commits; i++ {
				called := make(chan struct{}, 1) // the one call
				stop := f.ring.Notify(at, func() { called <- struct{}{} })
				if (i+n)%7 == 0 {
					stop()
					continue
				}
				<-called
				at = schema.Timestamp(f.newest.Load())
				heard[n].Store(int64(at))
			}
		}()
	}
	deadline := time.Now().Add(time.Minute)
	for ts := schema.Timestamp(1); ts <= commits; ts++ {
		f.publish(1, ts)
		for n := range heard {
			for heard[n].Load() < int64(ts) {
				if runtime.Gosched(); time.Now().After(deadline) {
					t.Fatalf("nobody has called %d of %d for the commit %d", n, waiters, ts)
				}
			}
		}
	}
}

// TestWhoLooksIsWaitingAlready holds the order that no call is lost by: whoever
// asks for the newest commit can be found by the next one before that.
func TestWhoLooksIsWaitingAlready(t *testing.T) {
	looks := 0
	var r *Ring
	r = newRing(1<<20, func() schema.Timestamp {
		if looks++; !r.waiting.any() {
			t.Errorf("look %d: nobody waits yet", looks)
		}
		return 5
	})
	r.Notify(5, func() { t.Error("called for a commit after 5") })
	called := 0
	r.wait(&waiter{after: 4, fn: func() { called++ }}) // it was taken out when 5 was committed
	if looks != 2 || called != 1 {
		t.Errorf("got %d looks and %d calls, want two, and one", looks, called)
	}
	stopped := &waiter{after: 5}
	stopped.over.Store(true)
	r.wait(stopped)
	if n := len(r.waiting.list); n != 1 {
		t.Errorf("got %d who wait, want one", n)
	}
}

// TestWhoWaitsCostsNoGoroutine holds a thousand waits against the goroutines.
func TestWhoWaitsCostsNoGoroutine(t *testing.T) {
	f := newFeeder(1 << 20)
	var called atomic.Int64
	if n := testing.AllocsPerRun(1, func() {
		for range 1000 {
			f.ring.Notify(0, func() { called.Add(1) })
		}
	}); n > 5000 {
		t.Errorf("a thousand waits: got %v allocations, want at most 5 for each", n)
	}
	f.publish(1, 1)
	f.publish(1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { f.ring.run(ctx); close(done) }()
	for called.Load() < 1000 {
		select {
		case <-t.Context().Done():
			t.Fatal("not all were called")
		default:
		}
	}
	cancel()
	<-done
}

func TestTokensAreMintedAsTheyAreWritten(t *testing.T) {
	const incarnation = "000102030405060708090a0b0c0d0eff"
	m := newMint(incarnation)
	for _, ts := range []schema.Timestamp{0, 1, 255, 1763683200000000, schema.MaxTimestamp} {
		if got, want := m.token(ts), (Token{incarnation, ts}).String(); got != want {
			t.Errorf("token of %d: got %s, want %s", ts, got, want)
		}
	}
}

// TestThePresentIsNotAheadOfTheRing has a commit that views see and that the
// ring is not told of yet: nobody may be told a moment behind it meanwhile.
func TestThePresentIsNotAheadOfTheRing(t *testing.T) {
	now := schema.Timestamp(10)
	var newest atomic.Int64
	j := New(Options{
		RingBytes: 1 << 20, Newest: func() schema.Timestamp { return schema.Timestamp(newest.Load()) },
		Oldest: func() schema.Timestamp { return 1 }, Now: func() schema.Timestamp { return now },
		Settle: func(schema.Timestamp) error { return nil },
	})
	j.ring.follow(1)
	publish := func(before, ts schema.Timestamp) { j.ring.Publish(before, []*schema.Row{{TS: ts}}, nil) }
	newest.Store(5)
	publish(0, 5)
	for _, tt := range []struct {
		seen, after schema.Timestamp
		ok          bool
	}{{5, 5, true}, {9, 5, false}, {9, 4, false}} {
		newest.Store(int64(tt.seen))
		if ts, ok, err := j.Present(tt.after); ts != now || ok != tt.ok || err != nil {
			t.Errorf("behind %d, when %d is visible: got %d, %t, %v, want %d, %t", tt.after, tt.seen, ts, ok, err, now, tt.ok)
		}
	}
	publish(5, 9)
	if ts, ok, err := j.Present(5); ts != now || !ok || err != nil {
		t.Errorf("when the ring has it: got %d, %t, %v, want %d", ts, ok, err, now)
	}
}

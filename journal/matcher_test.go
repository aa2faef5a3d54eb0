package journal

// The rule: whoever watches what was read is told of the first commit that has
// changed it, once, and of no other; and of the moment that it waits for.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// fakeCommits is a journal whose ring has the newest few groups.
type fakeCommits struct {
	mu      sync.Mutex
	ring    []Group
	last    schema.Timestamp
	after   schema.Timestamp // the ring has everything after it
	keeps   int              // groups; 0: all
	waiting map[int]func()
	serial  int
	follows int
}

func (c *fakeCommits) begin() (schema.Timestamp, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.follows++; c.follows == 1 {
		c.ring, c.after = nil, c.last
	}
	return c.last, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.follows--
	}
}

func (c *fakeCommits) groups(dst []Group, after schema.Timestamp, rows int) ([]Group, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if after < c.after {
		return dst, false
	}
	for _, g := range c.ring {
		if g.Last > after && rows > 0 {
			dst = append(dst, g)
			rows -= len(g.Rows)
		}
	}
	return dst, true
}

func (c *fakeCommits) newest() schema.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *fakeCommits) notify(after schema.Timestamp, fn func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last > after {
		fn()
		return func() {}
	}
	if c.waiting == nil {
		c.waiting = map[int]func(){}
	}
	c.serial++
	n := c.serial
	c.waiting[n] = fn
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, n)
	}
}

// commit publishes rows as one group, with the entries that they have by id.
func (c *fakeCommits) commit(rows ...*schema.Row) schema.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := Group{After: c.last, Rows: rows}
	c.last++
	for _, row := range rows {
		row.TS = c.last
		g.Entries = append(g.Entries, schema.Entry{
			Index: schema.ByID(row.Table), Key: row.ID, Deleted: row.Deleted, Changes: row.Deleted || row.Prev == 0, TS: row.TS,
		})
	}
	g.Last = c.last
	if c.follows > 0 {
		c.ring = append(c.ring, g)
		if c.keeps > 0 && len(c.ring) > c.keeps {
			c.ring = slices.Delete(c.ring, 0, 1)
			c.after = c.ring[0].After
		}
	}
	for n, fn := range c.waiting {
		delete(c.waiting, n)
		fn()
	}
	return c.last
}

// length is an aspect: how long the value is.
func length(row *schema.Row) uint64 { return uint64(len(row.Value)) }

var testTable = &index.Table{ID: 7, Name: "t", Prefix: 1}

var testAspects = map[schema.TableID][]Aspect{7: {length}}

func put(id, value string) *schema.Row {
	return &schema.Row{Table: 7, ID: id, Value: []byte(value), Prev: 1}
}

// running is a matcher on its goroutine, which ends with the test.
func running(t *testing.T, c *fakeCommits, now func() schema.Timestamp) *Matcher {
	m := newMatcher(c, now, testAspects)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return m
}

// watched is Watching.Watch.
func watched(m *Matcher, r *Reads, stale func(schema.Timestamp)) (stop func()) {
	return (&Watching[int]{matcher: m}).Watch(r, stale)
}

// settle lets the matcher come to rest.
func settle() {
	time.Sleep(2 * pace)
	synctest.Wait()
}

func never() schema.Timestamp { return 0 }

func TestAWatchIsToldOnceOfTheFirstCommitThatConcernsIt(t *testing.T) {
	for _, tt := range []struct {
		name   string
		read   func(*Recorder)
		others []*schema.Row // of which it is not told
		row    *schema.Row   // of which it is
	}{
		{"document", func(r *Recorder) { r.Document(testTable, []byte("b"), Whole, nil, nil) }, []*schema.Row{put("a", ""), put("bb", "")}, put("b", "")},
		{"aspect", func(r *Recorder) { r.Document(testTable, []byte("b"), 1, testAspects[7], put("b", "xy")) }, []*schema.Row{put("b", "ab")}, put("b", "abc")},
		{"aspect of nothing", func(r *Recorder) { r.Document(testTable, []byte("b"), 1, testAspects[7], nil) }, []*schema.Row{{Table: 7, ID: "b", Deleted: true}}, put("b", "")},
		{"interval", func(r *Recorder) { r.Interval(schema.ByID(7), "b", "d", false) }, []*schema.Row{put("a", ""), put("d", "")}, put("c", "")},
		{"entries", func(r *Recorder) { r.Interval(schema.ByID(7), "b", "d", true) }, []*schema.Row{put("c", "")}, &schema.Row{Table: 7, ID: "c", Deleted: true}},
		{"open interval", func(r *Recorder) { r.Interval(schema.ByID(7), "b", "", false) }, []*schema.Row{put("a", "")}, put("z", "")},
		{"another table", func(r *Recorder) { r.Document(testTable, []byte("b"), Whole, nil, nil) }, []*schema.Row{{Table: 8, ID: "b"}}, put("b", "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &fakeCommits{last: 10}
				m := running(t, c, never)
				m.begin()
				var rec Recorder
				tt.read(&rec)
				reads := m.reads(&rec, c.newest())
				m.end()
				var told []schema.Timestamp
				watched(m, reads, func(ts schema.Timestamp) { told = append(told, ts) })
				for _, row := range tt.others {
					c.commit(row)
				}
				settle()
				if len(told) > 0 {
					t.Fatalf("got %v, want no wake", told)
				}
				again := *tt.row
				want := c.commit(tt.row)
				c.commit(&again)
				settle()
				if !slices.Equal(told, []schema.Timestamp{want}) {
					t.Errorf("got %v, want %d, once", told, want)
				}
				if s := m.Stats(); s.Watches != 0 || s.Bytes != 0 || s.Wakes != 1 {
					t.Errorf("got %+v, want nothing left", s)
				}
			})
		})
	}
}

func TestAWatchIsToldOfWhatCameBetweenTheSnapshotAndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		m := running(t, c, never)
		m.begin()
		defer m.end()
		var rec Recorder
		rec.Document(testTable, []byte("b"), Whole, nil, nil)
		reads := m.reads(&rec, c.newest())
		c.commit(put("a", ""))
		want := c.commit(put("b", ""))
		c.commit(put("b", ""))
		settle() // the matcher is past them
		told := schema.Timestamp(0)
		watched(m, reads, func(ts schema.Timestamp) { told = ts })
		if told != want {
			t.Errorf("got %d, want %d before Watch returned", told, want)
		}
	})
}

func TestEverythingIsStaleWhenTheRingHasGoneOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10, keeps: 2}
		m := newMatcher(c, never, testAspects) // not running: it falls behind
		m.begin()
		defer m.end()
		told := 0
		watch := func(read func(*Recorder)) {
			var rec Recorder
			read(&rec)
			watched(m, m.reads(&rec, c.newest()), func(schema.Timestamp) { told++ })
		}
		watch(func(r *Recorder) { r.Document(testTable, []byte("b"), Whole, nil, nil) })
		watch(func(r *Recorder) { r.Interval(schema.ByID(7), "b", "c", true) })
		watch(func(r *Recorder) { r.Until(1 << 60) })
		for range 3 {
			c.commit(put("a", ""))
		}
		go m.Run(t.Context())
		settle()
		if s := m.Stats(); told != 3 || s.FallenBehind != 1 || s.Watches != 0 {
			t.Errorf("got %d told, %+v, want all 3", told, s)
		}
	})
}

func TestAMomentMakesStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		began := time.Now()
		m := running(t, c, func() schema.Timestamp { return schema.Timestamp(time.Since(began).Microseconds()) })
		m.begin()
		defer m.end()
		var told []string
		for _, at := range []time.Duration{3 * time.Hour, time.Minute, time.Millisecond} {
			var rec Recorder
			rec.Until(schema.Timestamp(at.Microseconds()))
			stop := watched(m, m.reads(&rec, 10), func(ts schema.Timestamp) {
				told = append(told, fmt.Sprint(time.Duration(ts)*time.Microsecond, " after ", time.Since(began).Truncate(time.Millisecond)))
			})
			if at == time.Minute {
				defer stop()
			}
		}
		time.Sleep(4 * time.Hour)
		want := "1ms after 1ms, 1m0s after 1m0s, 3h0m0s after 3h0m0s"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestNobodyFollowsWhileNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		m := running(t, c, never)
		follows := func() int {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.follows
		}
		m.begin()
		var rec Recorder
		rec.Document(testTable, []byte("b"), Whole, nil, nil)
		reads := m.reads(&rec, c.newest())
		time.Sleep(10 * lingers)
		if follows() != 1 {
			t.Error("a query runs, and nobody follows")
		}
		m.end()
		stop := watched(m, reads, func(schema.Timestamp) {})
		time.Sleep(10 * lingers)
		if follows() != 1 {
			t.Error("somebody watches, and nobody follows")
		}
		stop()
		time.Sleep(10 * lingers)
		if follows() != 0 {
			t.Error("nobody watches, and somebody follows")
		}
		if want := c.commit(put("b", "")); m.Matched() != want {
			t.Errorf("got matched up to %d, want %d", m.Matched(), want)
		}
	})
}

// TestWatchesAndCommitsAtRandom compares with what a reader of each commit
// would find.
func TestWatchesAndCommitsAtRandom(t *testing.T) {
	r := seed.Fresh(t).Rand(1)
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		m := running(t, c, never)
		m.begin()
		defer m.end()
		type model struct {
			concerns func(*schema.Row) bool
			told     schema.Timestamp
			want     schema.Timestamp
			stop     func()
		}
		id := func() string { return fmt.Sprintf("%02d", r.IntN(60)) }
		var open []*model
		for range 5000 {
			switch r.IntN(3) {
			case 0:
				var rec Recorder
				w := &model{}
				if a := id(); r.IntN(2) == 0 {
					rec.Document(testTable, []byte(a), Whole, nil, nil)
					w.concerns = func(row *schema.Row) bool { return row.ID == a }
				} else {
					b, entries := id(), r.IntN(2) == 0
					rec.Interval(schema.ByID(7), a, b, entries)
					w.concerns = func(row *schema.Row) bool { return a <= row.ID && row.ID < b && (!entries || row.Deleted) }
				}
				w.stop = watched(m, m.reads(&rec, c.newest()), func(ts schema.Timestamp) { w.told = ts })
				open = append(open, w)
			case 1:
				row := put(id(), "v")
				if row.Deleted = r.IntN(2) == 0; row.Deleted {
					row.Value = nil
				}
				ts := c.commit(row)
				for _, w := range open {
					if w.want == 0 && w.concerns(row) {
						w.want = ts
					}
				}
			case 2:
				if len(open) == 0 {
					continue
				}
				settle()
				at := r.IntN(len(open))
				if w := open[at]; w.told != w.want {
					t.Fatalf("got told of %d, want %d", w.told, w.want)
				}
				open[at].stop()
				open = slices.Delete(open, at, at+1)
			}
		}
		for _, w := range open {
			w.stop()
		}
		if s := m.Stats(); s.Watches != 0 || s.Bytes != 0 {
			t.Errorf("got %+v, want nothing left", s)
		}
	})
}

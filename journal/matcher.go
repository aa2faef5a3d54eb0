package journal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/schema"
)

// Matcher tells who has read something that it is stale. What was read is
// among the interests; Run goes over the commits in the journal's ring, one
// after the other, and over the moments at which time alone changes an answer.
// It never runs on the writer's goroutine, and the writer never waits for it:
// when the ring has gone on without it, everything is stale.
//
// While nobody watches, and nothing was recorded for a while, it follows
// nothing, and commits cost what they did before.
type Matcher struct {
	commits  source
	now      func() schema.Timestamp // by which expiry is judged
	aspects  map[schema.TableID][]Aspect
	closed   error // what ends subscriptions once Run has returned
	counters counters
	arrivals arrivals

	poke chan struct{} // of one: there is something to do
	told atomic.Int64  // every commit up to here was matched, and who was hit told

	mu       sync.Mutex
	in       interests
	matched  schema.Timestamp // every commit up to here was matched, while it follows
	follows  func()           // ends it; nil: it does not follow
	running  int              // queries that are being recorded
	recorded time.Time        // when the last one was
	ended    bool             // Run has returned
}

// source is what a Matcher needs of a journal.
type source interface {
	// begin lets the ring be filled until end is called, and returns a
	// timestamp after which it has everything.
	begin() (after schema.Timestamp, end func())

	// groups is Ring.Groups.
	groups(dst []Group, after schema.Timestamp, rows int) (found []Group, ok bool)

	// newest is the timestamp of the newest commit that views see.
	newest() schema.Timestamp

	// notify calls fn, once, when there is a commit after a timestamp.
	notify(after schema.Timestamp, fn func()) (stop func())
}

// counters is what a Matcher counts.
type counters struct {
	wakes, falseWakes, evaluations, fallenBehind atomic.Int64
}

// WatchStats are figures about who watches what was read.
type WatchStats struct {
	Watches      int   // that wait
	Bytes        int64 // that they take
	Wakes        int64 // of watches, since the store was opened
	FalseWakes   int64 // after which an answer was found to be the same
	Evaluations  int64 // queries that were recorded
	FallenBehind int64 // times that everything was declared stale, because the ring had gone on
}

const (
	// stepRows is how many rows are matched before who was hit is told: some
	// milliseconds.
	stepRows = 4096

	// lingers is how long a Matcher that nobody watches goes on to follow: a
	// query that runs again and again does not begin anew each time.
	lingers = time.Second

	// lookAgain is how often the clock is looked at while a moment is waited
	// for: the clock may be set, and the timer not know of it.
	lookAgain = time.Second
)

func newMatcher(c source, now func() schema.Timestamp, aspects map[schema.TableID][]Aspect) *Matcher {
	m := &Matcher{commits: c, now: now, aspects: aspects, in: newInterests(aspects), poke: make(chan struct{}, 1)}
	m.arrivals.some.L = &m.mu
	return m
}

// begin is called before a snapshot is taken whose reads will be watched: from
// then on commits are kept for the watch that follows. end goes with it.
func (m *Matcher) begin() {
	m.counters.evaluations.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
	m.follow()
}

// end is called when the snapshot has been read.
func (m *Matcher) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	m.recorded = time.Now()
}

// follow begins to follow, if the matcher does not yet. The caller holds mu.
func (m *Matcher) follow() {
	if m.follows == nil && !m.ended {
		m.matched, m.follows = m.commits.begin()
		m.told.Store(int64(m.matched))
		m.wake()
	}
}

// wake lets Run look.
func (m *Matcher) wake() {
	select {
	case m.poke <- struct{}{}:
	default:
	}
}

// reads is what a Recorder has noted of a snapshot of ts.
func (m *Matcher) reads(rec *Recorder, ts schema.Timestamp) *Reads {
	r := rec.Reads(ts)
	r.counters = &m.counters
	return r
}

// watch has stale called as Watching.Watch says; nil if Run has returned.
func (m *Matcher) watch(r *Reads, stale func(schema.Timestamp)) *watch {
	w := &watch{stale: stale}
	for from := r.TS; ; {
		to, ended := m.admit(w, r, from)
		switch {
		case ended:
			return nil
		case to == 0:
			return w
		}
		if hit := m.missed(r, from, to); hit != 0 {
			m.counters.wakes.Add(1)
			stale(hit)
			return w
		}
		from = to
	}
}

// admit takes a watch up if it knows of all commits that were matched: of those
// up to from. Otherwise it has to learn of those up to to, which is not 0.
func (m *Matcher) admit(w *watch, r *Reads, from schema.Timestamp) (to schema.Timestamp, ended bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return 0, true
	}
	m.follow()
	if from < m.matched {
		return m.matched, false
	}
	m.in.add(w, r)
	if r.Until != 0 && m.in.wakes[0] == w {
		m.wake()
	}
	return 0, false
}

// missed is the first commit after from, and not after to, that has changed
// what was read, or about which that cannot be known any more; 0 if there is
// none.
func (m *Matcher) missed(r *Reads, from, to schema.Timestamp) schema.Timestamp {
	alone := newInterests(m.aspects)
	known := *r
	known.Until = 0
	w := &watch{}
	alone.add(w, &known)
	for from < to {
		groups, ok := m.commits.groups(nil, from, stepRows)
		if !ok {
			return to
		}
		for i := range groups {
			alone.match(nil, &groups[i])
			if w.hitAt != 0 {
				return w.hitAt
			}
			from = groups[i].Last
		}
		if len(groups) == 0 {
			return 0
		}
	}
	return 0
}

// drop ends a watch; nil is none.
func (m *Matcher) drop(w *watch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w != nil {
		m.in.remove(w)
	}
}

// Matched is a timestamp up to which every commit was matched, and whom it
// concerns been told: those calls have returned, and so have those that were due
// by time when the commit was made. While nobody watches it is the newest.
func (m *Matcher) Matched() schema.Timestamp {
	newest := m.commits.newest()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.in.number == 0 && m.follows == nil {
		return newest
	}
	return schema.Timestamp(m.told.Load())
}

// Stats are the figures now.
func (m *Matcher) Stats() WatchStats {
	c := &m.counters
	m.mu.Lock()
	defer m.mu.Unlock()
	return WatchStats{
		Watches: m.in.number, Bytes: m.in.bytes,
		Wakes: c.wakes.Load(), FalseWakes: c.falseWakes.Load(), Evaluations: c.evaluations.Load(), FallenBehind: c.fallenBehind.Load(),
	}
}

package journal

import (
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// arrivals lets others wait until a Matcher has come to a moment.
type arrivals struct {
	waiting atomic.Int32 // 0: nobody has to be told
	some    sync.Cond    // with the Matcher's lock
}

// Await returns when every commit up to ts was matched, and whom it concerns
// been told, or when nothing is matched any more. Commits that are to come are not
// waited for.
func (m *Matcher) Await(ts schema.Timestamp) {
	ts = min(ts, m.commits.newest())
	a := &m.arrivals
	a.waiting.Add(1) // before told is looked at: see arrived
	defer a.waiting.Add(-1)
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.ended && m.follows != nil && schema.Timestamp(m.told.Load()) < ts {
		m.wake() // it may let commits gather
		a.some.Wait()
	}
}

// arrived tells those in Await to look again, after what they look at has
// changed. The caller does not hold the lock.
func (m *Matcher) arrived() {
	if m.arrivals.waiting.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrivals.some.Broadcast()
}

// Await is Matcher.Await.
func (j *Journal) Await(ts schema.Timestamp) { j.matcher.Await(ts) }

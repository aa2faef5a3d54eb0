package live

import (
	"github.com/firndb/firn"
)

// query is one question, and who wants to know the answer. All of it is
// guarded by the hub's lock.
type query struct {
	question
	subs []*subscription

	state state
	again bool // it has become stale while it was evaluated

	wake  firn.Timestamp // at which it became stale; 0: it is not
	ts    firn.Timestamp // of the last evaluation
	reply digest         // of that
	watch uint64         // the number of the watch; what an earlier one says is old
	stop  func()         // ends it; nil: nothing is watched
}

// state is where a query is.
type state uint8

const (
	idle    state = iota // something watches over it
	queued               // it is in the queue, or in a round, and waits for a worker
	running              // a worker evaluates it
	gone                 // nobody wants to know any more
)

// result is an answer, encoded as it is pushed. It is shared by all who get
// it, and never changed, but for waits.
type result struct {
	waits int // subscriptions for which it is pending; guarded by the hub's lock

	ts    firn.Timestamp
	reply digest
	tail  []byte // the push behind the id: ts, token, reply
	ends  bool   // the reply is the error that ends the subscription
}

// staleLocked puts a query into the queue.
func (h *Hub) staleLocked(q *query, ts firn.Timestamp) {
	switch q.state {
	case idle:
		q.state, q.wake = queued, ts
		h.queue = append(h.queue, q)
		h.some.Signal()
	case queued:
		q.wake = max(q.wake, ts)
	case running:
		q.again, q.wake = true, max(q.wake, ts)
	}
}

// beginLocked makes q running, and returns what ends the watch over it; nil if
// there is none.
func (q *query) beginLocked() (stop func()) {
	q.state, q.again, q.wake = running, false, 0
	q.watch++ // what the watch may still say is old
	stop, q.stop = q.stop, nil
	return stop
}

// watchOver ends the evaluation of a query: the store watches from now on what
// the answer depends on, unless the query has gone meanwhile. The caller does
// not hold the lock.
func (h *Hub) watchOver(q *query, reads Reads) {
	h.mu.Lock()
	number, unused := q.watch, q.state == gone
	h.mu.Unlock()
	if unused {
		return
	}
	stop := reads.Watch(func(ts firn.Timestamp) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if q.watch == number {
			q.watch++
			h.staleLocked(q, ts)
		}
	})
	h.mu.Lock()
	unused = q.state == gone
	if !unused {
		q.stop = stop
	}
	h.restLocked(q)
	h.mu.Unlock()
	if unused {
		stop()
	}
}

// restLocked makes a running query idle, or stale if it became so meanwhile.
func (h *Hub) restLocked(q *query) {
	if q.state != running {
		return
	}
	q.state = idle
	if q.again {
		q.again = false
		h.staleLocked(q, q.wake)
	}
}

// leaveLocked takes a subscription from its query. With the last one the query
// goes; the caller then calls stop, if that is not nil, without the lock.
func (h *Hub) leaveLocked(s *subscription) (stop func()) {
	q := s.query
	last := len(q.subs) - 1
	q.subs[s.at] = q.subs[last]
	q.subs[s.at].at = s.at
	q.subs[last] = nil
	q.subs = q.subs[:last]
	if last > 0 {
		return nil
	}
	delete(h.queries, q.question)
	h.kept -= queryBytes + int64(len(q.form))
	q.state = gone
	q.watch++
	stop, q.stop = q.stop, nil
	return stop
}

// joinLocked makes s a subscription of a question. fresh is the query if s is
// the first to ask: it is running, and the caller has to see to it.
func (h *Hub) joinLocked(s *subscription, to question) (fresh *query) {
	q := h.queries[to]
	if q == nil {
		q = &query{question: to, state: running}
		h.queries[to] = q
		h.kept += queryBytes + int64(len(q.form))
		fresh = q
	}
	s.query, s.at = q, len(q.subs)
	q.subs = append(q.subs, s)
	return fresh
}

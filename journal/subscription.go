package journal

import (
	"context"
	"sync"

	"github.com/firndb/firn/schema"
)

// Subscription is a query that runs again whenever what it has read is stale.
// It has no goroutine while it is idle.
//
//   - The query never runs twice at once. What makes it stale while it runs
//     makes it run once more, however often that was.
//   - It ends with the first error of the query, with its context, or with its
//     store, and does not run any more then.
type Subscription struct {
	matcher *Matcher
	workers *Workers
	query   func() (*Reads, error)
	ctx     context.Context // ends it; nil: none does

	mu    sync.Mutex
	state subscriptionState
	again bool          // it is stale, and runs
	watch *watch        // nil unless idle
	done  chan struct{} // nil: nobody has asked, and it has not ended
	err   error
}

type subscriptionState uint8

const (
	subscriptionIdle subscriptionState = iota
	subscriptionQueued
	subscriptionRunning
	subscriptionEnded
)

// subscribe runs a query now, and again when it is stale, on the workers.
func subscribe(ctx context.Context, m *Matcher, workers *Workers, query func() (*Reads, error)) *Subscription {
	s := &Subscription{matcher: m, workers: workers, query: query}
	if ctx.Done() != nil {
		s.ctx = ctx
		workers.contexts.bind(ctx, s)
	}
	s.stale(0)
	return s
}

// Err is what has ended it; nil as long as it lives.
func (s *Subscription) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Done is closed when it has ended, and the query does not run any more.
func (s *Subscription) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		if s.state == subscriptionEnded {
			close(s.done)
		}
	}
	return s.done
}

// stale has the query run, or run once more.
func (s *Subscription) stale(schema.Timestamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case subscriptionIdle:
		s.state, s.watch = subscriptionQueued, nil
		s.workers.add(s)
	case subscriptionRunning:
		s.again = true
	case subscriptionQueued, subscriptionEnded:
	}
}

// work runs the query, on a worker.
func (s *Subscription) work() {
	s.mu.Lock()
	if s.err != nil || s.state == subscriptionEnded {
		s.endLocked(s.err)
		s.mu.Unlock()
		return
	}
	s.state, s.again = subscriptionRunning, false
	s.mu.Unlock()

	reads, err := s.query()
	var w *watch
	if err == nil {
		if w = s.matcher.watch(reads, s.stale); w == nil {
			err = s.matcher.closed
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil || s.err != nil:
		if s.err == nil {
			s.err = err
		}
		s.endLocked(s.err)
		s.matcher.drop(w)
	case s.again:
		s.state = subscriptionQueued
		s.workers.add(s)
	default:
		s.state, s.watch = subscriptionIdle, w
	}
}

// end ends it, as soon as the query does not run.
func (s *Subscription) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	if s.state == subscriptionIdle {
		s.endLocked(err)
	}
}

func (s *Subscription) endLocked(err error) {
	if s.state == subscriptionEnded {
		return
	}
	s.matcher.drop(s.watch)
	s.state, s.err, s.watch, s.query = subscriptionEnded, err, nil, nil
	if s.ctx != nil {
		s.workers.contexts.unbind(s.ctx, s)
	}
	if s.done != nil {
		close(s.done)
	}
}

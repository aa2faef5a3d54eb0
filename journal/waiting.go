package journal

import "github.com/firndb/firn/schema"

// waiter is somebody who is to be called when there is a commit after a moment.
type waiter struct {
	after schema.Timestamp
	fn    func()
}

// waiting is those who wait: a place in a list for each, and no goroutine.
type waiting struct {
	list   map[*waiter]struct{}
	called []*waiter // scratch of take
}

func (w *waiting) any() bool { return len(w.list) > 0 }

func (w *waiting) add(one *waiter) {
	if w.list == nil {
		w.list = map[*waiter]struct{}{}
	}
	w.list[one] = struct{}{}
}

// take removes those whose moment is due. What it returns is good until it is
// called again.
func (w *waiting) take(due func(after schema.Timestamp) bool) []*waiter {
	clear(w.called)
	w.called = w.called[:0]
	for one := range w.list {
		if due(one.after) {
			w.called = append(w.called, one)
			delete(w.list, one)
		}
	}
	return w.called
}

// Notify calls fn once, when there is a commit after a moment; at once, and on
// the caller's goroutine, if there is one already. Otherwise it is the
// journal's goroutine that calls, which must not be kept waiting. fn is also
// called before the compactor moves a horizon, so that whoever is idle can hand
// out a newer token in time. stop takes the call back, and does nothing if it
// came.
//
// Who waits costs a place in a list, and a commit that somebody waits for wakes
// the journal's goroutine once.
func (r *Ring) Notify(after schema.Timestamp, fn func()) (stop func()) {
	one := &waiter{after, fn}
	r.mu.Lock()
	r.fillLocked()
	due := r.ahead(after) > after
	if !due {
		r.waiting.add(one)
	}
	r.mu.Unlock()
	if due {
		fn()
		return func() {}
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting.list, one)
	}
}

// notifyAll calls everybody who waits, on the journal's goroutine.
func (r *Ring) notifyAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.waiting.any() {
		return
	}
	for one := range r.waiting.list {
		one.after = -1 // every commit is after it
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

package journal

import (
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// waiter is somebody who is to be called when there is a commit after a moment.
type waiter struct {
	after schema.Timestamp
	fn    func()
	over  atomic.Bool // it was called, or does not wait any more
}

// waiting is those who wait: a place in a map for each, and no goroutine.
// Whoever calls them has taken the map, so that nobody is kept waiting by how
// many they are.
type waiting struct {
	number atomic.Int64

	mu    sync.Mutex
	list  map[*waiter]struct{}
	spare map[*waiter]struct{} // empty
}

// any says whether anybody waits.
func (w *waiting) any() bool { return w.number.Load() > 0 }

func (w *waiting) add(one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[*waiter]struct{}{}
	}
	w.list[one] = struct{}{}
	w.number.Store(int64(len(w.list)))
}

func (w *waiting) remove(one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.list, one)
	w.number.Store(int64(len(w.list)))
}

// take takes all who wait; giveBack ends that.
func (w *waiting) take() map[*waiter]struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.list
	w.list, w.spare = w.spare, nil
	w.number.Store(0)
	return taken
}

func (w *waiting) giveBack(taken map[*waiter]struct{}) {
	clear(taken)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = taken
}

// Notify calls fn once, when there is a commit after a moment; at once, and on
// the caller's goroutine, if there is one already. Otherwise it is the
// journal's goroutine that calls, which must not be kept waiting. fn is also
// called before the compactor moves a horizon, so that whoever is idle can hand
// out a newer token in time. stop takes the call back; a call that is under way
// may still end after it.
//
// Who waits costs a place in a map, and a commit that somebody waits for wakes
// the journal's goroutine once.
func (r *Ring) Notify(after schema.Timestamp, fn func()) (stop func()) {
	one := &waiter{after: after, fn: fn}
	r.waiting.add(one) // before it is looked: a commit that comes meanwhile finds it
	if r.beyond(after) {
		r.waiting.remove(one)
		call(one)
	}
	return func() {
		if one.over.CompareAndSwap(false, true) {
			r.waiting.remove(one)
		}
	}
}

// call calls who waits, unless that is over.
func call(one *waiter) {
	if one.over.CompareAndSwap(false, true) {
		one.fn()
	}
}

// callDue calls those whose moment is due, or all.
func (r *Ring) callDue(all bool) {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	taken := r.waiting.take()
	for one := range taken {
		switch {
		case all || last > one.after:
			call(one)
		case !one.over.Load():
			r.wait(one)
		}
	}
	r.waiting.giveBack(taken)
}

// wait puts back who was taken out and is not called yet.
func (r *Ring) wait(one *waiter) {
	r.waiting.add(one)
	if one.over.Load() { // stopped meanwhile, when it was in no map
		r.waiting.remove(one)
		return
	}
	if r.beyond(one.after) { // by a commit that may have found nobody waiting
		r.waiting.remove(one)
		call(one)
	}
}

// wakeUp has the journal's goroutine look at those who wait.
func (r *Ring) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// notifyAll calls everybody who waits, on the journal's goroutine.
func (r *Ring) notifyAll() {
	if r.waiting.any() {
		r.everybody.Store(true)
		r.wakeUp()
	}
}

package writer

import "time"

// TryRun runs j at once on the caller's goroutine, if the writer has nothing
// else to do, no other process has the file's lock, and groups do not take
// long at the moment; it has called Done when it returns true. It saves two
// switches between goroutines, at the price of waiting for the commit.
func (w *Writer) TryRun(j Job) bool {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	if w.slow.left > 0 || w.failure() != nil || !w.queue.open() || w.wal.owes || mergeLags(w) {
		return false
	}
	w.inline = true
	defer func() { w.inline = false }()
	if w.reserve() != nil {
		return false // the loop waits for the lock, or meets the error
	}
	w.beside.Store(time.Now().UnixNano())
	w.alone[0] = j
	if err := w.turn(w.alone[:], nil); err != nil {
		w.doubt(err) // Run stops
	}
	return true
}

// busyBeside says whether TryRun ran something within d.
func (w *Writer) busyBeside(d time.Duration) bool {
	return time.Now().UnixNano()-w.beside.Load() < int64(d)
}

// A group of TryRun's that took longer than slowGroup keeps TryRun away until
// so many groups were quick, whoever ran them: leastQuick at first, twice as
// many each time it happens again, at most mostQuick. On a slow disk an event
// loop so hardly ever waits for it, and where a commit was held up once,
// because the processor was needed elsewhere, next to nothing is lost. At a
// fixed number of 256, 18 of 5,000 commits of a quick disk that were held up
// sent three quarters of all groups to the writer's goroutine.
const (
	slowGroup  = time.Millisecond
	leastQuick = 4
	mostQuick  = 256
)

// slowness is what the writer knows of slow groups. Its zero value knows of
// none.
type slowness struct {
	left int // quick groups until TryRun may run something again
	next int // how many the next slow one asks for; 0: leastQuick
}

// end notes that a group is committed, and how long it took. What a merge added
// to that, and what is done between groups, does not count: those say nothing
// of the next commit.
func (s *slowness) end(took time.Duration, inline bool) {
	slow := took > slowGroup
	switch {
	case slow && inline:
		s.left = max(s.next, leastQuick)
		s.next = min(2*s.left, mostQuick)
	case slow: // it may be that it was large
	case s.left > 0:
		s.left--
	default:
		s.next = 0
	}
}

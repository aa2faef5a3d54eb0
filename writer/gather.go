package writer

import (
	"runtime"
	"time"
)

// gatherRounds is how many times the writer lets others run between two
// groups, until as much waits as the last group had: who was just answered
// mostly has more, and it should share a commit.
const gatherRounds = 4

// gather waits a moment for company for the next group, behind a round that
// took so long.
func (w *Writer) gather(did round, took time.Duration) {
	if w.opts.Durability == Always && did.jobs > 0 {
		w.awaitCrowd(did.transactions, took)
		return
	}
	for range gatherRounds {
		runtime.Gosched()
		if w.queue.jobsWaiting() >= did.jobs {
			return
		}
	}
}

// maxPatience bounds how long a group waits for company.
const maxPatience = time.Millisecond

// crowd is how many transactions come together lately.
type crowd int

// seen takes note of a group: the crowd is the largest, and shrinks by an
// eighth of what lacks.
func (c *crowd) seen(n int) {
	if crowd(n) >= *c {
		*c = crowd(n)
		return
	}
	*c -= (*c - crowd(n) + 7) / 8
}

// awaitCrowd is gather where each commit has its fsync. Clients that come in
// two halves, one while the other's commit is under way, stay in these halves
// for ever, and share half as many fsyncs as they could. So a group waits for
// half the time that the one before took, until all are there that came with
// that one, or meanwhile.
func (w *Writer) awaitCrowd(ran int, took time.Duration) {
	w.crowd.seen(ran)
	want := max(int(w.crowd), ran+w.queue.waiting())
	runtime.Gosched()
	if w.queue.waiting() >= want {
		return
	}
	limit := time.NewTimer(min(took/2, maxPatience))
	defer limit.Stop()
	for w.queue.waiting() < want && !w.queue.execsWait() && !w.queue.refuses() {
		select {
		case <-w.queue.signal:
		case <-limit.C:
			return
		}
	}
}

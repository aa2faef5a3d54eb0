package writer

import (
	"context"
	"slices"
	"sync"

	"github.com/firndb/firn/schema"
)

// queue is what waits for the writer. It holds at most max transactions: past
// that push says ErrBusy and pushWait waits.
type queue struct {
	max    int
	signal chan struct{} // capacity 1: something was pushed since the last take

	mu     sync.Mutex
	jobs   []Job
	txns   int // transactions in jobs
	execs  []exec
	closed bool
	room   chan struct{} // closed when a take makes room; nil when nobody waits
}

// exec is a maintenance request.
type exec struct {
	run         func(schema.Appender) error
	transaction bool
	done        chan error
}

func newQueue(max int) *queue {
	return &queue{max: max, signal: make(chan struct{}, 1)}
}

func (q *queue) push(j Job) error {
	n := j.Len()
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case q.txns > 0 && q.txns+n > q.max:
		return ErrBusy
	}
	q.jobs = append(q.jobs, j)
	q.txns += n
	q.wake()
	return nil
}

func (q *queue) pushWait(ctx context.Context, j Job) error {
	for {
		err := q.push(j)
		if err != ErrBusy {
			return err
		}
		select {
		case <-q.waitRoom():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waitRoom is closed at the next take.
func (q *queue) waitRoom() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.room == nil {
		q.room = make(chan struct{})
		if q.txns == 0 || q.closed {
			close(q.room)
			defer func() { q.room = nil }()
		}
	}
	return q.room
}

func (q *queue) pushExec(e exec) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.execs = append(q.execs, e)
	q.wake()
	return nil
}

func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// take is takeJobs, and takes all maintenance requests as well.
func (q *queue) take(into []Job, limit int) ([]Job, []exec) {
	q.mu.Lock()
	defer q.mu.Unlock()
	execs := q.execs
	q.execs = nil
	return q.takeLocked(into, limit), execs
}

// takeJobs removes jobs with at most limit transactions, but at least one job
// if one is there. The slice into is reused.
func (q *queue) takeJobs(into []Job, limit int) []Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return into[:0]
	}
	return q.takeLocked(into, limit)
}

func (q *queue) takeLocked(into []Job, limit int) []Job {
	jobs := q.jobs
	taken, txns := 0, 0
	for taken < len(jobs) && (taken == 0 || txns+jobs[taken].Len() <= limit) {
		txns += jobs[taken].Len()
		taken++
	}
	q.txns -= txns
	q.jobs = append(into[:0], jobs[taken:]...)
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
	return jobs[:taken]
}

// cut removes the first n jobs, and all maintenance requests.
func (q *queue) cut(n int) ([]Job, []exec) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.jobs))
	jobs, execs := slices.Clone(q.jobs[:n]), q.execs
	q.jobs, q.execs = slices.Delete(q.jobs, 0, n), nil
	for _, j := range jobs {
		q.txns -= j.Len()
	}
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
	return jobs, execs
}

// sift removes the jobs that do not stay.
func (q *queue) sift(stays func(Job) bool) (gone []Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.jobs[:0]
	for _, j := range q.jobs {
		if stays(j) {
			left = append(left, j)
			continue
		}
		gone = append(gone, j)
		q.txns -= j.Len()
	}
	clear(q.jobs[len(left):])
	q.jobs = left
	if len(gone) > 0 && q.room != nil {
		close(q.room)
		q.room = nil
	}
	return gone
}

// writes says whether anything waits that needs a transaction.
func (q *queue) writes() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs) > 0 || slices.ContainsFunc(q.execs, func(e exec) bool { return e.transaction })
}

// execsWait says whether maintenance requests wait.
func (q *queue) execsWait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.execs) > 0
}

// refuse closes the queue to everything new; what waits stays.
func (q *queue) refuse() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

// refusing says that the queue is closed and nothing is left in it.
func (q *queue) refusing() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && len(q.jobs) == 0 && len(q.execs) == 0
}

// close refuses everything from now on and returns what waits.
func (q *queue) close() ([]Job, []exec) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	jobs, execs := q.jobs, q.execs
	q.jobs, q.execs, q.txns = nil, nil, 0
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
	return jobs, execs
}

// refuses says that the queue is closed to everything new.
func (q *queue) refuses() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// open says that nothing waits, and that the queue is not closed.
func (q *queue) open() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.closed && len(q.jobs) == 0 && len(q.execs) == 0
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs) == 0 && len(q.execs) == 0
}

// jobsWaiting is how many jobs wait.
func (q *queue) jobsWaiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

// waiting is how many transactions wait.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.txns
}

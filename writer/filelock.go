package writer

import (
	"errors"
	"fmt"
	"time"

	"github.com/firndb/firn/schema"
)

// Another process, the sqlite3 shell for one, may have the file's write lock.
// It is waited for on the loop's goroutine alone, and before anything is run:
// the jobs stay in the queue, nothing is stamped or staged, and neither the
// state nor mu is locked. Readers go on meanwhile, and TryRun refuses.
//
// A process that takes the lock between two groups that overlap meets a group
// that has run. Then the committer waits, as long, and readers of the present
// go on; a Barrier waits with it, because the group is stamped.
const (
	firstLockPause = time.Millisecond
	lastLockPause  = 50 * time.Millisecond
	longLockWait   = 100 * time.Millisecond // worth a line in the log
)

// lockWait is a wait for another process. The zero value is none.
type lockWait struct {
	since time.Time
	pause time.Duration // to the next try
	jobs  int           // that waited when it began
	told  bool          // the log has a line
}

// reserve begins the transaction of what runs next, if that has not happened.
// mu is held.
func (w *Writer) reserve() error {
	if w.reserved {
		return nil
	}
	err := w.app.TryBegin()
	switch {
	case errors.Is(err, schema.ErrChanged):
		return fmt.Errorf("%w: begin: %w", ErrInDoubt, err)
	case err != nil:
		return fmt.Errorf("begin: %w", err)
	}
	w.reserved = true
	return nil
}

// awaitReserve is reserve for a group that has run: it waits for another
// process, which can have taken the lock since the group before was committed.
func (w *Writer) awaitReserve() error {
	for {
		err := w.reserve()
		if errors.Is(err, schema.ErrBusy) {
			if pause := w.awaitLock(); pause > 0 {
				time.Sleep(pause)
				continue
			}
		}
		w.locked = lockWait{}
		return err
	}
}

// release ends a transaction that was reserved and has stayed empty.
func (w *Writer) release() {
	if !w.reserved {
		return
	}
	w.reserved = false
	if err := w.app.Rollback(); err != nil {
		w.doubt(fmt.Errorf("%w: roll back: %w", ErrInDoubt, err))
	}
}

// unreserved says when to try again what reserve could not do. When that has
// lasted for too long, or is of no use, those who wait get the error.
func (w *Writer) unreserved(cause error) (pause time.Duration, err error) {
	if errors.Is(cause, ErrInDoubt) {
		return 0, cause // Run tells those who wait
	}
	if errors.Is(cause, schema.ErrBusy) {
		if pause := w.awaitLock(); pause > 0 {
			return pause, nil
		}
	} else {
		w.locked = lockWait{jobs: w.queue.jobsWaiting()}
	}
	jobs, execs := w.queue.cut(w.locked.jobs)
	w.locked = lockWait{}
	if len(jobs) > 0 {
		w.stats.failedGroups.Add(1)
		w.opts.Logger.Warn("a group could not be committed", "jobs", len(jobs), "error", cause)
	}
	answer(jobs, cause)
	return 0, w.turn(nil, execs)
}

// awaitLock is the pause until the next try; 0 when the wait is over.
func (w *Writer) awaitLock() time.Duration {
	l := &w.locked
	if l.since.IsZero() {
		*l = lockWait{since: time.Now(), jobs: w.queue.jobsWaiting()}
	}
	waited := time.Since(l.since)
	if waited >= w.opts.LockWait {
		return 0
	}
	if l.pause == 0 {
		w.stats.lockWaits.Add(1)
	}
	if waited >= longLockWait && !l.told {
		l.told = true
		w.opts.Logger.Warn("another process has locked the file: writes wait", "at_most", w.opts.LockWait)
	}
	l.pause = min(max(2*l.pause, firstLockPause), lastLockPause)
	return min(l.pause, w.opts.LockWait-waited)
}

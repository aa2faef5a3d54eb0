package retention

import (
	"context"
	"errors"
	"time"

	"github.com/firndb/firn/schema"
)

// A slice keeps the writer for so long at once, while there are commits and
// while there are none. Then the writer is left alone for so many times as
// long, and after a page was read, the file.
const (
	busySlice    = 2 * time.Millisecond
	quietSlice   = 20 * time.Millisecond
	leaveWriter  = 8
	leaveReading = 3
	stepItems    = 256 // deleted between two looks at the clock
)

// slice runs fn in a transaction on the write session, which should end soon
// after until, and then leaves the writer to others if there are any.
func (w *pass) slice(fn func(a schema.Appender, until time.Time) error) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	budget := w.c.sizes.quietSlice
	busy := w.busy()
	if busy {
		budget = w.c.sizes.busySlice
	}
	took, err := w.deleteSlice(budget, fn)
	if err != nil || !busy {
		return err
	}
	return w.rest(leaveWriter * took)
}

// errSuspended ends a pass while nothing may be deleted.
var errSuspended = errors.New("retention: suspended")

// deleteSlice runs fn for about a time, and says how long it took with its commit.
// A slice that has begun is waited for, also when the context ends: nobody can
// be told that nothing is deleted any more while it may still be.
func (w *pass) deleteSlice(budget time.Duration, fn func(a schema.Appender, until time.Time) error) (time.Duration, error) {
	w.c.deleting.Lock()
	defer w.c.deleting.Unlock()
	if w.c.suspended.Load() > 0 {
		return 0, errSuspended
	}
	var began time.Time
	err := w.c.opts.Writer.Exec(context.WithoutCancel(w.ctx), func(a schema.Appender) error {
		began = time.Now()
		return fn(a, began.Add(budget))
	})
	return time.Since(began), err
}

// busy is true if anything was committed since it was last asked.
func (w *pass) busy() bool {
	commits := w.c.opts.Commits()
	busy := commits != w.c.seen
	w.c.seen = commits
	return busy
}

// rest leaves the machine to others for some time.
func (w *pass) rest(d time.Duration) error {
	select {
	case <-w.ctx.Done():
	case <-time.After(d):
	}
	return w.ctx.Err()
}

package retention

import (
	"context"
	"errors"
	"time"

	"github.com/firndb/firn/schema"
)

// A slice keeps the writer for as long as nobody wants it, but no longer than
// quietSlice, and for busySlice in any case. While there are commits the writer
// is left alone then for so many times as long, and the file after a page of
// the log was read, or some of what is condemned was sorted.
//
// Slices and pages are short: who is in the way of fifty clients for 4 ms is
// all that the slowest of them see.
const (
	busySlice    = time.Millisecond
	quietSlice   = 20 * time.Millisecond
	leaveWriter  = 8
	leaveReading = 6
	stepItems    = 32 // deleted between two looks at the clock

	// busyFor is how long after a commit the compactor takes it that others will
	// follow.
	busyFor = 20 * time.Millisecond
)

// slice runs fn in a transaction on the write session, which should end soon
// after over says so, and then leaves the writer to others if there are any.
func (w *pass) slice(fn func(a schema.Appender, over func() bool) error) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	took, err := w.deleteSlice(fn)
	if err != nil || !w.busy() {
		return err
	}
	return w.rest(leaveWriter * took)
}

// errSuspended ends a pass while nothing may be deleted.
var errSuspended = errors.New("retention: suspended")

// deleteSlice runs fn, and says how long it took with its commit. A slice that
// has begun is waited for, also when the context ends: nobody can be told that
// nothing is deleted any more while it may still be.
func (w *pass) deleteSlice(fn func(a schema.Appender, over func() bool) error) (time.Duration, error) {
	w.c.deleting.Lock()
	defer w.c.deleting.Unlock()
	if w.c.suspended.Load() > 0 {
		return 0, errSuspended
	}
	var began time.Time
	err := w.c.opts.Writer.Exec(context.WithoutCancel(w.ctx), func(a schema.Appender) error {
		began = time.Now()
		return fn(a, func() bool { return w.c.over(time.Since(began)) })
	})
	return time.Since(began), err
}

// over says whether a slice that has taken so long should end.
func (c *Compactor) over(took time.Duration) bool {
	return took >= c.sizes.quietSlice || took >= c.sizes.busySlice && c.opts.Wanted != nil && c.opts.Wanted()
}

// busy is true if anything was committed lately.
func (w *pass) busy() bool {
	commits, now := w.c.opts.Commits(), time.Now()
	if commits != w.c.seen {
		w.c.seen, w.c.grew = commits, now
	}
	return now.Sub(w.c.grew) < busyFor
}

// breathe leaves the machine to others, if there are any, after reading or
// sorting since began. Only the processor is shared then.
func (w *pass) breathe(began time.Time) error {
	if !w.busy() {
		return w.ctx.Err()
	}
	return w.rest(leaveReading * time.Since(began))
}

// rest leaves the machine to others for some time.
func (w *pass) rest(d time.Duration) error {
	select {
	case <-w.ctx.Done():
	case <-time.After(d):
	}
	return w.ctx.Err()
}

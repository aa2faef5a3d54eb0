package writer

import (
	"context"
	"errors"
	"time"

	"github.com/firndb/firn/schema"
)

// A merge is done in slices of entries, one with each group's commit: twice
// as many as the group has rows, so that a merge ends before the tail has
// filled again, but no more than take a bounded time, see pace.
const (
	minSlice  = 64
	maxSlice  = 4096
	idleSlice = 512 // when nobody waits
)

// sliceFor is how many entries to merge along with a group of rows.
func sliceFor(w *Writer, rows int) int {
	if tailIsLarge(w) {
		return w.pace.within(laggingTime)
	}
	return min(max(2*rows, minSlice), w.pace.within(sliceTime))
}

// mergeLags says that the next group's slice is a large one, which no event
// loop should wait for.
func mergeLags(w *Writer) bool { return w.merger.Active() && tailIsLarge(w) }

func tailIsLarge(w *Writer) bool {
	active, _ := w.opts.Tail.Size()
	return active.Entries >= w.opts.TailEntries || active.Bytes >= w.opts.TailBytes
}

// startMergeIfLarge begins a merge when the tail has passed its size. The
// state is locked and nothing is staged.
func startMergeIfLarge(w *Writer) {
	if tailIsLarge(w) && !w.merger.Active() {
		w.merger.Start(w.opts.State.Counts())
	}
}

// startMerge begins a merge of whatever the tail holds.
func startMerge(w *Writer) bool {
	w.opts.State.Lock()
	defer w.opts.State.Unlock()
	return !w.merger.Active() && w.merger.Start(w.opts.State.Counts())
}

// writeSlice writes n entries at most, in the transaction that is open, and says
// how long that took.
func writeSlice(w *Writer, n int) (time.Duration, error) {
	began := time.Now()
	n, err := w.merger.Write(w.app, n)
	took := time.Since(began)
	if err == nil {
		w.stats.merged.Add(int64(n))
		w.pace.took(n, took)
	}
	return took, err
}

// mergedSlice notes that the slice that was written last is committed.
func mergedSlice(w *Writer) {
	w.merger.Committed()
	if !w.merger.Active() {
		w.stats.merges.Add(1)
	}
}

// mergeSlice merges in a transaction of its own.
func mergeSlice(w *Writer, n int) error {
	w.dirty.Store(true)
	return w.transact(func() error {
		_, err := writeSlice(w, n)
		return err
	}, func() {
		mergedSlice(w)
		w.wal.wrote(int64(n))
	})
}

// mergeIdle merges a slice while nobody waits; false if there is nothing to
// merge, or it did not work.
func mergeIdle(w *Writer) bool {
	if !w.merger.Active() {
		return false
	}
	err := mergeSlice(w, idleSlice)
	w.mergeWaits = errors.Is(err, schema.ErrBusy)
	switch {
	case w.mergeWaits: // for another process; onIdle comes back to it
	case errors.Is(err, ErrInDoubt):
		w.doubt(err)
	case err != nil:
		w.opts.Logger.Warn("merge", "error", err)
	}
	watchWAL(w)
	return err == nil
}

// quiet is how long TryRun must have had nothing to do before a merge goes on
// without commits to go along with.
const quiet = 10 * time.Millisecond

// mergeBetween is mergeIdle for a writer that may be used beside Run.
func mergeBetween(w *Writer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.busyBeside(quiet) && mergeIdle(w)
}

// onIdle is called after nothing has happened for a while. If something is
// left to do, it says when to call it again. What comes from the queue sets
// that time anew; a Barrier does not.
func (w *Writer) onIdle() (again time.Duration) {
	if startMerge(w) {
		for !w.Wanted() && mergeIdle(w) {
		}
	}
	if w.Wanted() {
		return quiet
	}
	switch {
	case w.merger.Active() && w.mergeWaits:
		return w.opts.Idle
	case w.merger.Active():
		return 0 // a slice has failed: what is written next tries again
	}
	vacuumIdle(w)
	if w.Wanted() {
		return quiet
	}
	if !truncateWAL(w) {
		return w.opts.Idle // a reader was in the way
	}
	return 0
}

// Merge merges the tail now, at least what was committed up to a moment. It
// does so between groups, in slices.
func (w *Writer) Merge(ctx context.Context, upTo schema.Timestamp) error {
	for w.opts.Tail.Watermark() < upTo {
		more := true
		err := w.Maintain(ctx, func(schema.Appender) error {
			if more = w.merger.Active() || startMerge(w); more {
				return mergeSlice(w, maxSlice)
			}
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

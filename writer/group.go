package writer

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/schema"
)

// group runs the jobs and commits what they wrote. Its error is fatal.
func (w *Writer) group(jobs []Job) error {
	state := w.opts.State
	state.Lock()
	defer state.Unlock()
	ended := false
	defer func() {
		if !ended { // a job panicked, or ended this goroutine
			state.Abandon()
			answer(jobs, nil, ErrClosed)
		}
	}()
	startMergeIfLarge(w)
	w.slow.begin()
	w.run(jobs)
	rows := state.Seal()
	ended = true
	if len(rows) == 0 {
		state.Abandon()
		answer(jobs, nil, nil)
		return nil
	}
	if err := w.commit(rows); err != nil {
		state.Abandon()
		w.stats.failedGroups.Add(1)
		w.opts.Logger.Warn("a group could not be committed", "rows", len(rows), "error", err)
		answer(jobs, nil, err)
		if errors.Is(err, ErrInDoubt) {
			return err
		}
		return nil
	}
	w.slow.end(w.inline)
	w.dirty.Store(true)
	w.stats.count(w.wrote, len(rows))
	state.Publish()
	answer(jobs, w.lasts, nil)
	return nil
}

// run runs the jobs' transactions in order.
func (w *Writer) run(jobs []Job) {
	state := w.opts.State
	w.lasts, w.wrote = w.lasts[:0], 0
	w.clock.look()
	for _, j := range jobs {
		var last schema.Timestamp
		for i := 0; i < j.Len(); i++ { // a job may grow while it runs
			ts := w.clock.next()
			state.Begin()
			if err := j.Transact(i, ts); err != nil {
				state.Rollback()
			} else if state.Wrote() {
				last = ts
				w.wrote++
			}
		}
		w.lasts = append(w.lasts, last)
	}
}

// answer ends the jobs. lasts may be nil when there is an error, or nothing
// was written.
func answer(jobs []Job, lasts []schema.Timestamp, err error) {
	for i, j := range jobs {
		var last schema.Timestamp
		if lasts != nil {
			last = lasts[i]
		}
		j.Done(last, err)
		jobs[i] = nil
	}
}

// commit appends rows, and a slice of a merge under way, in one transaction.
// If that fails and there was a slice, it tries without: a merge can wait.
func (w *Writer) commit(rows []*schema.Row) error {
	slice := 0
	if w.merger.Active() {
		slice = sliceFor(w, len(rows))
	}
	err := w.commitWith(rows, slice)
	if err != nil && slice > 0 && !errors.Is(err, ErrInDoubt) && !errors.Is(err, schema.ErrBusy) {
		w.opts.Logger.Warn("commit without merging", "error", err)
		err = w.commitWith(rows, 0)
	}
	return err
}

func (w *Writer) commitWith(rows []*schema.Row, slice int) error {
	return w.transact(func() error {
		if err := w.app.Append(rows); err != nil {
			return fmt.Errorf("append %d rows: %w", len(rows), err)
		}
		if slice == 0 {
			return nil
		}
		took, err := writeSlice(w, slice)
		w.slow.merging += took
		return err
	}, func() {
		w.wal.wrote(pagesOf(rows) + int64(slice))
		if slice > 0 {
			w.merger.Committed()
		}
	})
}

// pagesOf is a guess from above how many pages rows dirty.
func pagesOf(rows []*schema.Row) int64 {
	size := int64(0)
	for _, r := range rows {
		size += int64(len(r.ID) + len(r.Value))
	}
	return 1 + int64(len(rows)) + size/walPageBytes
}

// transact runs fn in a transaction on the write session and calls committed
// when it is. An error that matches ErrInDoubt means that nobody knows.
func (w *Writer) transact(fn func() error, committed func()) error {
	if err := w.reserve(); err != nil {
		return err
	}
	w.reserved = false
	err := fn()
	if err == nil {
		if err = w.app.Commit(); err == nil {
			committed()
			return nil
		}
		if !errors.Is(err, schema.ErrBusy) && !errors.Is(err, schema.ErrFull) {
			w.app.Rollback()
			return fmt.Errorf("%w: commit: %w", ErrInDoubt, err)
		}
	}
	if undo := w.app.Rollback(); undo != nil {
		return fmt.Errorf("%w: roll back: %w, after %w", ErrInDoubt, undo, err)
	}
	return err
}

// execOne runs a maintenance request.
func (w *Writer) execOne(e exec) error {
	w.wal.wroteMuch()
	if !e.transaction {
		w.release()
		return e.run(w.app)
	}
	w.dirty.Store(true)
	return w.transact(func() error { return e.run(w.app) }, func() {})
}

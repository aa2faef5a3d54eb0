package writer

import (
	"errors"
	"fmt"
	"time"

	"github.com/firndb/firn/schema"
)

// group is jobs that share a commit, from their first transaction to their
// answers.
type group struct {
	jobs  []Job              // in the order in which they run
	lasts []schema.Timestamp // of each the last transaction's that wrote; 0: none
	ran   int                // transactions
	wrote int                // transactions that wrote

	began   time.Time
	merging time.Duration // what a merge's slice took of the commit
	rows    []*schema.Row // from Seal on
	slice   int           // entries that the commit merges, if it may
	merged  bool          // it has
}

// reset makes the group empty.
func (g *group) reset() {
	clear(g.jobs)
	*g = group{jobs: g.jobs[:0], lasts: g.lasts[:0]}
}

// answer ends the group.
func (g *group) answer(err error) {
	for i, j := range g.jobs {
		last := g.lasts[i]
		if err != nil {
			last = 0
		}
		j.Done(last, err)
	}
	g.reset()
}

// answer ends jobs that were not run.
func answer(jobs []Job, err error) {
	for i, j := range jobs {
		j.Done(0, err)
		jobs[i] = nil
	}
}

// work runs jobs and commits what they wrote: as one group or, where commits
// overlap, as several, of which the later ones may have come meanwhile. However
// it ends, all are answered. Its error is fatal.
func (w *Writer) work(jobs []Job) error {
	state := w.opts.State
	state.Lock()
	defer state.Unlock()
	ended := false
	defer func() {
		if !ended { // a job panicked, or ended this goroutine
			crash(w)
		}
	}()
	startMergeIfLarge(w)
	w.taken = jobs
	err := runTaken(w)
	for found := true; err == nil && found; {
		if found, err = more(w); found {
			err = runTaken(w)
		}
	}
	if err == nil {
		err = w.end()
	}
	if err != nil {
		ground(w)
		answer(w.taken, err)
	}
	w.taken, ended = nil, true
	return err
}

// crash ends what is under way when the goroutine ends that runs jobs: what is
// in the air is decided by its commit, the rest is undone.
func crash(w *Writer) {
	err := ground(w)
	if err == nil {
		err = ErrClosed
	}
	w.opts.State.Abandon()
	w.running.answer(err)
	answer(w.taken, err)
}

// Aloner is a job that may take so long that jobs which came before it should not
// wait for it to be answered.
type Aloner interface{ Alone() bool }

// alone says whether a job is to begin a group.
func alone(j Job) bool {
	a, ok := j.(Aloner)
	return ok && a.Alone()
}

// runTaken runs the jobs that were taken. Its error is fatal.
func runTaken(w *Writer) error {
	w.clock.look()
	for len(w.taken) > 0 {
		if err := fatal(look(w)); err != nil { // before a job begins, which would fail with what has failed
			return err
		}
		j := w.taken[0]
		if len(w.running.jobs) > 0 && alone(j) {
			if err := w.end(); err != nil {
				return err
			}
		}
		w.taken[0], w.taken = nil, w.taken[1:]
		err := w.run(j)
		if err == nil && w.running.ran >= launchAt {
			err = launchLarge(w)
		}
		if fatal(err) != nil {
			return err
		}
	}
	return nil
}

// run runs a job's transactions in order. An error is that of the group
// before, which has failed meanwhile: the job stops there, and was answered.
func (w *Writer) run(j Job) error {
	state, g := w.opts.State, w.running
	if len(g.jobs) == 0 {
		g.began = time.Now()
	}
	n := len(g.jobs)
	g.jobs, g.lasts = append(g.jobs, j), append(g.lasts, 0)
	for i := 0; i < j.Len(); i++ { // a job may grow while it runs
		if err := look(w); err != nil {
			return err
		}
		ts := w.clock.next()
		state.Begin()
		if err := j.Transact(i, ts); err != nil {
			state.Rollback()
		} else if state.Wrote() {
			g.lasts[n] = ts
			g.wrote++
		}
		g.ran++
	}
	return nil
}

// end commits what runs, once nothing is in the air. Its error is fatal.
func (w *Writer) end() error {
	err := ground(w)
	if g := w.running; err == nil && g.wrote == 0 {
		g.answer(nil)
	} else if err == nil {
		seal(w, g)
		err = w.land(g, w.commit(g))
	}
	return fatal(err)
}

// fatal is an error that stops the writer, and nil instead of another.
func fatal(err error) error {
	if errors.Is(err, ErrInDoubt) {
		return err
	}
	return nil
}

// seal ends the running of a group.
func seal(w *Writer, g *group) {
	g.rows = w.opts.State.Seal()
	if w.merger.Active() {
		g.slice = sliceFor(w, len(g.rows))
	}
}

// land ends a group whose commit has ended: it is published and answered, or
// undone, and with it what runs, which may have read what it wrote.
func (w *Writer) land(g *group, err error) error {
	if err != nil {
		w.opts.State.Abandon()
		w.stats.failedGroups.Add(1)
		w.opts.Logger.Warn("a group could not be committed", "rows", len(g.rows), "error", err)
		g.answer(err)
		w.running.answer(err)
		return err
	}
	took := time.Since(g.began)
	w.slow.end(took-g.merging, w.inline)
	if g.merged {
		mergedSlice(w)
	}
	w.dirty.Store(true)
	w.stats.count(g.wrote, len(g.rows))
	w.stats.groupSizes.Add(int64(g.wrote))
	w.stats.groupTimes.Add(int64(took))
	w.opts.State.Publish()
	g.answer(nil)
	return nil
}

// commit appends a group's rows, and a slice of a merge under way, in one
// transaction. If that fails and there was a slice, it tries without: a merge
// can wait.
func (w *Writer) commit(g *group) error {
	if err := w.awaitReserve(); err != nil {
		return err
	}
	err := w.commitWith(g, g.slice)
	if err != nil && g.slice > 0 && !errors.Is(err, ErrInDoubt) && !errors.Is(err, schema.ErrBusy) {
		w.opts.Logger.Warn("commit without merging", "error", err)
		err = w.commitWith(g, 0)
	}
	return err
}

func (w *Writer) commitWith(g *group, slice int) error {
	return w.transact(func() error {
		if err := w.app.Append(g.rows); err != nil {
			return fmt.Errorf("append %d rows: %w", len(g.rows), err)
		}
		if slice == 0 {
			return nil
		}
		took, err := writeSlice(w, slice)
		g.merging += took
		return err
	}, func() {
		w.wal.wrote(pagesOf(g.rows) + int64(slice))
		g.merged = slice > 0
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
		if err = commitFile(w); err == nil {
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

// commitFile commits what is appended. With Always the fsync is a part of that,
// and nearly all of its time.
func commitFile(w *Writer) error {
	if w.opts.Durability != Always {
		return w.app.Commit()
	}
	began := time.Now()
	err := w.app.Commit()
	w.stats.syncTimes.Add(int64(time.Since(began)))
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

package writer

import (
	"context"
	"time"

	"github.com/firndb/firn/schema"
)

// Pages that compaction has freed are used again by what is written next. What
// is more than that goes back to the file system: when the store idles all of
// it, under load only while more than a part of the file is free, a step at a
// time between groups. A page that is moved to fill a gap takes 15 to 35 µs
// and a page of the write-ahead log, so a step under load takes one ms.
const (
	vacuumPart     = 4                     // under load: more than a quarter of the file
	vacuumBeside   = 32                    // under load: pages of a step
	vacuumInterval = 12 * time.Millisecond // under load: between two steps
	vacuumLook     = time.Second           // under load: between two looks at what is free
)

// Vacuum returns up to pages free pages to the file system, between two
// groups, and says how many it returned and how many are left. The file itself
// shrinks with the next checkpoint. A step of VacuumStep pages holds up
// commits for a few ms.
func (w *Writer) Vacuum(ctx context.Context, pages int) (freed, left int64, err error) {
	type result struct{ freed, left int64 }
	done := make(chan result, 1) // the caller may have left
	err = w.Maintain(ctx, func(schema.Appender) error {
		freed, left, err := vacuumPages(w, pages)
		done <- result{freed, left}
		return err
	})
	select {
	case r := <-done:
		return r.freed, r.left, err
	default:
		return 0, 0, err
	}
}

// VacuumStep is how many pages to vacuum at once while others write.
const VacuumStep = 128

// vacuumPages makes a step. mu is held.
func vacuumPages(w *Writer, pages int) (freed, left int64, err error) {
	before, free, err := w.app.Pages()
	if err != nil || free == 0 || pages <= 0 {
		return 0, free, err
	}
	w.dirty.Store(true)
	w.wal.wrote(2 * int64(pages)) // what is moved, and what points to it
	if _, err := w.app.Vacuum(pages); err != nil {
		return 0, free, err
	}
	after, left, err := w.app.Pages()
	freed = max(before-after, 0)
	w.stats.vacuumed.Add(freed)
	return freed, left, err
}

// vacuumBetween is called between groups: now and then it makes a step, if
// enough is free.
func vacuumBetween(w *Writer) {
	now := time.Now()
	if now.Before(w.nextVacuum) {
		return
	}
	w.nextVacuum = now.Add(vacuumLook)
	total, free, err := w.app.Pages()
	if err == nil && free > total/vacuumPart {
		w.nextVacuum = now.Add(vacuumInterval)
		_, _, err = vacuumPages(w, vacuumBeside)
	}
	if err != nil {
		w.opts.Logger.Warn("vacuum", "error", err)
	}
}

// vacuumIdle returns everything while nobody waits.
func vacuumIdle(w *Writer) {
	for !w.Wanted() {
		freed, _, err := vacuumPages(w, VacuumStep)
		if err != nil {
			w.opts.Logger.Warn("vacuum", "error", err)
		}
		if err != nil || freed == 0 {
			return
		}
		watchWAL(w)
	}
}

package firn

import (
	"context"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/writer"
)

// Vacuum returns the pages that were free when it was called to the file
// system, and says how many bytes that were. It works in steps of a few ms, so
// that writes go on, and then empties the write-ahead log; if a reader is in
// the way of that, the file shrinks with a later checkpoint. Nothing depends
// on it: an idle store does the same by itself, and a busy one while more than
// a quarter of its file is free. If ctx ends it stops after the step.
func (s *Store) Vacuum(ctx context.Context) (freed int64, err error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	ctx, end, err := s.upkeep.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	for step, steps := int64(0), int64(1); step < steps; step++ {
		if err := ctx.Err(); err != nil {
			return freed, upkeepError(ctx, err)
		}
		n, left, err := s.writer.Vacuum(context.WithoutCancel(ctx), writer.VacuumStep)
		if err != nil {
			return freed, writeError(err)
		}
		if step == 0 {
			steps += (left + writer.VacuumStep - 1) / writer.VacuumStep
		}
		freed += n * pageBytes
	}
	_, _, err = s.Truncate(ctx)
	return freed, upkeepError(ctx, err)
}

// Truncate is Checkpoint, and empties the write-ahead log's file if nobody
// reads from it. It says how many pages were in the log, and how many of those
// are in the database file now; a reader, of this process or another, keeps
// the rest.
func (s *Store) Truncate(ctx context.Context) (logged, moved int64, err error) {
	if s.closed.Load() {
		return 0, 0, ErrClosed
	}
	if _, err := s.engine.Checkpoint(); err != nil { // most of it, while commits go on
		return 0, 0, writeError(err)
	}
	done := make(chan schema.CheckpointResult, 1) // the caller may have left
	err = s.writer.Maintain(ctx, func(a schema.Appender) error {
		r, err := a.Checkpoint()
		done <- r
		if err == nil && !r.Busy {
			_, err = a.Truncate()
		}
		return err
	})
	select {
	case r := <-done:
		return r.LogPages, r.MovedPages, writeError(err)
	default:
		return 0, 0, writeError(err)
	}
}

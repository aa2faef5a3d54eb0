package firn

import (
	"context"

	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// newCompactor makes the store's compactor; tables are all that the file knows.
func newCompactor(s *Store, tables map[schema.TableID]*retention.Table) *retention.Compactor {
	return retention.NewCompactor(retention.CompactorOptions{
		Engine: s.engine, Writer: s.writer, State: &s.state, Now: s.opts.Now, Logger: s.opts.Logger,
		Table:    func(id schema.TableID) *retention.Table { return tables[id] },
		Held:     s.held.Oldest,
		Bound:    func() Timestamp { return prunable(s) },
		Merge:    s.writer.Merge,
		Newest:   s.head.Newest,
		Commits:  func() int64 { return s.writer.Stats().Commits },
		Wanted:   s.writer.Wanted,
		Passing:  s.writer.Clock().Pass,
		Begins:   func() { s.journal.Passes() },
		MaxBytes: s.opts.HistoryMaxBytes,
		Used:     func() (int64, error) { return usedBytes(s) },
	})
}

// prunable is the newest moment up to which replaced versions may be deleted:
// their entries are in the indexes, and nobody reads them.
func prunable(s *Store) Timestamp {
	// The newest commit before the pins: a view that begins in between reads it
	// or a later one.
	newest := s.head.Newest()
	return min(newest, s.tail.Watermark(), s.pins.Oldest())
}

// Compact forgets now what the policies do not keep, and returns how many
// versions were deleted. The store does it by itself as time passes.
func (s *Store) Compact(ctx context.Context) (versions int64, err error) {
	return runCompaction(s, ctx, s.compactor.Compact)
}

// Prune forgets what was replaced at or before a moment, whatever the policies
// say, but nothing that a hold keeps; and returns how many versions were
// deleted.
func (s *Store) Prune(ctx context.Context, before Timestamp) (versions int64, err error) {
	return runCompaction(s, ctx, func(ctx context.Context) (retention.Report, error) {
		return s.compactor.Prune(ctx, before)
	})
}

// Forget forgets the versions of a document that were replaced at or before a
// moment, and what they owned: the document can be read from then on. The
// present stays, and what a hold keeps. It returns how many versions were
// deleted.
//
// From the start nobody who comes can read what is forgotten. Those who read an
// earlier moment by then, and a backup, are waited for before anything is
// deleted: Forget must not be called by one of them, inside View, At or Update.
// If ctx ends before they do, calling it again deletes what is left; if the
// store ends, the error is retention.ErrUnfinished.
func (s *Store) Forget(ctx context.Context, t *Table, id []byte, before Timestamp) (versions int64, err error) {
	if t == nil {
		return 0, errNoTable
	}
	scope := t.scope(string(id))
	return runCompaction(s, ctx, func(ctx context.Context) (retention.Report, error) {
		before := min(before, s.head.Newest())
		if err := forgetScope(s, ctx, scope, before); err != nil {
			return retention.Report{}, err
		}
		if err := retention.WaitUntil(ctx, s.pins.Before(before).Ended); err != nil {
			return retention.Report{}, err
		}
		return s.compactor.Forget(ctx, t.def.ID, string(id), min(before, s.tail.Watermark()))
	})
}

func runCompaction(s *Store, ctx context.Context, run func(context.Context) (retention.Report, error)) (int64, error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	if s.opts.ReadOnly {
		return 0, errReadOnly
	}
	ctx, end, err := s.upkeep.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := s.writer.Merge(ctx, s.head.Newest()); err != nil {
		return 0, upkeepError(ctx, err)
	}
	r, err := run(ctx)
	return r.Rows, upkeepError(ctx, err)
}

// usedBytes is how much of the file is not free.
func usedBytes(s *Store) (int64, error) {
	size, free, err := spaceOf(s)
	return size - free, err
}

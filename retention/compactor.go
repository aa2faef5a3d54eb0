package retention

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/schema"
)

// CompactorOptions configure a Compactor. All are required, unless they say
// what their zero value means.
type CompactorOptions struct {
	Engine schema.Engine
	Writer Executor
	State  *State
	Table  func(schema.TableID) *Table // every table that the log knows
	Now    func() time.Time
	Logger *slog.Logger

	// Held is the oldest moment that a hold keeps, MaxTimestamp if there is
	// none. No horizon passes it.
	Held func(now time.Time) schema.Timestamp

	// Bound is the newest moment up to which versions may be deleted. Versions
	// that were replaced later may be read by somebody, or their entries are not
	// in the indexes yet.
	Bound func() schema.Timestamp

	// Merge brings everything that was committed up to ts, or more, into the
	// indexes in the file; nil: it is there.
	Merge func(ctx context.Context, ts schema.Timestamp) error

	// Newest is the last commit; nil: it is not known.
	Newest func() schema.Timestamp

	// Commits counts the store's commits: as long as it grows, the compactor
	// leaves most of the time to them.
	Commits func() int64

	// Wanted says whether anybody waits for the writer: a slice then ends soon;
	// nil: nobody does.
	Wanted func() bool

	// Passing is told that a horizon moves to ts before it does, so that no
	// later commit is stamped before it.
	Passing func(ts schema.Timestamp)

	// Begins is told that a pass begins, before it moves any horizon; nil: nobody
	// is told. It must not wait for anybody.
	Begins func()

	// MaxBytes is how much of the file may be used before history is shortened
	// to make room; 0 is no bound. Used says how much is.
	MaxBytes int64
	Used     func() (bytes int64, err error)
}

// Compactor forgets what the policies do not keep, in passes: one for each
// policy that is in use.
//
//   - A horizon moves in the file before anything behind it is deleted.
//   - The cursor is saved in the transaction that deletes what is before it.
//     Doing a step twice is harmless.
//   - Deletions go through the writer in slices; while there are commits, most
//     of the time is left to them.
//   - An error ends a pass, not Run: it is logged, counted, and tried again
//     after a while.
//
// The zero Compactor is not valid; NewCompactor makes one. mu is held while a
// pass runs.
type Compactor struct {
	opts  CompactorOptions
	mu    sync.Mutex
	wake  chan struct{} // capacity 1: a pass is wanted soon
	stats compactorStats
	sizes sizes
	seen  int64     // commits when it was last looked at them; guarded by mu
	grew  time.Time // when there were more than before; guarded by mu

	suspended atomic.Int32 // calls of Suspend that were not taken back
	deleting  sync.Mutex   // held while a slice is deleted
	told      time.Time    // when the log was told of shorter history; guarded by mu
}

// NewCompactor makes a compactor. Nothing happens until Run, or Compact.
func NewCompactor(o CompactorOptions) *Compactor {
	return &Compactor{opts: o, wake: make(chan struct{}, 1), sizes: defaultSizes}
}

// How often a pass begins, and how long after one that has failed.
const (
	passSteps = 100 // within the shortest age that is kept
	minPass   = time.Second
	maxPass   = time.Minute
	maxRetry  = time.Minute
)

// Run makes passes until ctx ends, and returns nil.
func (c *Compactor) Run(ctx context.Context) error {
	timer := time.NewTimer(c.interval())
	defer timer.Stop()
	retry := minPass
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-c.wake:
		}
		_, err := c.Compact(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.opts.Logger.Error("compaction has failed, and will be tried again", "error", err, "in", retry)
			timer.Reset(retry)
			retry = min(2*retry, maxRetry)
		default:
			timer.Reset(c.interval())
			retry = minPass
		}
	}
}

// Wake makes Run begin a pass soon.
func (c *Compactor) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Suspend keeps everything from being deleted until resume is called. It waits
// for the slice that is being deleted, not for the pass: that ends without an
// error, and another begins soon after resume. What a chunk has condemned and
// not deleted is condemned again then.
//
// Pins are for those who read at a moment. Suspend is for those who read
// the file itself, and so see how far a chunk is.
func (c *Compactor) Suspend() (resume func()) {
	c.suspended.Add(1)
	c.deleting.Lock() // no slice that did not see it is under way once this is ours
	defer c.deleting.Unlock()
	return func() {
		c.suspended.Add(-1)
		c.Wake()
	}
}

// interval is the time between two passes.
func (c *Compactor) interval() time.Duration {
	every := maxPass
	if c.opts.MaxBytes > 0 {
		every = minPass
	}
	for _, p := range c.opts.State.usedPolicies() {
		switch {
		case p.Age > 0:
			every = min(every, p.Age/passSteps)
		case p != Policy{}:
			every = minPass
		}
	}
	return max(every, minPass)
}

// Compact makes one pass now: it moves the horizons to where they belong and
// deletes what is behind them.
func (c *Compactor) Compact(ctx context.Context) (Report, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := c.begin()
	report, err := c.pass(ctx)
	if err == nil && c.opts.MaxBytes > 0 {
		err = c.shorten(ctx, &report)
	}
	report.Elapsed = time.Since(began)
	c.stats.ended(report, err)
	return report, err
}

// begin says that a pass begins, and when.
func (c *Compactor) begin() time.Time {
	if c.opts.Begins != nil {
		c.opts.Begins()
	}
	return time.Now()
}

// pass applies every policy that is in use.
func (c *Compactor) pass(ctx context.Context) (report Report, err error) {
	for _, p := range c.opts.State.usedPolicies() {
		if err := c.moveHorizon(ctx, p); err != nil {
			return report, err
		}
		if p.Age > 0 {
			if err := c.merge(ctx, c.opts.State.Progress(p).Horizon); err != nil {
				return report, err
			}
		}
		r, err := c.apply(ctx, p)
		report.add(r)
		if err == errSuspended {
			return report, nil // resume wakes the compactor
		}
		if err != nil {
			return report, fmt.Errorf("apply %s: %w", p, err)
		}
	}
	return report, nil
}

// moveHorizon moves a policy's horizon to where time has brought it.
func (c *Compactor) moveHorizon(ctx context.Context, p Policy) error {
	return c.opts.State.Change(func() error { return c.moveHorizonLocked(ctx, p) })
}

func (c *Compactor) moveHorizonLocked(ctx context.Context, p Policy) error {
	now := c.opts.Now()
	progress := c.opts.State.Progress(p)
	target := progress.Horizon
	switch {
	case p.Age > 0:
		target = schema.TimestampOf(now.Add(-p.Age))
		if target-progress.Horizon < schema.Timestamp(p.Age.Microseconds()/passSteps) {
			return nil
		}
		if progress.Horizon > 0 && progress.Horizon >= c.newest() {
			return nil // there is nothing more to forget, and a store that idles should not be written
		}
	case p.Off:
		target = c.opts.Bound()
	}
	target = min(target, c.opts.Held(now))
	if target <= progress.Horizon {
		return nil
	}
	return c.advance(ctx, p, target)
}

func (c *Compactor) advance(ctx context.Context, p Policy, horizon schema.Timestamp) error {
	c.opts.Passing(horizon)
	progress := c.opts.State.Progress(p)
	progress.Horizon = horizon
	return c.opts.State.advance(ctx, c.opts.Writer, p, progress)
}

// Prune forgets what was replaced at or before a moment, whatever the
// policies say, unless it is held; and says what was deleted.
func (c *Compactor) Prune(ctx context.Context, before schema.Timestamp) (Report, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := c.begin()
	var report Report
	err := c.pruneTo(ctx, before)
	if err == nil {
		report, err = c.pass(ctx)
	}
	report.Elapsed = time.Since(began)
	c.stats.ended(report, err)
	return report, err
}

// pruneTo moves all horizons to a moment.
func (c *Compactor) pruneTo(ctx context.Context, to schema.Timestamp) error {
	return c.opts.State.Change(func() error {
		to = min(to, c.opts.Held(c.opts.Now()))
		for _, p := range c.opts.State.usedPolicies() {
			if to <= c.opts.State.Progress(p).Horizon {
				continue
			}
			if err := c.advance(ctx, p, to); err != nil {
				return err
			}
		}
		return nil
	})
}

// newest is the last commit, if that is known.
func (c *Compactor) newest() schema.Timestamp {
	if c.opts.Newest == nil {
		return schema.MaxTimestamp
	}
	return c.opts.Newest()
}

// merge brings what was committed up to ts into the indexes.
func (c *Compactor) merge(ctx context.Context, ts schema.Timestamp) error {
	if c.opts.Merge == nil {
		return nil
	}
	if err := c.opts.Merge(ctx, min(ts, c.newest())); err != nil {
		return fmt.Errorf("merge up to %d: %w", ts, err)
	}
	return nil
}

// behind is the position behind everything that was committed at ts.
func behind(ts schema.Timestamp) schema.Cursor { return schema.Cursor{TS: ts + 1} }

// read calls fn with a session in a read transaction of its own.
func (c *Compactor) read(fn func(schema.Session) error) error {
	s, err := c.opts.Engine.Session()
	if err != nil {
		return err
	}
	defer s.Close()
	return reading(s, func() error { return fn(s) })
}

// reading calls fn in a read transaction of a session.
func reading(s schema.Session, fn func() error) (err error) {
	if err := s.Begin(); err != nil {
		return err
	}
	defer func() {
		if end := s.End(); err == nil {
			err = end
		}
	}()
	return fn()
}

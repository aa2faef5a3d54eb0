package firn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/writer"
)

// Store is an open store. It is safe for concurrent use.
//
// What is read with Record, RecordAt and Subscribe is known to be stale when it
// is, see [journal.Watching].
//
// Open starts its goroutines: the writer and its helpers, the compactor, one
// that learns which ids there are, one that calls who follows and one that finds
// who has read what a commit changes. Close stops and joins them; every write
// that was accepted is answered first.
type Store struct {
	opts        Options
	engine      *schema.SQLite
	incarnation string
	tables      map[string]*Table
	stored      []string // names of the tables that the file had when it was opened
	tail        *index.Tail
	head        *reader.Head
	writer      *writer.Writer
	internal    internalTables
	state       retention.State
	held        retention.Holds
	pins        retention.Pins
	compactor   *retention.Compactor
	authors     authors
	updates     sync.Pool // of *update
	picture     picture   // Options.ReadOnly
	copying     copying   // Backup
	upkeep      upkeep
	journal     *journal.Journal
	matcher     *journal.Matcher
	*watching
	workers journal.Workers // of Subscribe

	stop context.CancelFunc
	run  *errgroup.Group

	closed   atomic.Bool // Close was called
	closing  sync.Once
	closeErr error // of the first Close; guarded by closing
}

// watching gives a Store the methods Record, RecordAt, Watch and Subscribe.
type watching = journal.Watching[*Snapshot]

// Close ends the store: writes that wait are done, the rest is ErrClosed, and
// so are reads that begin from now on. It returns the error that had stopped
// the writer, if any, and the same when it is called again.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.closing.Do(func() { s.closeErr = closeStore(s) })
	return s.closeErr
}

func closeStore(s *Store) error {
	s.EndMaintenance()
	s.journal.Close()
	s.stop()
	err := s.run.Wait()
	s.workers.Wait() // everything is stale, and all subscriptions learn that the store is closed
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, s.picture.close(), s.head.Close(), s.engine.Close())
}

// Tables are the names of the tables that the file had when it was opened,
// declared or not, in order. Those that begin with "firn." are the store's own.
func (s *Store) Tables() []string { return slices.Clone(s.stored) }

// Table is a declared table; nil if the store was opened without declaring it.
// Of a store that is open for reading only it is any table of the file, but
// what was not declared can be read by id alone, and as if it had no Scope.
func (s *Store) Table(name string) *Table { return s.tables[name] }

// View calls fn with the present: everything committed so far, and nothing
// that is committed while fn runs. It returns fn's error.
func (s *Store) View(fn func(*Snapshot) error) error { return present(s, false, fn) }

// Peek is View confined to memory: it never waits for the disk. A read whose
// answer is not in memory returns ErrCold, which fn must pass on.
// A store that is open for reading only always returns ErrCold.
func (s *Store) Peek(fn func(*Snapshot) error) error { return present(s, true, fn) }

func present(s *Store, hot bool, fn func(*Snapshot) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if hot && s.opts.ReadOnly {
		return ErrCold // whole asks the file
	}
	snap := newSnapshot(s)
	defer snap.close()
	if hot {
		snap.own.Reset(s.head, true) // nothing is deleted from memory
		return fn(snap)
	}
	snap.gate.pin = s.pins.Pin(snap.seat) // before the view chooses its moment
	snap.own.Reset(s.head, false)
	snap.gate.pinTo(snap.own.Timestamp())
	return whole(s, s.picture.asOf, fn(snap))
}

// At calls fn with the store as it was at a moment, and returns fn's error.
// Moments before the horizon are a *CompactedError, those that have not come
// yet a *FutureError. Where scopes have policies of their own, At goes back to
// the earliest horizon of all, and what is read is a *CompactedError if its
// own is later. It must not be called inside Update; Tx.At is for that.
func (s *Store) At(ts Timestamp, fn func(*Snapshot) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := settle(s, ts); err != nil {
		return err
	}
	return atMoment(s, ts, ts, fn)
}

// atMoment is the store at ts, of which what was committed up to see is seen.
func atMoment(s *Store, ts, see Timestamp, fn func(*Snapshot) error) error {
	snap := newSnapshot(s)
	defer snap.close()
	g := &snap.gate
	g.at, g.pin = ts, s.pins.Pin(snap.seat) // before the horizon is looked at: see retention.Pins
	if err := g.anything(); err != nil {
		return err
	}
	g.past, g.mixed = true, !s.state.Uniform(ts)
	g.pinTo(see)
	snap.own.ResetAt(s.head, see)
	snap.moment = ts
	return whole(s, ts, fn(snap))
}

// settle makes sure that a moment is over: that it is not after now, and that
// no transaction will ever be stamped at or before it.
func settle(s *Store, ts Timestamp) error {
	newest := s.head.Newest()
	if ts <= newest {
		return nil
	}
	if ts > s.writer.Clock().Now() {
		return &FutureError{Asked: ts, Newest: s.Bounds().Newest}
	}
	s.writer.Clock().Pass(ts)
	if s.opts.ReadOnly {
		return nil
	}
	// A group that is under way may have been stamped before: wait for it.
	return s.writer.Barrier()
}

// Update runs fn as a transaction and commits what it wrote. It returns the
// transaction's timestamp when that is as durable as Options.Durability says;
// 0 if it wrote nothing. fn's error is returned as it is, and leaves no
// trace.
//
// If ctx ends while the write waits for room in the queue, nothing happens;
// later, the error matches ErrInDoubt: the write may still be done.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) (Timestamp, error) {
	if s.opts.ReadOnly {
		return 0, errReadOnly
	}
	u, pooled := s.updates.Get().(*update)
	if !pooled {
		u = &update{reply: make(chan updated, 1)}
	}
	u.fn, u.failed, u.panicked = fn, nil, nil
	u.job.store, u.job.batch = s, u
	if err := s.writer.SubmitWait(ctx, &u.job); err != nil {
		return 0, writeError(err)
	}
	select {
	case r := <-u.reply:
		failed, panicked := u.failed, u.panicked
		u.fn = nil
		s.updates.Put(u)
		if panicked != nil {
			panic(panicked)
		}
		if failed != nil {
			return 0, failed
		}
		return r.ts, r.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", ErrInDoubt, ctx.Err())
	}
}

// Submit hands a batch of transactions to the writer and returns. It never
// waits: when too much does already, it returns ErrBusy, and after Close
// ErrClosed. If it returns nil, the batch's Done will be called.
func (s *Store) Submit(b Batch) error {
	if s.opts.ReadOnly {
		return errReadOnly
	}
	j := jobs.Get().(*job)
	j.store, j.batch = s, b
	if err := s.writer.Submit(j); err != nil {
		j.release()
		return writeError(err)
	}
	return nil
}

// TrySubmit runs and commits the batch at once, on the caller's goroutine, if
// no other write is under way and commits are quick at the moment, and has
// called Done when it returns true; otherwise it has done nothing. For small
// batches that saves more than it costs: waking the writer and being woken by
// it takes longer than a commit on a fast disk.
func (s *Store) TrySubmit(b Batch) bool {
	if s.opts.ReadOnly {
		return false
	}
	j := jobs.Get().(*job)
	j.store, j.batch = s, b
	if !s.writer.TryRun(j) {
		j.release()
		return false
	}
	return true
}

// writeError makes a locked file a kind of ErrBusy.
func writeError(err error) error {
	if errors.Is(err, schema.ErrBusy) {
		return lockedError{err}
	}
	return err
}

// Checkpoint moves what the write-ahead log has into the database file, as far
// as no reader needs the old pages, and waits for the disk. Nothing depends on
// it: the store does the same by itself when the log has grown.
func (s *Store) Checkpoint(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if s.opts.ReadOnly {
		return errReadOnly
	}
	if _, err := s.engine.Checkpoint(); err != nil { // most of it, while commits go on
		return writeError(err)
	}
	return writeError(s.writer.Maintain(ctx, func(a schema.Appender) error {
		_, err := a.Checkpoint()
		return err
	}))
}

// Token names ts in this store's line of history, for a client to keep.
func (s *Store) Token(ts Timestamp) string { return s.journal.Token(ts) }

// Bounds is how far a store's history reaches.
type Bounds struct {
	Began       Timestamp // when the store was made
	Oldest      Timestamp // the horizon: the oldest moment that can be read
	Newest      Timestamp // of the last commit; the horizon if there was none
	Incarnation string    // the random id of this line of history
}

// Bounds are the present bounds.
func (s *Store) Bounds() Bounds {
	oldest := s.state.Oldest()
	return Bounds{Began: s.state.Created(), Oldest: oldest, Newest: max(s.head.Newest(), oldest), Incarnation: s.incarnation}
}

// pageBytes is the size of the file's pages.
const pageBytes = 4096

// Package writer is the actor that all writes go through.
//
// Callers submit jobs: transactions that run one after the other on the state
// in memory. The writer takes the jobs that wait as a group, runs their
// transactions, appends the rows of those that succeeded in one SQLite
// transaction, publishes them, and answers every job. A transaction that
// fails leaves no trace; a commit that fails undoes the whole group.
//
// Between groups, in bounded slices, it merges the index tail, and it bounds
// the write-ahead log by checkpoints: the bulk is moved by a goroutine beside
// it, and the writer only finishes the rest while nothing is appended.
//
// The writer knows rows and timestamps. What a transaction is, and what it
// reads, is the business of [State] and of the jobs.
package writer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// Errors of this package. Callers test them with errors.Is.
var (
	// ErrClosed means the writer has stopped, or stops; nothing was written.
	ErrClosed = errors.New("firn: store is closed")

	// ErrBusy means the queue is full; nothing was written. It is not
	// schema.ErrBusy, which is about the file.
	ErrBusy = errors.New("firn: too many writes are waiting")

	// ErrInDoubt means a commit or an fsync failed in a way that leaves its
	// outcome unknown. The writer has stopped; opening the store again decides
	// from the file.
	ErrInDoubt = errors.New("firn: outcome unknown")
)

// Durability is what a positive answer promises.
type Durability int

const (
	// Always answers after an fsync, shared by the group.
	Always Durability = iota
	// EverySecond answers after the commit and fsyncs at least once a second:
	// a power cut may take the last second.
	EverySecond
	// None leaves fsync to the operating system and to checkpoints.
	None
)

// Batch is transactions to be run one after the other in one group. All of it
// is called on the goroutine that runs transactions. Tx is what a transaction
// is given.
type Batch[Tx any] interface {
	// Len is how many transactions there are, at least 1. It is asked again
	// before each: a batch may grow while it runs.
	Len() int

	// Transact runs the i-th. An error undoes what this transaction has
	// written; the batch goes on. tx is valid until Transact returns. Those
	// before may not be committed yet, also of batches that came before; if
	// they cannot be, the rest of the batch is not run.
	Transact(i int, tx Tx) error

	// Done is called exactly once, and must not block. If err is nil, what was
	// written is committed and as durable as was asked for; last is the
	// timestamp of the last transaction that wrote, 0 if none did. Otherwise
	// nothing of the batch was kept, or, if err matches ErrInDoubt, that is not
	// known.
	Done(last schema.Timestamp, err error)
}

// Job is a batch as the writer knows it: of a transaction it knows when it is.
type Job = Batch[schema.Timestamp]

// State is what transactions run on. The writer calls it from one goroutine,
// everything but Offered between Lock and Unlock.
//
// While the rows of a group that has run are committed, those of the next one
// may be staged upon them: one group at most is sealed, and one runs.
type State interface {
	Lock()
	Begin()               // a transaction starts
	Wrote() bool          // it has staged something
	Rollback()            // it failed: undo what it has staged
	Seal() []*schema.Row  // the group has run: its rows, by timestamp, which no one changes
	Publish()             // the sealed rows are committed; what runs stays
	Abandon()             // they could not be committed: undo what runs, then them
	Counts() index.Counts // as published
	Offered() bool        // the next Lock has something to take over
	Unlock()              // nothing is sealed, nor staged
}

// Options configure a Writer. All fields but Logger and those with a default
// are required.
type Options struct {
	Engine schema.Engine
	State  State
	Tail   *index.Tail
	Tables map[schema.TableID]*index.Table // those whose ranges are counted when the tail is merged
	Newest schema.Timestamp                // of the log; every commit is later

	Durability Durability
	Now        func() time.Time
	Logger     *slog.Logger

	MaxQueue    int   // transactions that may wait; default 65,536
	TailEntries int   // entries in the tail that start a merge; default 1,048,576
	TailBytes   int64 // approximate memory of the tail that starts one; default 64 MiB

	// WALMaxBytes bounds the write-ahead log's file; default 256 MiB. Only a
	// reader that does not let go, or one group that is larger, exceeds it.
	WALMaxBytes int64

	// LockWait is how long a job waits, at least, for another process that has
	// the file's write lock, before it gets schema.ErrBusy; default 5 s,
	// negative: not at all.
	LockWait time.Duration

	// Idle is how long nothing must have happened before the writer merges the
	// tail and empties the write-ahead log; default 1 s.
	Idle time.Duration
}

const (
	defaultMaxQueue    = 1 << 16
	defaultTailEntries = 1 << 20
	defaultTailBytes   = 64 << 20
	defaultWALMaxBytes = 256 << 20
	defaultLockWait    = 5 * time.Second
	defaultIdle        = time.Second

	// maxGroup bounds the transactions of a group, and with it how long its
	// first waits for its last.
	maxGroup = 4096
)

func (o Options) withDefaults() Options {
	if o.MaxQueue == 0 {
		o.MaxQueue = defaultMaxQueue
	}
	if o.TailEntries == 0 {
		o.TailEntries = defaultTailEntries
	}
	if o.TailBytes == 0 {
		o.TailBytes = defaultTailBytes
	}
	if o.WALMaxBytes == 0 {
		o.WALMaxBytes = defaultWALMaxBytes
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Writer serializes all writes.
//
//   - mu is the right to write: whoever holds it owns the write session, and
//     everything here that no other lock guards. Run takes it for each turn,
//     TryRun for its own.
//   - Run answers every job that Submit accepted, also when it is told to
//     stop: what waits then is run first.
//   - Timestamps strictly increase from transaction to transaction.
//   - After an outcome in doubt nothing is written any more.
type Writer struct {
	opts   Options
	app    schema.Appender
	clock  *Clock
	queue  *queue
	merger *index.Merger
	pace   pace // of merging
	wal    *wal
	dirty  atomic.Bool // commits that no fsync has covered yet
	fatal  atomic.Pointer[error]
	stats  stats

	mu         lock
	nextVacuum time.Time    // when to look at free pages again, under load
	beside     atomic.Int64 // when TryRun last ran something, in Unix nanoseconds
	barriers   atomic.Int64 // calls of Barrier that wait for mu
	reserved   bool         // a transaction has begun, and nothing is in it yet
	locked     lockWait     // for another process
	mergeWaits bool         // for another process: the last slice of an idle merge
	alone      [1]Job       // scratch: what TryRun runs
	inline     bool         // TryRun is under way: nothing waits for readers
	slow       slowness     // of groups lately, which keeps TryRun away
	crowd      crowd        // of the loop's goroutine
	groups     [2]group     // one runs, one may be in the air
	running    *group
	taken      []Job // from the queue, and not run yet
	buffer     []Job // scratch: taken's
	air        air
	pressed    bool // requests wait for the jobs of this turn, and no others
}

// New makes a writer. Nothing happens until Run.
func New(o Options) *Writer {
	o = o.withDefaults()
	w := &Writer{
		opts:   o,
		app:    o.Engine.Appender(),
		clock:  NewClock(o.Now, o.Newest),
		queue:  newQueue(o.MaxQueue),
		merger: index.NewMerger(o.Tail, o.Tables),
		wal:    newWAL(o.WALMaxBytes),
		mu:     newLock(),
		air:    newAir(),
	}
	w.running = &w.groups[0]
	return w
}

// Clock is the clock that commits are stamped by.
func (w *Writer) Clock() *Clock { return w.clock }

// Submit hands a job over. A nil error means that Done will be called.
func (w *Writer) Submit(j Job) error { return w.submitted(w.queue.push(j)) }

// SubmitWait is Submit, but waits while the queue is full. If ctx ends first
// the job was not accepted.
func (w *Writer) SubmitWait(ctx context.Context, j Job) error {
	return w.submitted(w.queue.pushWait(ctx, j))
}

// Exec runs fn between groups, in a transaction of its own on the write
// session. It returns when that is committed, or not.
func (w *Writer) Exec(ctx context.Context, fn func(schema.Appender) error) error {
	return w.exec(ctx, exec{run: fn, transaction: true})
}

// Maintain runs fn between groups, outside a transaction: for checkpoints and
// vacuuming.
func (w *Writer) Maintain(ctx context.Context, fn func(schema.Appender) error) error {
	return w.exec(ctx, exec{run: fn})
}

// Barrier returns when no group is under way that was stamped before the call:
// a moment that Clock.Pass has ended is complete then. It is no write, and
// neither wakes the writer nor keeps it from idling.
func (w *Writer) Barrier() error {
	w.barriers.Add(1)
	w.mu.Lock()
	w.barriers.Add(-1)
	w.mu.Unlock()
	if w.queue.refuses() {
		return w.submitted(ErrClosed)
	}
	return nil
}

// Wanted says whether somebody waits for what the writer does between groups to
// end.
func (w *Writer) Wanted() bool { return w.barriers.Load() > 0 || !w.queue.empty() }

func (w *Writer) exec(ctx context.Context, e exec) error {
	e.done = make(chan error, 1) // answering never blocks
	if err := w.submitted(w.queue.pushExec(e)); err != nil {
		return err
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrInDoubt, ctx.Err())
	}
}

// submitted tells a closed queue from a writer that has failed.
func (w *Writer) submitted(err error) error {
	if err != nil {
		if cause := w.fatal.Load(); cause != nil {
			return *cause
		}
	}
	return err
}

// Run commits groups until ctx ends; then it runs what waits, merges, empties
// the write-ahead log and returns nil. It returns ErrInDoubt when the outcome
// of a commit is not known, and then leaves the file as it is. Run must be
// called once.
func (w *Writer) Run(ctx context.Context) error {
	aside, cancel := context.WithCancel(context.Background())
	stop := func() { cancel(); close(w.air.take) }
	beside, _ := errgroup.WithContext(aside)
	beside.Go(func() error { runCheckpoints(w, aside); return nil })
	if w.opts.Durability != Always {
		beside.Go(func() error { runSyncs(w, aside); return nil })
		beside.Go(func() error { runCommits(w); return nil })
	}
	ended := false
	defer func() {
		if !ended { // a job panicked, or ended this goroutine: tell everyone else
			w.fail(fmt.Errorf("%w: a transaction ended the writer's goroutine", ErrClosed))
			stop()
		}
	}()
	err := w.loop(ctx)
	ended = true
	stop()
	beside.Wait()
	if err == nil {
		err = w.failure() // of the last fsync
	}
	if err == nil {
		err = w.finish()
	}
	return err
}

// loop takes groups until ctx has ended and the queue is empty.
func (w *Writer) loop(ctx context.Context) error {
	idle := time.NewTimer(w.opts.Idle)
	defer idle.Stop()
	defer context.AfterFunc(ctx, w.queue.refuse)()
	for {
		began := time.Now()
		did, pause, err := w.round()
		if err != nil {
			w.fail(err)
			return err
		}
		switch {
		case pause > 0:
			time.Sleep(pause)
			continue
		case did != round{}:
			idle.Reset(w.opts.Idle)
			w.gather(did, time.Since(began))
			continue
		case w.queue.refusing():
			return nil
		case mergeBetween(w):
			continue
		}
		select {
		case <-w.queue.signal:
		case <-idle.C:
			if w.busyBeside(w.opts.Idle) {
				idle.Reset(w.opts.Idle)
				continue
			}
			w.mu.Lock()
			again := w.onIdle()
			w.mu.Unlock()
			if again > 0 {
				idle.Reset(again)
			}
		case <-w.wal.finish:
			w.mu.Lock()
			finishCheckpoint(w)
			w.mu.Unlock()
		}
	}
}

// round is what one round of the loop has done.
type round struct {
	jobs, transactions int
	requests           int
}

// round takes what waits and does it, or says when to try that again.
func (w *Writer) round() (did round, pause time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue.writes() && w.failure() == nil {
		if err := w.reserve(); err != nil {
			pause, err := w.unreserved(err)
			return did, pause, err
		}
		w.locked = lockWait{}
	}
	taken, requests := w.queue.take(w.buffer, maxGroup)
	w.buffer = taken
	did.jobs, did.requests = len(taken), len(requests)
	for _, j := range taken {
		did.transactions += j.Len()
	}
	return did, 0, w.turn(taken, requests)
}

// turn does what one round of the loop has found. Its error is fatal. However
// it ends, everything that it was given is answered.
func (w *Writer) turn(jobs []Job, execs []exec) error {
	unreached := ErrClosed // the answer to requests that are never run
	defer func() {
		w.release()
		for _, e := range execs {
			e.done <- unreached
		}
	}()
	if err := w.failure(); err != nil {
		answer(jobs, err)
		unreached = err
		return err
	}
	if len(jobs) > 0 {
		w.pressed = len(execs) > 0
		if err := w.work(jobs); err != nil {
			unreached = err
			return err
		}
	}
	for len(execs) > 0 {
		err := w.execOne(execs[0])
		execs[0].done <- err
		execs = execs[1:]
		if errors.Is(err, ErrInDoubt) {
			unreached = err
			return err
		}
	}
	w.release()
	watchWAL(w)
	if len(jobs) > 0 {
		vacuumBetween(w)
	}
	return nil
}

// fail stops the writer for good: everyone who waits, and everyone who comes,
// gets err.
func (w *Writer) fail(err error) {
	w.fatal.CompareAndSwap(nil, &err)
	jobs, execs := w.queue.close()
	answer(jobs, err)
	for _, e := range execs {
		e.done <- err
	}
	w.opts.Logger.Error("the writer has stopped", "error", err)
}

// doubt notes an outcome that is not known; the loop stops at its next turn.
func (w *Writer) doubt(err error) {
	w.fatal.CompareAndSwap(nil, &err)
	w.queue.wake()
}

// failure is why the writer has stopped, nil if it has not.
func (w *Writer) failure() error {
	if cause := w.fatal.Load(); cause != nil {
		return *cause
	}
	return nil
}

// finish leaves a file that opens fast: everything merged, no write-ahead log.
func (w *Writer) finish() error {
	for startMerge(w) || w.merger.Active() {
		err := mergeSlice(w, maxSlice)
		if errors.Is(err, ErrInDoubt) {
			return err
		}
		if err != nil {
			w.opts.Logger.Warn("merge at close", "error", err)
			return nil // the log has everything; the next open replays it
		}
	}
	if _, err := w.app.Truncate(); err != nil {
		w.opts.Logger.Warn("checkpoint at close", "error", err)
	}
	return nil
}

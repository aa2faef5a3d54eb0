package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// TestMain also fails if a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDisk = errors.New("disk is on fire")

// fakeEngine keeps what is committed in memory and fails where it is told to.
// Each fault is asked before the call does anything.
type fakeEngine struct {
	schema.Engine // what the writer does not call

	begin, append, merge, commit, rollback, sync, checkpoint func() error

	looked func() // at the write-ahead log's length

	mu        sync.Mutex
	open      bool
	pending   []*schema.Row
	merging   int
	committed [][]*schema.Row // by transaction
	merged    int             // entries
	syncs     int
	begun     int
	commits   int
	log       fakeLog

	total, free int64   // pages of the file
	vacuums     []int64 // pages that each step has returned
}

// fakeLog is a write-ahead log of a page for each row. SQLite's rules hold: a
// checkpoint moves what is older than every reader, and the log starts afresh
// with a commit that finds everything moved and nobody reading from it.
type fakeLog struct {
	pages, moved, longest int64

	reads func(pages int64) bool // whether someone reads from the log; nil: nobody
}

func (l *fakeLog) read() bool { return l.reads != nil && l.reads(l.pages) }

func (l *fakeLog) commit(pages int64) {
	if l.moved == l.pages && !l.read() {
		l.pages, l.moved = 0, 0
	}
	l.pages += pages
	l.longest = max(l.longest, l.pages)
}

// checkpoint moves what no reader pins.
func (l *fakeLog) checkpoint(truncate bool) (r schema.CheckpointResult) {
	busy := l.read()
	if !busy {
		l.moved = l.pages
	}
	r = schema.CheckpointResult{Busy: busy, LogPages: l.pages, MovedPages: l.moved}
	if truncate && !busy {
		*l = fakeLog{longest: l.longest, reads: l.reads}
	}
	return r
}

// fail sets a fault of begin, commit or sync while the writer runs.
func (e *fakeEngine) fail(at *func() error, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*at = func() error { return err }
}

func (e *fakeEngine) asked(fault func() error) error {
	if fault == nil {
		return nil
	}
	return fault()
}

func (e *fakeEngine) Appender() schema.Appender { return fakeAppender{e: e} }

func (e *fakeEngine) Sync() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.syncs++
	return e.asked(e.sync)
}

func (e *fakeEngine) InPlace() error { return nil }

func (e *fakeEngine) Checkpoint() (schema.CheckpointResult, error) { return e.moveLog(false) }

func (e *fakeEngine) moveLog(truncate bool) (schema.CheckpointResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.asked(e.checkpoint); err != nil {
		return schema.CheckpointResult{}, err
	}
	return e.log.checkpoint(truncate), nil
}

// rows are the committed rows' timestamps, by transaction.
func (e *fakeEngine) rows() [][]schema.Timestamp {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all [][]schema.Timestamp
	for _, rows := range e.committed {
		var one []schema.Timestamp
		for _, r := range rows {
			one = append(one, r.TS)
		}
		all = append(all, one)
	}
	return all
}

func (e *fakeEngine) has(ts schema.Timestamp) bool {
	return slices.ContainsFunc(e.rows(), func(rows []schema.Timestamp) bool { return slices.Contains(rows, ts) })
}

// fakeAppender is the engine's write session. It refuses what is outside a
// transaction.
type fakeAppender struct {
	schema.Appender // what the writer does not call
	e               *fakeEngine
}

func (a fakeAppender) Begin() error {
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	a.e.begun++
	if a.e.open {
		return errors.New("transaction within a transaction")
	}
	if err := a.e.asked(a.e.begin); err != nil {
		return err
	}
	a.e.open = true
	return nil
}

func (a fakeAppender) TryBegin() error { return a.Begin() }

func (a fakeAppender) inTransaction(fault func() error) error {
	if !a.e.open {
		return errors.New("write outside a transaction")
	}
	return a.e.asked(fault)
}

func (a fakeAppender) Append(rows []*schema.Row) error {
	if err := a.inTransaction(a.e.append); err != nil {
		return err
	}
	a.e.pending = append(a.e.pending, rows...)
	return nil
}

func (a fakeAppender) Merge(entries []schema.Entry) error {
	a.e.merging += len(entries)
	return a.inTransaction(a.e.merge)
}

func (a fakeAppender) SetGlobal(string, string) error { return a.inTransaction(nil) }

func (a fakeAppender) Commit() error {
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	if err := a.inTransaction(a.e.commit); err != nil {
		return err
	}
	if len(a.e.pending) > 0 {
		a.e.committed = append(a.e.committed, a.e.pending)
		a.e.log.commit(int64(len(a.e.pending)))
	}
	a.e.merged += a.e.merging
	a.e.commits++
	a.e.pending, a.e.merging, a.e.open = nil, 0, false
	return nil
}

func (a fakeAppender) Rollback() error {
	a.e.pending, a.e.merging, a.e.open = nil, 0, false
	return a.e.asked(a.e.rollback)
}

func (a fakeAppender) Checkpoint() (schema.CheckpointResult, error) { return a.e.moveLog(false) }

func (a fakeAppender) Pages() (total, free int64, err error) {
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	return a.e.total, a.e.free, nil
}

func (a fakeAppender) Vacuum(pages int) (left int64, err error) {
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	n := min(int64(pages), a.e.free)
	a.e.free -= n
	a.e.total -= n
	a.e.vacuums = append(a.e.vacuums, n)
	return a.e.free, nil
}

func (a fakeAppender) Truncate() (schema.CheckpointResult, error) { return a.e.moveLog(true) }

func (a fakeAppender) WALPages() (int64, error) {
	if a.e.looked != nil {
		a.e.looked()
	}
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	return a.e.log.pages, nil
}

// fakeState is rows without a meaning.
type fakeState struct {
	mu        sync.Mutex
	tail      *index.Tail
	staged    []*schema.Row
	sealed    []*schema.Row
	flies     bool // sealed is to be published or abandoned
	begun     int
	undone    []schema.Timestamp // in the order in which it was
	wrong     []string           // calls that should not have come
	offered   atomic.Bool
	locks     int
	newest    atomic.Int64 // published
	published []schema.Timestamp
}

func (s *fakeState) Lock() {
	s.mu.Lock()
	s.locks++
	s.offered.Store(false)
}

func (s *fakeState) Begin()      { s.begun = len(s.staged) }
func (s *fakeState) Wrote() bool { return len(s.staged) > s.begun }
func (s *fakeState) Rollback()   { s.rollback(s.begun) }

// Counts is asked when a merge begins.
func (s *fakeState) Counts() index.Counts {
	s.expect(!s.flies && len(s.staged) == 0, "a merge begins with something staged")
	return nil
}

func (s *fakeState) Offered() bool { return s.offered.Load() }

func (s *fakeState) Unlock() {
	s.expect(!s.flies && len(s.staged) == 0, "unlock with something staged")
	s.mu.Unlock()
}

func (s *fakeState) expect(ok bool, wrong string) {
	if !ok {
		s.wrong = append(s.wrong, wrong)
	}
}

func (s *fakeState) Seal() []*schema.Row {
	s.expect(!s.flies, "seal while a group is sealed")
	s.sealed, s.staged, s.flies = s.staged, nil, true
	return s.sealed
}

func (s *fakeState) Publish() {
	for _, r := range s.sealed {
		s.published = append(s.published, r.TS)
		s.newest.Store(int64(r.TS))
	}
	s.sealed, s.flies = nil, false
}

func (s *fakeState) Abandon() {
	s.rollback(0)
	s.staged, s.sealed, s.flies = s.sealed, nil, false
	s.rollback(0)
}

func (s *fakeState) rollback(to int) {
	for _, r := range slices.Backward(s.staged[to:]) {
		s.tail.Remove([]schema.Entry{entryOf(r)})
		s.undone = append(s.undone, r.TS)
	}
	s.staged = s.staged[:to:to]
}

func (s *fakeState) stage(ts schema.Timestamp) {
	r := &schema.Row{TS: ts, Table: 1, ID: fmt.Sprint(ts)}
	s.staged = append(s.staged, r)
	s.tail.Insert([]schema.Entry{entryOf(r)})
}

func entryOf(r *schema.Row) schema.Entry {
	return schema.Entry{Index: schema.ByID(1), TS: r.TS, Key: r.ID}
}

// shown are the published timestamps.
func (s *fakeState) shown() []schema.Timestamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.published)
}

// testJob is transactions that write one row each, unless run says otherwise.
type testJob struct {
	n    int
	run  func(i int, ts schema.Timestamp) error
	done chan answered // capacity 2: so that a second answer shows
}

type answered struct {
	last schema.Timestamp
	err  error
}

func (j *testJob) Len() int                                  { return j.n }
func (j *testJob) Transact(i int, ts schema.Timestamp) error { return j.run(i, ts) }
func (j *testJob) Done(last schema.Timestamp, err error)     { j.done <- answered{last, err} }

// rig is a writer that runs on fakes.
type rig struct {
	t      *testing.T
	w      *Writer
	engine *fakeEngine
	state  *fakeState
	stop   context.CancelFunc
	ended  chan error // closed when Run has returned; what it returned, unless it did not
}

// newRig makes a writer that does not run yet.
func newRig(t *testing.T, o Options) *rig {
	tail := index.NewTail(0)
	r := &rig{t: t, engine: &fakeEngine{}, state: &fakeState{tail: tail}, ended: make(chan error, 1)}
	o.Engine, o.State, o.Tail = r.engine, r.state, tail
	r.w = New(o)
	return r
}

// start runs the writer until the test ends, or until it stops by itself.
func start(t *testing.T, o Options) *rig {
	r := newRig(t, o)
	r.start()
	return r
}

func (r *rig) start() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() {
		defer close(r.ended)
		defer func() { _ = recover() }() // of a job that panics
		r.ended <- r.w.Run(ctx)
	}()
	r.t.Cleanup(func() {
		stop()
		for range r.ended {
		}
		for _, wrong := range r.state.wrong {
			r.t.Error(wrong)
		}
	})
}

// job makes a job of n transactions.
func (r *rig) job(n int) *testJob {
	return &testJob{n: n, done: make(chan answered, 2), run: func(_ int, ts schema.Timestamp) error {
		r.state.stage(ts)
		return nil
	}}
}

func (r *rig) submit(j *testJob) *testJob {
	r.t.Helper()
	if err := r.w.Submit(j); err != nil {
		r.t.Fatalf("submit: got %v, want no error", err)
	}
	return j
}

// write submits one transaction and waits for its answer.
func (r *rig) write() answered {
	r.t.Helper()
	return r.answer(r.submit(r.job(1)))
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func (r *rig) answer(j *testJob) answered {
	r.t.Helper()
	select {
	case a := <-j.done:
		return a
	case <-time.After(patience):
		r.t.Fatal("a job was not answered")
		return answered{}
	}
}

// wantEnd waits for Run and compares what it returned.
func (r *rig) wantEnd(want error) {
	r.t.Helper()
	select {
	case err := <-r.ended:
		if !errors.Is(err, want) || want == nil && err != nil {
			r.t.Errorf("Run: got %v, want %v", err, want)
		}
	case <-time.After(patience):
		r.t.Fatal("Run does not end")
	}
}

// hold keeps the writer busy with one job until the function is called, so
// that what is submitted meanwhile becomes one group.
func (r *rig) hold() (release func()) {
	running, gate := make(chan struct{}), make(chan struct{})
	j := r.job(1)
	j.run = func(int, schema.Timestamp) error {
		close(running)
		<-gate
		return nil
	}
	r.submit(j)
	<-running
	return func() { close(gate) }
}

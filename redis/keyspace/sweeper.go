package keyspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

const (
	sweepInterval = 100 * time.Millisecond // Redis looks ten times a second, too

	// SweepBatch is how many keys and fields are ended in one transaction, at
	// most. Others wait for it, so that it becomes smaller, down to
	// minSweepBatch, while it takes longer than sweepBudget.
	SweepBatch    = 128
	minSweepBatch = 8
	sweepBudget   = time.Millisecond

	// sweepRest is the longest pause between two steps. A pause is as long as
	// the step before it, or a part of that: see SweepPace.
	sweepRest = 20 * time.Millisecond

	// SweepSlack is longer than any transaction takes: what a snapshot does not
	// show yet ends later than so long before the snapshot.
	SweepSlack = 10 * time.Second
)

// Sweeper ends keys, and fields of hashes, that have expired, so that history says when they went
// and nothing has to pass over them. Reads treat them as absent already
// before: what they see does not depend on it. Between sweeps it reads large
// collections that are wanted in memory: see warming.
//
// Run is the only goroutine, started and owned by the caller and stopped by
// its context; the store must stay open until Run has returned. The clock is
// the store's.
type Sweeper struct {
	View  *View
	hooks SweeperHooks

	// Nothing before from is due, and of the hash that field belongs to no field
	// before it, both keys of their indexes: what was ended stays in an
	// index for as long as its history, and must not be walked over again.
	// Ends only come behind the present moment, and those that do not are noted
	// as backdated.
	From, field []byte
	Batch       int           // how many to end in the next transaction
	budget      time.Duration // how long a transaction may take; 0: nobody waits for it
}

// SweepPace is how eager a Sweeper is. The zero value is Redis's default.
type SweepPace struct {
	Looks  int // how often it looks in a second, as Redis's hz; 0: 10
	Effort int // how many times as long a step takes as the pause after it, from 1 on; 0: 1
}

// interval is the time between two looks.
func (p SweepPace) interval() time.Duration {
	if p.Looks == 0 {
		return sweepInterval
	}
	return time.Second / time.Duration(p.Looks)
}

// pause is how long to rest after a step.
func (p SweepPace) pause(took time.Duration) time.Duration {
	return min(took/time.Duration(max(p.Effort, 1)), sweepRest)
}

// SweeperHooks are what a Sweeper calls, on its own goroutine if nothing else
// is said. A nil one does nothing.
type SweeperHooks struct {
	// Expired is called for every key that was ended, in the order of the
	// commits and before any later write to the key is answered, on the
	// writer's goroutine. It must not block. db is the database that showed the
	// key; whole is false if only fields of a hash were removed.
	Expired func(db int, key []byte, whole bool)

	Ended  func(keys int)           // after each transaction that ended keys
	Looked func(took time.Duration) // after each look at what is due, with what came of it
	Rests  func() bool              // true: nothing is swept for now
	Pace   func() SweepPace         // asked again before each look and each step
	Cold   func(error)              // a collection could not be read into memory
}

func (h SweeperHooks) withDefaults() SweeperHooks {
	if h.Expired == nil {
		h.Expired = func(int, []byte, bool) {}
	}
	if h.Ended == nil {
		h.Ended = func(int) {}
	}
	if h.Looked == nil {
		h.Looked = func(time.Duration) {}
	}
	if h.Rests == nil {
		h.Rests = func() bool { return false }
	}
	if h.Pace == nil {
		h.Pace = func() SweepPace { return SweepPace{} }
	}
	if h.Cold == nil {
		h.Cold = func(error) {}
	}
	return h
}

// NewSweeper makes the sweeper of a store that was opened with Tables, for
// those who have no server.
func NewSweeper(store *firn.Store) *Sweeper {
	s := NewCatalog(store, 1).NewSweeper(SweeperHooks{})
	s.budget = 0
	return s
}

// NewSweeper makes the sweeper of the tables' store, beside which others write.
func (t *Catalog) NewSweeper(h SweeperHooks) *Sweeper {
	return &Sweeper{View: NewView(t, nil), hooks: h.withDefaults(), Batch: SweepBatch, budget: sweepBudget}
}

// Run sweeps until ctx ends or the store is closed, then returns nil. When the
// store cannot take writes for now, as when its disk is full, Run tries again
// later; other errors it returns.
func (s *Sweeper) Run(ctx context.Context) error {
	interval := s.hooks.Pace().interval()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if now := s.hooks.Pace().interval(); now != interval {
			interval = now
			ticker.Reset(interval)
		}
		if err := s.View.WarmWanted(); err != nil && !errors.Is(err, firn.ErrClosed) {
			s.hooks.Cold(err)
		}
		if s.hooks.Rests() {
			continue
		}
		began := time.Now()
		err := s.Sweep(ctx)
		s.hooks.Looked(time.Since(began))
		switch {
		case ctx.Err() != nil, errors.Is(err, firn.ErrClosed):
			return nil
		case err != nil && !errors.Is(err, firn.ErrBusy) && !errors.Is(err, firn.ErrFull):
			return fmt.Errorf("sweep: %w", err)
		}
	}
}

// Sweep ends all keys that are due.
func (s *Sweeper) Sweep(ctx context.Context) error {
	for ctx.Err() == nil {
		due, err := s.due()
		if err != nil || !due {
			return err
		}
		began := time.Now()
		n, err := s.Step()
		if err != nil {
			return err
		}
		rest(ctx, s.hooks.Pace().pause(time.Since(began)))
		s.hooks.Ended(n)
	}
	return nil
}

// rest lets others have the writer, for as long as a step has kept them from
// it.
func rest(ctx context.Context, d time.Duration) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-ctx.Done():
	case <-pause.C:
	}
}

// due says whether a key has expired, by a look at the first entry of the
// index, and walks over those that have been ended beside the writer.
func (s *Sweeper) due() (due bool, err error) {
	if s.View.backdated.Load() != 0 {
		return true, nil
	}
	err = s.View.Store.View(func(snapshot *firn.Snapshot) error {
		next := momentKey(snapshot.Moment().Millis() - SweepSlack.Milliseconds())
		for item, err := range snapshot.Scan(s.expiredAt(snapshot, 1)) {
			if err != nil {
				return err
			}
			if due = true; string(next) > item.Key {
				next = []byte(item.Key)
			}
		}
		s.advance(next)
		return nil
	})
	return due, err
}

// momentKey is what every key of the index that ends at ms or later begins
// with, or comes after.
func momentKey(ms int64) []byte { return tuple.AppendInt(nil, ms) }

// advance notes that nothing before next is due.
func (s *Sweeper) advance(next []byte) {
	if bytes.Compare(next, s.From) > 0 {
		s.From = next
	}
}

// expiredAt is the entries of keys that have expired, at most limit.
func (s *Sweeper) expiredAt(r firn.Reader, limit int) firn.Range {
	return firn.Range{Index: s.View.Expiry, From: s.From, To: momentKey(r.Moment().Millis()), Limit: limit}
}

// Step ends up to SweepBatch keys that are due, in one transaction, and
// returns how many. Once it is submitted it is waited for, whatever happens:
// it is short, and always answered.
func (s *Sweeper) Step() (n int, err error) {
	w := &sweep{sweeper: s, done: make(chan error, 1)}
	if err := s.View.Store.Submit(w); err != nil {
		return 0, err
	}
	err = <-w.done
	return w.n, err
}

// sweep is the transaction of one step.
type sweep struct {
	sweeper *Sweeper
	n       int // keys that it ended
	gone    []goneKey
	from    []byte // of the sweeper, afterwards
	field   []byte
	err     error
	done    chan error // capacity 1: answering never blocks
}

// swept is a key that a sweep has ended, or, if not whole, a hash of which it
// has removed fields.
type swept struct {
	doc   *firn.Document
	whole bool
}

// goneKey is a swept key where a database showed it.
type goneKey struct {
	db    int
	key   []byte
	whole bool
}

// Len is part of firn.Batch.
func (w *sweep) Len() int { return 1 }

// Transact is part of firn.Batch.
func (w *sweep) Transact(_ int, tx *firn.Tx) error {
	w.err = w.end(tx)
	return w.err
}

func (w *sweep) end(tx *firn.Tx) error {
	s, began := w.sweeper, time.Now()
	if end := s.View.backdated.Swap(0); end != 0 {
		if early := momentKey(end); bytes.Compare(early, s.From) < 0 {
			s.From = early
		}
	}
	var due []firn.Item
	for item, err := range tx.Scan(s.expiredAt(tx, s.Batch)) {
		if err != nil {
			return err
		}
		due = append(due, item)
	}
	touched, err := w.endAll(tx, due)
	s.adapt(time.Since(began))
	for _, k := range touched {
		if k.whole {
			w.n++
		}
	}
	if err == nil {
		w.gone, err = s.locate(tx, touched)
	}
	return err
}

// Done is part of firn.Batch.
func (w *sweep) Done(_ firn.Timestamp, err error) {
	if err == nil {
		err = w.err
	}
	if err == nil {
		w.sweeper.advance(w.from)
		w.sweeper.field = w.field
		for _, k := range w.gone {
			w.sweeper.hooks.Expired(k.db, k.key, k.whole)
		}
	}
	w.done <- err
}

// locate finds out which databases show keys. Those that were flushed are in
// none.
func (s *Sweeper) locate(tx *firn.Tx, keys []swept) ([]goneKey, error) {
	shown := map[UID]int{}  // by keyspace
	own := map[int64]bool{} // databases that show another than their first
	for item, err := range tx.Scan(firn.Range{Index: s.View.Databases.ByID()}) {
		if err != nil {
			return nil, err
		}
		db, _, err := tuple.TakeInt([]byte(item.Doc.ID))
		if err != nil {
			return nil, err
		}
		space, _, err := ParseDatabase(item.Doc)
		if err != nil {
			return nil, err
		}
		shown[space], own[db] = int(db), true
	}
	var found []goneKey
	for _, k := range keys {
		space, key, err := ParseKeyID(k.doc.ID)
		if err != nil {
			return nil, err
		}
		db, ok := shown[space]
		if !ok && space.TS == 0 && !own[space.N] {
			db, ok = int(space.N), true
		}
		if ok {
			found = append(found, goneKey{db, key, k.whole})
		}
	}
	return found, nil
}

// adapt chooses how many keys and fields the next step takes.
func (s *Sweeper) adapt(took time.Duration) {
	switch {
	case s.budget == 0:
	case took > s.budget:
		s.Batch = max(s.Batch/2, minSweepBatch)
	case took < s.budget/2:
		s.Batch = min(s.Batch*2, SweepBatch)
	}
}

// endAll writes the tombstones of keys that have expired, and removes the
// fields that have where the hash lives on, up to a batch of them: what is left
// is still due afterwards.
func (w *sweep) endAll(tx *firn.Tx, due []firn.Item) (done []swept, err error) {
	s, now := w.sweeper, tx.Moment().Millis()
	s.View.Begin()
	v := s.View.through(tx)
	w.from = momentKey(now)
	if len(due) == s.Batch {
		w.from = []byte(due[len(due)-1].Key)
	}
	w.field = s.field
	fields := s.Batch
	for _, item := range due {
		doc := item.Doc
		k, err := ParseKeyDoc(doc)
		if err != nil {
			return nil, err
		}
		k.Origin = nil
		at := Slot{ID: []byte(doc.ID), Key: k, Live: true, version: k.Version}
		if _, err := edit(v, &at); err != nil {
			return nil, err
		}
		whole := k.Ended(now)
		if whole {
			v.Operation = OperationExpired
			err = v.Remove(&at)
		} else {
			v.Operation = operationFieldsExpired
			var n int
			n, w.field, err = (&OpenedHash{Slot: at, Ends: k.FieldEnds()}).sweep(v, w.field, fields)
			fields -= n
		}
		if err != nil {
			return nil, err
		}
		if done = append(done, swept{doc, whole}); fields == 0 {
			w.from = []byte(item.Key)
			break
		}
	}
	return done, nil
}

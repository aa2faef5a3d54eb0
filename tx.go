package firn

import (
	"fmt"
	"sync"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/writer"
)

// Tx is a running transaction: a Reader of the newest state, its own writes
// included, that can write. It is valid inside the function that it was given
// to.
type Tx struct {
	readAt
	ts     Timestamp
	author int64 // of what is written: a number, 0 for nobody
	enrols bool  // the author has no document yet: the first write makes it
}

var _ Reader = (*Tx)(nil)

// Timestamp is the transaction's: what it writes becomes visible at it.
func (tx *Tx) Timestamp() Timestamp { return tx.ts }

// Wrote says whether the transaction has written anything yet.
func (tx *Tx) Wrote() bool { return tx.view != nil && tx.store.head.Wrote() }

// Bytes is about what the transaction's writes take in memory, where they stay
// until they are committed.
func (tx *Tx) Bytes() int {
	if tx.view.Ended() {
		return 0
	}
	return reader.StagedBytes(tx.store.head)
}

// Moment implements Reader: it is Timestamp.
func (tx *Tx) Moment() Timestamp { return tx.ts }

// At is Store.At for use inside a transaction. It sees nothing of the
// transactions that are under way, this one included.
func (tx *Tx) At(ts Timestamp, fn func(*Snapshot) error) error {
	if tx.view.Ended() {
		return errEnded
	}
	newest := tx.store.head.Newest()
	if ts > newest && ts > tx.ts {
		return &FutureError{Asked: ts, Newest: newest}
	}
	return atMoment(tx.store, ts, min(ts, newest), fn)
}

// TurnAway is for a transaction that takes long: it answers the batches that
// wait behind it with err, none of which has begun. Calls of Update stay.
func (tx *Tx) TurnAway(err error) {
	if !tx.view.Ended() {
		writer.TurnAway(tx.store.writer, isUpdate, err)
	}
}

// Closing says that the store is being closed, which waits for the transaction.
func (tx *Tx) Closing() bool { return !tx.view.Ended() && tx.store.closed.Load() }

// isUpdate says whether a job is that of an Update.
func isUpdate(j writer.Job) bool {
	own, ok := j.(*job)
	if !ok {
		return true
	}
	_, update := own.batch.(*update)
	return update
}

// Put makes value the document's newest version. id is copied; value is kept
// and must not be modified any more.
func (tx *Tx) Put(t *Table, id, value []byte) error {
	return tx.writeOpen(t, id, Document{Value: value})
}

// PutJSON is Put for JSON text, which is stored so that other programs can
// read it: one JSON value in UTF-8, which is not changed. Anything else is
// refused.
func (tx *Tx) PutJSON(t *Table, id, value []byte) error {
	d, err := tx.Edit(t, id)
	if err != nil {
		return err
	}
	return d.PutJSON(value)
}

// Delete ends the document, with an optional note on why that readers of its
// history will find in the tombstone. A document that is not there is left
// alone.
func (tx *Tx) Delete(t *Table, id, note []byte) error {
	return tx.writeOpen(t, id, Document{Value: note, Deleted: true})
}

// Fresh promises that no document's id, and no key of an index, begins with a
// prefix but those that the transaction itself writes: it has just made the
// prefix up. Ordered ranges with the prefix are kept in memory from their first
// element on. A promise that is not kept hides documents.
func (tx *Tx) Fresh(prefix []byte) {
	if !tx.view.Ended() {
		tx.store.head.Fresh(string(prefix))
	}
}

// writeOpen is write for tables that the program may write.
func (tx *Tx) writeOpen(t *Table, id []byte, doc Document) error {
	d, err := tx.Edit(t, id)
	if err != nil {
		return err
	}
	return d.write(doc)
}

func (tx *Tx) write(t *Table, id []byte, doc Document) error {
	d, err := tx.edit(t, id)
	if err != nil {
		return err
	}
	return d.write(doc)
}

// Batch is transactions that are handed over at once and run one after the
// other in one group. It is for servers, which have many at hand; Update is
// for everyone else. Its methods, and what they promise, are writer.Batch's:
//
//	Len() int                       // how many; it may grow while the batch runs
//	Transact(i int, tx *Tx) error   // an error undoes this transaction alone
//	Done(last Timestamp, err error) // called once; it must not block
type Batch = writer.Batch[*Tx]

// job is a batch for the writer, which knows when a transaction is and not
// what: it makes the one of the other.
type job struct {
	store *Store
	batch Batch
	tx    Tx
}

var jobs = sync.Pool{New: func() any { return new(job) }}

func (j *job) Len() int { return j.batch.Len() }

func (j *job) Transact(i int, ts Timestamp) error {
	j.tx = Tx{readAt: readAt{store: j.store, view: j.store.head.Transaction(), gate: gate{store: j.store}}, ts: ts}
	err := j.batch.Transact(i, &j.tx)
	j.tx = Tx{}
	return err
}

func (j *job) Done(last Timestamp, err error) {
	b := j.batch
	j.release()
	b.Done(last, writeError(err))
}

// Alone implements writer.Aloner: a batch may have such a method.
func (j *job) Alone() bool {
	a, ok := j.batch.(writer.Aloner)
	return ok && a.Alone()
}

func (j *job) release() {
	if _, own := j.batch.(*update); own {
		return // it is part of the update
	}
	*j = job{}
	jobs.Put(j)
}

// update is the batch of one call of Store.Update.
type update struct {
	job      job
	fn       func(*Tx) error
	failed   error // fn's own
	panicked any
	reply    chan updated // capacity 1: answering never blocks
}

type updated struct {
	ts  Timestamp
	err error
}

func (u *update) Len() int { return 1 }

// Transact runs the function. A panic in it belongs to the caller of Update
// and must not end the writer.
func (u *update) Transact(_ int, tx *Tx) (err error) {
	defer func() {
		if u.panicked = recover(); u.panicked != nil {
			err = fmt.Errorf("firn: panic in a transaction: %v", u.panicked)
		}
		u.failed = err
	}()
	return u.fn(tx)
}

func (u *update) Done(last Timestamp, err error) { u.reply <- updated{last, err} }

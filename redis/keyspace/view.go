// Package keyspace keeps Redis's databases, keys and collections as documents
// of a store, and is where all of Redis's rules about them stand.
//
// A [Catalog] is what the parts of a server share: the store, its tables (see
// [Tables]), settings and cursors. A [View] is a database at one moment, either
// a snapshot, of the present or of the past, or a transaction. A key is one
// document, a [KeyDoc], with its type, its end and its length; a string is in
// it, and the elements of a collection are documents of their own, whose ids
// begin with the collection's [UID]. View.Open finds a key to write to, and
// returns a [Slot] that the types' functions change and write back; View.Find
// only reads. How each type is laid out stands at the top of its file:
// keydoc.go, hashes.go, fieldends.go, listplaces.go, sets.go, zsets.go,
// streamdoc.go, streamgroups.go.
//
// A [Witness] hears what is done through a View, so that those who wait, listen
// and track can be told; it is the only way up. A [Sweeper] ends what has
// expired, and needs no server. [Changes] tells what versions of the log mean.
//
// The package parses no command and writes no reply, knows neither clients nor
// rights, and starts no goroutine.
package keyspace

import (
	"github.com/firndb/firn"
)

// View is a database as of one moment: what a command reads from and, where
// Tx is not nil, writes to. It does not know which moment that is. A View
// belongs to one command, and so does what it returns, unless a comment says
// otherwise.
type View struct {
	*Catalog
	R         firn.Reader // what to read from: a snapshot at any moment, or Tx
	Tx        *firn.Tx    // nil: nothing may be written; R is the same otherwise
	DB        int         // the number of the database
	Aspect    Aspect      // what the command needs to know of the documents of its keys
	Operation string      // what history calls that which is written

	Witness Witness
	Work    *Workspace
}

// Witness hears of what is done through a View: the only way from documents
// to those who wait, listen and track. It is called while the command runs,
// which may have to run again or be undone, so it takes notes and tells
// nobody before the command is decided.
type Witness interface {
	// Changed says that a key was, or will be, written; nil: the whole
	// database is another one.
	Changed(db int, key []byte)

	// Event says what a keyspace event is to tell. A class that nobody has
	// switched on is not asked about.
	Event(db int, class EventClass, event string, key []byte)

	// Awaited says that somebody may wait for what a key has become; nil: for
	// what any key of the database has.
	Awaited(db int, key []byte)

	// Missed says that a read found no key.
	Missed(db int, key []byte)
}

// Nobody is the witness of what concerns no client.
type Nobody struct{}

func (Nobody) Changed(int, []byte) {}

func (Nobody) Event(int, EventClass, string, []byte) {}

func (Nobody) Awaited(int, []byte) {}

func (Nobody) Missed(int, []byte) {}

// NewView makes a View of a catalog's tables for commands that run one after
// the other. R, Tx, DB and Operation are the caller's to set before each.
// witness nil is nobody.
func NewView(t *Catalog, w Witness) *View {
	if w == nil {
		w = Nobody{}
	}
	return &View{Catalog: t, Witness: w, Work: &Workspace{}}
}

// Begin forgets what the command before has made and read: its memory is used
// again.
func (v *View) Begin() {
	v.Work.IDs.reset()
	v.Work.read.used = 0
}

// At is the same database through another reader, a snapshot of the past or
// of the present, and nothing can be written to it. Nobody hears of misses
// there.
func (v *View) At(r firn.Reader) *View {
	other := *v
	other.R, other.Tx, other.Witness = r, nil, Nobody{}
	return &other
}

// through is the same database in a transaction.
func (v *View) through(tx *firn.Tx) *View {
	other := *v
	other.R, other.Tx = tx, tx
	return &other
}

// in is another database at the same moment.
func (v *View) in(db int) *View {
	other := *v
	other.DB = db
	return &other
}

// Workspace is what a session's commands, which run one after the other, use
// in turn.
type Workspace struct {
	IDs Arena

	read documents

	found []byte // the id of the key's document that was looked for last

	Counted

	uidTS firn.Timestamp // the transaction that uidN counts in
	uidN  int64          // collection uids given out in it

	former formerReigns
}

// Counted is what is not in the server's statistics yet.
type Counted struct {
	Hits, Misses int64 // keys that reads found, and did not
	Written      int64 // keys that were written
}

// Room is memory of the command, to append an id to.
func (v *View) Room() []byte { return v.Work.IDs.room() }

// Keep makes an id that was appended to Room last until the command ends.
func (v *View) Keep(id []byte) []byte { return v.Work.IDs.keep(id) }

// Notify tells those who listen that a command did something to a key of the
// database, once the transaction is committed. It costs nothing when
// nobody listens. A command that may begin the key writes it first: that the
// key is new is told before what happened to it.
func (v *View) Notify(class EventClass, event string, key []byte) {
	v.NotifyIn(v.DB, class, event, key)
}

// NotifyIn is Notify for a key of another database.
func (v *View) NotifyIn(db int, class EventClass, event string, key []byte) {
	if EventClass(v.Events.Load())&class != 0 {
		v.Witness.Event(db, class, event, key)
	}
}

// NotifyMiss tells that a read found no key. The past is left alone.
func (v *View) NotifyMiss(key []byte) { v.Witness.Missed(v.DB, key) }

// touched tells that a key was written, or will be, and notes what becomes of
// it: one that had expired ends now at the latest, and one that was not there
// begins, if it is written.
func (v *View) touched(s *Slot, written bool) {
	v.Work.Written++
	v.Witness.Changed(s.DB, s.Name)
	if s.lapsed {
		s.lapsed = false
		v.NotifyIn(s.DB, EventExpired, "expired", s.Name)
	}
	if written && !s.Live {
		v.NotifyIn(s.DB, eventNew, "new", s.Name)
	}
}

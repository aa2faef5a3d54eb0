package redis

import (
	"github.com/firndb/firn"
)

// View is a database as of one moment: what a command reads from and, where
// Tx is not nil, writes to. It does not know which moment that is. A View
// belongs to one command, and so does what it returns, unless a comment says
// otherwise.
type View struct {
	*catalog
	R         firn.Reader // what to read from: a snapshot at any moment, or Tx
	Tx        *firn.Tx    // nil: nothing may be written; R is the same otherwise
	DB        int         // the number of the database
	Operation string      // what history calls that which is written

	witness Witness
	work    *workspace
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
	Event(db int, class eventClass, event string, key []byte)

	// Awaited says that somebody may wait for what a key has become; nil: for
	// what any key of the database has.
	Awaited(db int, key []byte)

	// Missed says that a read found no key.
	Missed(db int, key []byte)
}

// nobody is the witness of what concerns no client.
type nobody struct{}

func (nobody) Changed(int, []byte)                   {}
func (nobody) Event(int, eventClass, string, []byte) {}
func (nobody) Awaited(int, []byte)                   {}
func (nobody) Missed(int, []byte)                    {}

// newView makes a View of a catalog's tables for commands that run one after
// the other. R, Tx, DB and Operation are the caller's to set before each.
// witness nil is nobody.
func newView(t *catalog, w Witness) *View {
	if w == nil {
		w = nobody{}
	}
	return &View{catalog: t, witness: w, work: &workspace{}}
}

// begin forgets the ids of the command before: their memory is used again.
func (v *View) begin() { v.work.ids.reset() }

// at is the same database through another reader, a snapshot of the past or
// of the present, and nothing can be written to it. Nobody hears of misses
// there.
func (v *View) at(r firn.Reader) *View {
	other := *v
	other.R, other.Tx, other.witness = r, nil, nobody{}
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

// workspace is what a session's commands, which run one after the other, use
// in turn.
type workspace struct {
	ids arena

	hits, misses int64 // keys that reads found and did not, not yet in the server's statistics

	uidTS firn.Timestamp // the transaction that uidN counts in
	uidN  int64          // collection uids given out in it
}

// arena is memory for the ids that a command makes, so that the hot commands
// allocate nothing but what is kept. An id is valid until the command ends:
// a chunk that is full is left to the collector, and never used again while a
// command runs.
type arena struct{ chunk []byte }

// Sizes of an arena's chunks in bytes. The first suffices for the ids of a
// usual command on one key, and ten thousand idle sessions may have one.
const (
	firstChunkBytes = 256
	chunkBytes      = 4 << 10
	roomBytes       = 64 // what room has at least
)

// room is an empty slice to append an id to.
func (a *arena) room() []byte {
	if cap(a.chunk)-len(a.chunk) < roomBytes {
		if a.chunk == nil {
			a.chunk = make([]byte, 0, firstChunkBytes)
		} else {
			a.chunk = make([]byte, 0, chunkBytes)
		}
	}
	return a.chunk[len(a.chunk):]
}

// keep makes sure that what was appended to room is not written over, and
// returns it. An id that was too long for room has memory of its own.
func (a *arena) keep(id []byte) []byte {
	n := len(a.chunk)
	if len(id) > 0 && n+len(id) <= cap(a.chunk) && &id[0] == &a.chunk[:n+1][n] {
		a.chunk = a.chunk[:n+len(id)]
	}
	return id[:len(id):len(id)]
}

func (a *arena) reset() { a.chunk = a.chunk[:0] }

// release gives the memory back.
func (a *arena) release() { a.chunk = nil }

// room and keep are the arena's of the command.
func (v *View) room() []byte { return v.work.ids.room() }

func (v *View) keep(id []byte) []byte { return v.work.ids.keep(id) }

// notify tells those who listen that a command did something to a key of the
// database, once the transaction is committed. It costs nothing when
// nobody listens. A command that may begin the key writes it first: that the
// key is new is told before what happened to it.
func (v *View) notify(class eventClass, event string, key []byte) {
	v.notifyIn(v.DB, class, event, key)
}

// notifyIn is notify for a key of another database.
func (v *View) notifyIn(db int, class eventClass, event string, key []byte) {
	if eventClass(v.events.Load())&class != 0 {
		v.witness.Event(db, class, event, key)
	}
}

// notifyMiss tells that a read found no key. The past is left alone.
func (v *View) notifyMiss(key []byte) { v.witness.Missed(v.DB, key) }

// touched tells that a key was written, or will be, and notes what becomes of
// it: one that had expired ends now at the latest, and one that was not there
// begins, if it is written.
func (v *View) touched(s *slot, written bool) {
	v.witness.Changed(s.db, s.name)
	if s.lapsed {
		s.lapsed = false
		v.notifyIn(s.db, eventExpired, "expired", s.name)
	}
	if written && !s.live {
		v.notifyIn(s.db, eventNew, "new", s.name)
	}
}

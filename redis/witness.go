package redis

import (
	"github.com/firndb/firn/redis/keyspace"
)

// sessionWitness is a session as the witness of its commands.
type sessionWitness Session

// Changed implements Witness: those who track the key are told.
func (w *sessionWitness) Changed(_ int, key []byte) {
	switch s := (*Session)(w); {
	case s.srv.catalog.Trackers.Load() == 0:
		s.outbox.blind = true
	case key == nil:
		s.outbox.add(note{what: noteFlush}, nil, nil)
	default:
		s.outbox.add(note{what: noteTouch}, key, nil)
	}
}

// Event implements Witness: those who listen are told, once the transaction
// is committed.
func (w *sessionWitness) Event(db int, class keyspace.EventClass, event string, key []byte) {
	(*Session)(w).outbox.add(note{what: noteEvent, class: class, event: event, db: db}, key, nil)
}

// Awaited implements Witness. Nearly always nobody waits, and that costs one
// look.
func (w *sessionWitness) Awaited(db int, key []byte) {
	b := &w.srv.blocked
	switch {
	case b.waiting.Load() == 0:
	case key == nil:
		b.touchDatabase(db)
	default:
		b.touch(db, key)
	}
}

// Missed implements Witness: a keymiss event is told.
func (w *sessionWitness) Missed(db int, key []byte) {
	if keyspace.EventClass(w.srv.catalog.Events.Load())&keyspace.EventMiss != 0 && w.asof == 0 {
		w.Event(db, keyspace.EventMiss, "keymiss", key)
	}
}

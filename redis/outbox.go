package redis

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// outbox is what a session's commands have to tell other sessions, in the
// order in which it happened. It is kept until what the commands did is
// decided: a read may have to run again, a transaction may be undone, and
// nobody may hear of either. It belongs to whoever runs the session.
type outbox struct {
	notes []note
	text  []byte // of all notes
	blind bool   // a key was written that nobody tracked; so it was not noted
}

// note is one thing to tell. Its two texts are in the outbox.
type note struct {
	what  noteKind
	class keyspace.EventClass // of an event
	event string              // its name
	db    int                 // of an event's key
	all   bool                // of noteStale: all keys
	seen  firn.Timestamp      // of a read: the snapshot's newest commit; 0 in a transaction
	end   int                 // of the replies that are held back when it was made
	at    int                 // where the first text begins
	first int                 // its bytes: a key, a channel, a line
	more  int                 // bytes of the second, which follows: a message
}

type noteKind uint8

const (
	noteEvent   noteKind = iota // a keyspace notification
	noteMessage                 // PUBLISH inside a transaction
	noteShard                   // SPUBLISH inside a transaction
	noteTouch                   // a key was written: those who track it are to know
	noteFlush                   // many keys are gone
	noteRead                    // this client has read a key that it wants to track
	noteStale                   // a key that this client names has changed while it was away
	noteMonitor                 // a line for MONITOR
)

// maxKeptNotes bounds the memory that an outbox keeps once it is empty.
const maxKeptNotes = 256

func (o *outbox) add(n note, first, more []byte) {
	n.at, n.first, n.more = len(o.text), len(first), len(more)
	o.text = append(append(o.text, first...), more...)
	o.notes = append(o.notes, n)
}

func (o *outbox) texts(n *note) (first, more []byte) {
	middle := n.at + n.first
	return o.text[n.at:middle:middle], o.text[middle : middle+n.more]
}

// undo drops what was noted since there were n notes, because it was undone.
// MONITOR shows commands that fail, too.
func (o *outbox) undo(n int) {
	kept := o.notes[:n]
	for _, late := range o.notes[n:] {
		if late.what == noteMonitor {
			kept = append(kept, late)
		}
	}
	o.notes = kept
}

// forget drops all that was noted since there were n notes, because it is done
// again.
func (o *outbox) forget(n int) {
	clear(o.notes[n:])
	o.notes = o.notes[:n]
}

func (o *outbox) clear() {
	clear(o.notes)
	o.notes, o.text, o.blind = o.notes[:0], o.text[:0], false
	if cap(o.notes) > maxKeptNotes || cap(o.text) > keepBytes {
		o.notes, o.text = nil, nil
	}
}

// release gives back the buffers if nothing is noted.
func (o *outbox) release() {
	if len(o.notes) == 0 {
		*o = outbox{}
	}
}

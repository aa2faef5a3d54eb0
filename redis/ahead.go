package redis

import (
	"bytes"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// Ahead brings the keys of commands that have arrived into the processor's
// caches before they run, all of them together: a command that finds its key
// after the one before has run waits for memory alone. It changes nothing, and
// nobody sees it. It belongs to one driver.
type Ahead struct {
	srv  *Server
	keys [][]byte // of the database db
	db   int

	toucher keyspace.Toucher
	see     func(words [][]byte)
	touch   func(*firn.Snapshot) error

	name  []byte // of the last command that was seen
	entry *command.Entry
	at    command.KeyRange // where its keys are
}

// Limits of what is touched together: it has to be in the caches when the
// commands run.
const (
	maxAheadCommands = 64   // of a session
	maxAheadKeys     = 1024 // of all
)

// NewAhead is what a driver calls Look of for sessions that have input, and
// then Touch.
func (srv *Server) NewAhead() *Ahead {
	a := &Ahead{srv: srv, toucher: keyspace.NewToucher(srv.catalog)}
	a.see = a.note
	a.touch = func(snap *firn.Snapshot) error { return a.toucher.Touch(snap, a.db, a.keys) }
	return a
}

// Look notes the keys of the commands that a session has got. Its arguments
// are valid until Touch.
func (a *Ahead) Look(s *Session) {
	if s.asof != 0 || s.phase != phaseReady || parked(s) || len(a.keys) >= maxAheadKeys {
		return
	}
	if s.db != a.db {
		a.Touch()
		a.db = s.db
	}
	s.in.Peek(maxAheadCommands, a.see)
}

// note notes the keys of a command.
func (a *Ahead) note(words [][]byte) {
	if !bytes.Equal(words[0], a.name) {
		a.name = append(a.name[:0], words[0]...)
		a.entry = a.srv.commands.Named(a.name)
		a.at = command.KeyRange{}
		if a.entry != nil {
			a.at, _ = a.entry.FixedKeys()
		}
	}
	if a.at.First == 0 {
		return
	}
	last := a.at.Last
	if last < 0 {
		last += len(words)
	}
	for i := a.at.First; i <= last && i < len(words) && len(a.keys) < maxAheadKeys; i += a.at.Step {
		a.keys = append(a.keys, words[i])
	}
}

// Touch touches what was noted, and forgets it.
func (a *Ahead) Touch() {
	if len(a.keys) > 1 {
		_ = a.srv.store.Peek(a.touch) // the commands will meet the error
	}
	clear(a.keys)
	a.keys = a.keys[:0]
}

package redis

import (
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
)

// Limits of one batch's memory. Input is not read while a session waits, so
// these and the reader's limits bound what a session takes.
const (
	maxUnits     = 1024    // commands in one batch
	maxHeldBytes = 4 << 20 // replies after which a batch is cut
)

// batch is a run of data commands that begins with a write: as many as have
// arrived, each a transaction of its own. Reads behind a write are in it too,
// so that they see what was written before them, and all replies keep their
// order. The replies are held back until the store has decided.
//
// The store gets it as part of a Group, alone or with those of other sessions.
type batch struct {
	units  []unit
	ran    int            // how many of units were run
	wrote  firn.Timestamp // of the last of them that may have written; 0: none
	held   []byte         // their replies, until the batch is decided
	long   bool           // the next of them takes longer than an event loop may wait
	handed time.Duration  // when it was handed to the store, by clock; 0: nobody wants to know
}

// release gives back the buffers.
func (b *batch) release() { b.units, b.held = nil, nil }

// gather makes a batch of the pending write and what follows it.
func (b *batch) gather(s *Session) {
	b.units, b.held, b.ran, b.long = b.units[:0], b.held[:0], 0, false
	if b.handed = 0; s.srv.latency.Watched() {
		b.handed = command.Clock()
	}
	if s.multi.executes(&s.next) {
		b.long = s.multi.scripts // its other commands are not to run twice
	} else if s.next.cmd.Flags&command.RunsScript != 0 {
		b.long = s.srv.scripts.LongLately(s.next.cmd, s.next.args)
	}
	for {
		b.units = append(b.units, s.next)
		s.pending = false
		if s.multi.on || s.next.cmd.Flags&command.Blocks != 0 || len(b.units) == maxUnits || !s.parse() {
			return // an EXEC is a batch alone: its queue is long enough; what may wait ends one
		}
		if c := classOf(s, &s.next); c != classWrites && c != classReads {
			return
		}
	}
}

// transact runs the i-th command of the batch. When the replies are too many
// already, the rest is left to another batch, and so is it from a script on that
// takes longer than an event loop may wait.
func (b *batch) transact(s *Session, i int, tx *firn.Tx) error {
	if i > b.ran || len(b.held) >= maxHeldBytes || b.long && s.limit > 0 {
		return nil
	}
	b.ran, b.long = i+1, false
	u := &b.units[i]
	if u.cmd.Flags&command.RunsScript == 0 { // a script has an author of its own
		if err := tx.SetAuthor(s.author); err != nil {
			b.held = s.fail(b.held, u, err)
			return err
		}
	}
	var err error
	noted := len(s.outbox.notes)
	b.held, err = s.runUnit(b.held, u, tx, tx)
	if err == scripting.ErrLong {
		b.ran, b.long = i, true
		s.outbox.forget(noted)
		return err
	}
	if err != nil {
		s.outbox.undo(noted)
	}
	for i := noted; i < len(s.outbox.notes); i++ {
		s.outbox.notes[i].end = len(b.held)
	}
	if tx.Wrote() && err == nil {
		b.wrote = tx.Timestamp()
	}
	if err == nil && s.call.Wants != nil {
		park(s, u, s.call.Wants)
	}
	s.call.Wants = nil
	return err
}

// decide ends the batch. If err is not nil then nothing of it was kept, and
// that is the answer to each of its commands. last may be that of a larger
// batch.
func (b *batch) decide(s *Session, last firn.Timestamp, err error) {
	if err != nil {
		unpark(s)
		b.ran = len(b.units)
		b.held = b.held[:0]
		if s.multi.on {
			s.multi.end()
		}
		for i := range b.units {
			b.held = s.fail(b.held, &b.units[i], err)
		}
	}
	if err == nil && 0 < b.wrote && b.wrote <= last {
		s.last = b.wrote
	}
	b.wrote = 0
	if err != nil {
		s.outbox.clear()
	}
	s.srv.deliver(&s.outbox, &s.track, &b.held)
	if b.handed != 0 {
		s.srv.latency.Add("commit", s.srv.opts.Now(), command.Clock()-b.handed)
	}
	s.phase = phaseDecided
}

// settle releases the replies of a decided batch. It is true if a rest of the
// batch has to be committed now.
func (b *batch) settle(s *Session) bool {
	if len(s.out.buf) == 0 {
		s.out.buf, b.held = b.held, s.out.buf
	} else {
		s.out.buf = append(s.out.buf, b.held...)
	}
	b.held = b.held[:0]
	if cap(b.held) > keepBytes {
		b.held = nil
	}
	rest := copy(b.units, b.units[b.ran:])
	clear(b.units[rest:])
	b.units, b.ran = b.units[:rest], 0
	s.phase = phaseReady
	if rest > 0 {
		s.phase = phaseCommitting
	}
	return rest > 0
}

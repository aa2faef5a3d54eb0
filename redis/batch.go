package redis

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

// A batch is a run of data commands that begins with a write: as many as have
// arrived, each a transaction of its own. Reads behind a write are in it too,
// so that they see what was written before them, and all replies keep their
// order. The replies are held back until the store has decided.
//
// The store gets it as part of a Group, alone or with those of other sessions.

// gather makes a batch of the pending write and what follows it.
func (s *Session) gather() {
	s.units, s.held, s.ran = s.units[:0], s.held[:0], 0
	s.handOver()
	for {
		s.units = append(s.units, s.next)
		s.pending = false
		if s.multi.on || s.next.cmd.Flags&command.Blocks != 0 || len(s.units) == maxUnits || !s.parse() {
			return // an EXEC is a batch alone: its queue is long enough; what may wait ends one
		}
		if c := s.class(&s.next); c != classWrites && c != classReads {
			return
		}
	}
}

// transact runs the i-th command of the batch. When the replies are too many
// already, the rest is left to another batch.
func (s *Session) transact(i int, tx *firn.Tx) error {
	if i > s.ran || len(s.held) >= maxHeldBytes {
		return nil
	}
	s.ran = i + 1
	u := &s.units[i]
	if err := tx.SetAuthor(s.author); err != nil {
		s.held = s.fail(s.held, u, err)
		return err
	}
	var err error
	noted := len(s.outbox.notes)
	s.held, err = s.runUnit(s.held, u, tx, tx)
	if err != nil {
		s.outbox.undo(noted)
	}
	if tx.Wrote() && err == nil {
		s.wrote = tx.Timestamp()
	}
	if err == nil && s.call.Wants != nil {
		s.park(u, s.call.Wants)
	}
	s.call.Wants = nil
	return err
}

// decide ends the batch. If err is not nil then nothing of it was kept, and
// that is the answer to each of its commands. last may be that of a larger
// batch.
func (s *Session) decide(last firn.Timestamp, err error) {
	if err != nil {
		s.unpark()
		s.ran = len(s.units)
		s.held = s.held[:0]
		if s.multi.on {
			s.endMulti()
		}
		for i := range s.units {
			s.held = s.fail(s.held, &s.units[i], err)
		}
	}
	if err == nil && 0 < s.wrote && s.wrote <= last {
		s.last = s.wrote
	}
	s.wrote = 0
	if err != nil {
		s.outbox.clear()
	}
	s.deliver()
	s.takeBack()
	s.phase = phaseDecided
}

// settle releases the replies of a decided batch. It is true if a rest of the
// batch has to be committed now.
func (s *Session) settle() bool {
	if len(s.out) == 0 {
		s.out, s.held = s.held, s.out
	} else {
		s.out = append(s.out, s.held...)
	}
	s.held = s.held[:0]
	if cap(s.held) > keepBytes {
		s.held = nil
	}
	rest := copy(s.units, s.units[s.ran:])
	clear(s.units[rest:])
	s.units, s.ran = s.units[:rest], 0
	s.phase = phaseReady
	if rest > 0 {
		s.phase = phaseCommitting
	}
	return rest > 0
}

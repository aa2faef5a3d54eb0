package redis

import (
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A transaction costs memory until EXEC: these bound it.
const (
	maxQueued      = 1 << 20 // commands
	maxQueuedBytes = 1 << 30 // of arguments
)

// multi is the state of MULTI. A queued command's arguments are copies: they
// outlive the input buffer.
type multi struct {
	on      bool
	spoiled bool // a command could not be queued: EXEC will refuse
	writes  bool // a queued command writes
	past    bool // a queued command reads the past, and has not done so yet
	scripts bool // a queued command runs a script
	local   bool // a queued command acts on the session or the server: EXEC must not run twice
	queue   []unit
	bytes   int
	live    func(s *Session, u *unit) // what EXEC does instead, after LIVE id MULTI; nil: it executes

	queued atomic.Int32                  // commands in queue, or -1; others read it
	watch  map[watched]keyspace.KeyState // how WATCH found the keys
}

// executes says whether a command is the EXEC of the transaction.
func (m *multi) executes(u *unit) bool { return m.on && u.cmd.Flags&command.Executes != 0 }

// class says what EXEC needs.
func (m *multi) class(s *Session) class {
	switch {
	case m.spoiled:
		return classLocal
	case m.live != nil || m.past || s.asof != 0 || m.local && !m.writes:
		return classBlocks
	case m.writes:
		return classWrites
	}
	return classReads
}

// waitsFor says whether a command would wait for a script that takes its time.
func (m *multi) waitsFor(e *command.Entry) bool {
	switch {
	case e.Flags&command.AllowBusy != 0:
		return false
	case e.Flags&command.Executes != 0:
		return m.on && (m.writes || m.spoiled)
	}
	return e.Flags&command.Writes != 0
}

// add queues a command and appends the answer to that.
func (m *multi) add(s *Session, out []byte, u *unit) []byte {
	size := 0
	for _, arg := range u.words {
		size += len(arg)
	}
	if len(m.queue) == maxQueued || m.bytes+size > maxQueuedBytes {
		m.spoiled = true
		return s.fail(out, u, resp.Error("ERR the transaction is too big"))
	}
	kept := unit{cmd: u.cmd, words: keep(u.words)}
	kept.args = kept.words[len(u.words)-len(u.args):]
	m.queue = append(m.queue, kept)
	m.bytes += size
	m.writes = m.writes || u.cmd.Flags&command.Writes != 0
	m.past = m.past || u.cmd.Flags&command.OnWorker != 0
	m.local = m.local || u.cmd.Flags&command.Local != 0
	m.scripts = m.scripts || u.cmd.Flags&command.RunsScript != 0
	m.queued.Store(int32(len(m.queue)))
	if u.mute {
		return out
	}
	return append(out, "+QUEUED\r\n"...)
}

// begin is MULTI.
func (m *multi) begin() {
	m.on, m.spoiled = true, false
	m.queued.Store(0)
}

// end ends MULTI and what WATCH remembers.
func (m *multi) end() {
	m.on, m.spoiled, m.writes, m.past, m.local, m.scripts = false, false, false, false, false, false
	m.queue, m.bytes, m.watch, m.live = nil, 0, nil, nil
	m.queued.Store(-1)
}

// readAhead answers the queued commands that read the past. What they read
// cannot change, and the transaction then does not wait for the file.
func (m *multi) readAhead(s *Session) {
	for i := range m.queue {
		u := &m.queue[i]
		if u.cmd.Flags&command.OnWorker == 0 || u.reply != nil {
			continue
		}
		if err := permitQueued(s, u.cmd, u.args); err != nil {
			u.reply = s.fail(nil, u, err)
			continue
		}
		u.reply, _ = s.run(nil, u, nil, nil)
	}
	m.past = false
}

// exec runs the queued commands on r and appends the reply as a whole. As in
// Redis a command that fails does not undo its neighbours. An error of the
// store undoes all of them; it has been answered, unless it is ErrCold.
func (m *multi) exec(s *Session, out []byte, u *unit, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	start := len(out)
	w := resp.Writer{Proto: s.proto, Buf: out}
	began := beginExec(u.cmd)
	changed, err := m.changed(s.call.At(r))
	switch {
	case err != nil:
	case changed:
		w.NullArray()
	default:
		w.Array(len(m.queue))
		w.Buf, err = m.execQueue(s, w.Buf, r, tx)
	}
	if runsAgain(err) {
		u.cmd.Calls.Add(-1)
		return w.Buf[:start], err
	}
	if began != 0 {
		u.cmd.Timed(command.Clock() - began)
	}
	m.end()
	shown(s, u)
	s.track.Ran(u.cmd)
	if err != nil {
		u.cmd.Failed.Add(1)
		return s.fail(w.Buf[:start], u, err), err
	}
	if u.mute {
		w.Buf = w.Buf[:start]
	}
	return w.Buf, nil
}

// beginExec counts a call of EXEC, and returns when it began; 0 if it is not
// timed. The stopwatch is busy with the commands inside.
func beginExec(e *command.Entry) time.Duration {
	if e.Calls.Add(1)&(sampleEvery-1) != 1 {
		return 0
	}
	return command.Clock()
}

func (m *multi) execQueue(s *Session, out []byte, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	for i := range m.queue {
		q := &m.queue[i]
		if q.reply != nil {
			out = append(out, q.reply...)
			continue
		}
		if err := permitQueued(s, q.cmd, q.args); err != nil {
			out = s.fail(out, q, err)
			continue
		}
		var err error
		if out, err = s.run(out, q, r, tx); err == nil {
			continue
		}
		if _, known := wire(err); !known {
			return out, err
		}
	}
	return out, nil
}

// watched is a key of a database.
type watched struct {
	db  int
	key string
}

// changed says whether a watched key is not as WATCH found it.
func (m *multi) changed(v *keyspace.View) (bool, error) {
	for w, before := range m.watch {
		now, err := v.KeyState(w.db, []byte(w.key))
		if err != nil {
			return false, err
		}
		if now.ChangedSince(before) {
			return true, nil
		}
	}
	return false, nil
}

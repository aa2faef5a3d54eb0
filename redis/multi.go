package redis

import (
	"errors"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// A transaction costs memory until EXEC: these bound it.
const (
	maxQueued      = 1 << 20 // commands
	maxQueuedBytes = 1 << 30 // of arguments
)

var transactionCommands = []command.Command{
	{
		Name: "MULTI", Flags: command.Local | command.Fast | command.NoQueue | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "transactions", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Starts a transaction: the commands that follow are queued until EXEC.",
		Run:     multiStart,
	},
	{
		Name: "EXEC", Flags: command.Local | command.NoQueue | command.Executes | command.NoScript | command.Loading | command.Stale | command.SkipsSlowlog,
		Group: "transactions", Since: "1.2.0", Complexity: "that of the commands",
		Summary: "Executes all commands of a transaction.",
		Differs: "The commands have one timestamp. Those that read the past (AT, HISTORY) are answered before the rest. " +
			"A transaction that only reads runs on one snapshot.",
		Run: multiRefuse,
	},
	{
		Name: "DISCARD", Flags: command.Local | command.Fast | command.NoQueue | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "transactions", Since: "2.0.0", Complexity: "O(n), n the queued commands",
		Summary: "Discards a transaction and forgets watched keys.",
		Run:     multiDiscard,
	},
}

// multi is the state of MULTI. A queued command's arguments are copies: they
// outlive the input buffer.
type multi struct {
	on      bool
	spoiled bool // a command could not be queued: EXEC will refuse
	writes  bool // a queued command writes
	past    bool // a queued command reads the past, and has not done so yet
	local   bool // a queued command acts on the session or the server: EXEC must not run twice
	queue   []unit
	bytes   int
}

// executes says whether a command is the EXEC of the session's transaction.
func (s *Session) executes(u *unit) bool { return s.multi.on && u.cmd.Flags&command.Executes != 0 }

// class says what EXEC needs.
func (m *multi) class(s *Session) class {
	switch {
	case m.spoiled:
		return classLocal
	case m.past || s.asof != 0 || m.local && !m.writes:
		return classBlocks
	case m.writes:
		return classWrites
	}
	return classReads
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
	s.queued.Store(int32(len(m.queue)))
	if u.mute {
		return out
	}
	return append(out, "+QUEUED\r\n"...)
}

func (m *multi) end() { *m = multi{} }

// readAhead answers the queued commands that read the past. What they read
// cannot change, and the transaction then does not wait for the file.
func (m *multi) readAhead(s *Session) {
	for i := range m.queue {
		u := &m.queue[i]
		if u.cmd.Flags&command.OnWorker == 0 || u.reply != nil {
			continue
		}
		if err := s.permitQueued(u.cmd, u.args); err != nil {
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
func (s *Session) exec(out []byte, u *unit, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	start := len(out)
	w := resp.Writer{Proto: s.proto, Buf: out}
	changed, err := s.watchedChanged(r)
	switch {
	case err != nil:
	case changed:
		w.NullArray()
	default:
		w.Array(len(s.multi.queue))
		w.Buf, err = s.execQueue(w.Buf, r, tx)
	}
	if errors.Is(err, firn.ErrCold) {
		return w.Buf[:start], err
	}
	s.endMulti()
	s.shown(u.cmd, u.words)
	s.ranTracked(u.cmd)
	if err != nil {
		return s.fail(w.Buf[:start], u, err), err
	}
	if u.mute {
		w.Buf = w.Buf[:start]
	}
	return w.Buf, nil
}

func (s *Session) execQueue(out []byte, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	for i := range s.multi.queue {
		q := &s.multi.queue[i]
		if q.reply != nil {
			out = append(out, q.reply...)
			continue
		}
		if err := s.permitQueued(q.cmd, q.args); err != nil {
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

// endMulti ends MULTI and what WATCH remembers.
func (s *Session) endMulti() {
	s.multi.end()
	s.queued.Store(-1)
	s.unwatch()
}

func multiStart(c *command.Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return resp.Error("ERR MULTI calls can not be nested")
	}
	s.multi = multi{on: true}
	s.queued.Store(0)
	c.Reply.Simple("OK")
	return nil
}

func multiDiscard(c *command.Call) error {
	if !sessionOf(c).multi.on {
		return resp.Error("ERR DISCARD without MULTI")
	}
	sessionOf(c).endMulti()
	c.Reply.Simple("OK")
	return nil
}

// multiRefuse is EXEC when there is nothing to execute; exec does the rest.
func multiRefuse(c *command.Call) error {
	if !sessionOf(c).multi.on {
		return resp.Error("ERR EXEC without MULTI")
	}
	sessionOf(c).endMulti()
	return errExecAbort
}

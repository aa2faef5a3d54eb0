package redis

import (
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
)

// scriptHost is a session as the host of the scripts that it runs.
type scriptHost Session

var _ scripting.Host = (*scriptHost)(nil)

// ScriptHost implements scripting.Hosted.
func (s *Session) ScriptHost() scripting.Host { return (*scriptHost)(s) }

// Engine implements scripting.Host.
func (h *scriptHost) Engine() *scripting.Engine { return h.srv.scripts }

// Limit implements scripting.Host: a transaction knows from its group where it
// runs, a read from its session.
func (h *scriptHost) Limit(c *command.Call) time.Duration {
	if _, inTransaction := c.R.(*firn.Tx); inTransaction {
		return h.limit
	}
	if h.block {
		return 0
	}
	return scripting.LoopLimit
}

// Begin implements scripting.Host.
func (h *scriptHost) Begin(r *scripting.Run) error {
	s := (*Session)(h)
	if s.script == nil {
		s.script = new(scriptState)
	}
	st := s.script
	st.run, st.hurried, st.db, st.noted = r, r.Hurried, s.db, noted(&s.outbox)
	st.counted = s.call.Work.Counted
	if r.Outer.Tx == nil {
		return nil
	}
	author := s.author
	if !s.srv.opts.Anonymous {
		author = st.author.of(author, r.Reason)
	}
	return r.Outer.Tx.SetAuthor(author)
}

// End implements scripting.Host.
func (h *scriptHost) End(r *scripting.Run, err error) {
	s := (*Session)(h)
	st := s.script
	st.run = nil
	if s.db != st.db {
		s.db = st.db
		s.publish()
	}
	if runsAgain(err) {
		st.undo(s.call.Work)
	} else {
		for _, do := range st.later {
			do()
		}
	}
	clear(st.calls)
	clear(st.failures)
	clear(st.later)
	st.calls, st.failures, st.later = st.calls[:0], st.failures[:0], st.later[:0]
	if r.Outer.Tx != nil && s.multi.on && err == nil {
		_ = r.Outer.Tx.SetAuthor(s.author) // it was set before
	}
}

// MayRun implements scripting.Host. Redis logs nothing here.
func (h *scriptHost) MayRun(words [][]byte) (may, known bool) {
	s := (*Session)(h)
	e, args, _ := s.srv.commands.Resolve(words)
	if e == nil {
		return false, false
	}
	bounds := s.user.Load().Bounds.Load()
	if bounds == nil {
		return true, true
	}
	why, _ := bounds.Check(e, args)
	return why == acl.DenialNone, true
}

// Failed implements scripting.Host.
func (h *scriptHost) Failed(_ *scripting.Run, text string, counted bool) {
	if !counted {
		h.script.soon(func() { h.srv.stats.countError(text) })
	}
}

// Log implements scripting.Host.
func (h *scriptHost) Log(level int, text string) {
	s := (*Session)(h)
	logger := s.srv.opts.Logger
	s.script.soon(func() {
		switch level {
		case scripting.LevelDebug, scripting.LevelVerbose:
			logger.Debug(text, "from", "script")
		case scripting.LevelWarning:
			logger.Warn(text, "from", "script")
		default:
			logger.Info(text, "from", "script")
		}
	})
}

// Busy implements scripting.Host: who waits behind the transaction is told.
func (h *scriptHost) Busy(r *scripting.Run) {
	if tx, ok := r.Outer.R.(*firn.Tx); ok {
		tx.TurnAway(r.BusyError())
	}
}

// Closing implements scripting.Host.
func (h *scriptHost) Closing(r *scripting.Run) bool {
	tx, ok := r.Outer.R.(*firn.Tx)
	return ok && tx.Closing()
}

// EndScripts ends the scripts that take their time now: what they wrote is
// undone. Drivers call it, again and again, when they end.
func (srv *Server) EndScripts() { srv.scripts.EndAll() }

// Long says that what a session needs a commit for takes its time: a driver that
// runs groups itself hands it to another goroutine, in a group of its own.
func Long(s *Session) bool { return s.batch.long }

// RunsScript says that what a session is to run where it may wait is a script,
// which may take its time: other reads should not wait for it.
func RunsScript(s *Session) bool {
	u := &s.next
	if s.multi.executes(u) {
		return s.multi.scripts
	}
	for e, args := u.cmd, u.args; e != nil; {
		if e.Flags&command.RunsScript != 0 {
			return true
		}
		if e.Wraps == nil || len(args) < 2 {
			return false
		}
		words := e.Wraps(args)
		if len(words) == 0 {
			return false
		}
		e, args, _ = s.srv.commands.Resolve(words)
	}
	return false
}

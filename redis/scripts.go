package redis

import (
	"errors"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// scriptBudget is how many instructions a script may take on an event loop.
const scriptBudget = 20_000

// scriptHost is a session as the host of the scripts that it runs.
type scriptHost Session

// ScriptHost implements scripting.Hosted.
func (s *Session) ScriptHost() scripting.Host { return (*scriptHost)(s) }

// Engine implements scripting.Host.
func (h *scriptHost) Engine() *scripting.Engine { return h.srv.scripts }

// Begin implements scripting.Host.
func (h *scriptHost) Begin(r *scripting.Run) {
	s := (*Session)(h)
	s.script, s.scriptDB = r, s.db
	if hurried(s, r) {
		r.Budget = scriptBudget
	}
}

// hurried says whether a script runs on an event loop.
func hurried(s *Session, r *scripting.Run) bool {
	if _, inTransaction := r.Outer.R.(*firn.Tx); inTransaction {
		return s.hurried
	}
	return !s.block
}

// End implements scripting.Host.
func (h *scriptHost) End(*scripting.Run) {
	s := (*Session)(h)
	s.script = nil
	if s.db != s.scriptDB {
		s.db = s.scriptDB
		s.publish()
	}
}

// Do implements scripting.Host.
func (h *scriptHost) Do(r *scripting.Run, words [][]byte) error {
	s := (*Session)(h)
	e, args, err := s.srv.commands.Resolve(words)
	switch {
	case e == nil:
		return scripting.ErrUnknown
	case err != nil:
		return scripting.ErrArity
	case e.Flags&command.NoScript != 0:
		return scripting.ErrNotAllowed
	case e.Flags&command.Writes != 0 && (r.ReadOnly || r.Outer.Tx == nil):
		return scripting.ErrReadOnly
	}
	if err := permit(s, e, args); err != nil {
		return err
	}
	return runCalled(s, r, e, args)
}

// runCalled runs a command that a script calls.
func runCalled(s *Session, r *scripting.Run, e *command.Entry, args [][]byte) error {
	c := &r.Call
	c.Begin()
	c.Cmd, c.Operation, c.Args, c.DB, c.Wants, c.Patience, c.Waited = e, e.Operation, args, s.db, nil, command.RepliesAtOnce, false
	c.R, c.Tx, c.Aspect = r.Outer.R, nil, e.Live.On
	if e.Flags&command.Writes != 0 {
		c.Tx, r.Wrote = r.Outer.Tx, true
	}
	start := len(c.Reply.Buf)
	e.Calls.Add(1)
	err := e.Run(c)
	if err == nil {
		return nil
	}
	c.Reply.Buf = c.Reply.Buf[:start]
	if text, known := wire(err); known && !errors.Is(err, firn.ErrCold) {
		e.Failed.Add(1)
		return resp.Error(text)
	}
	return r.Fatal(err)
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
		h.srv.stats.countError(text)
	}
}

// Log implements scripting.Host.
func (h *scriptHost) Log(level int, text string) {
	h.srv.opts.Logger.Info("script", "level", level, "message", text)
}

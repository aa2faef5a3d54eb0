package live

import (
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// ScriptTime is how long a script may take that is followed. It holds one of a
// few workers, now and after each change of what it reads, so what takes longer
// is a report to be asked for and not to be followed.
const ScriptTime = 2 * time.Second

// errScriptTime is the error of a script that takes longer.
const errScriptTime = resp.Error("ERR the script takes longer than two seconds, which is the most that LIVE gives one")

// scriptHost is an evaluator as the host of the scripts that are followed. What
// they read is recorded like any read, so whatever changes their replies wakes
// them; a command whose reply changes without a commit is refused.
type scriptHost evaluator

// ScriptHost implements scripting.Hosted.
func (e *evaluator) ScriptHost() scripting.Host { return (*scriptHost)(e) }

// Engine implements scripting.Host.
func (h *scriptHost) Engine() *scripting.Engine { return h.hub.opts.Scripts }

// Begin implements scripting.Host.
func (h *scriptHost) Begin(r *scripting.Run) error {
	r.Deadline, r.Late = time.Now().Add(ScriptTime), errScriptTime
	return nil
}

// Limit implements scripting.Host.
func (h *scriptHost) Limit(*command.Call) time.Duration { return 0 }

// Busy implements scripting.Host. Nobody waits for a query.
func (h *scriptHost) Busy(*scripting.Run) {}

// Closing implements scripting.Host.
func (h *scriptHost) Closing(*scripting.Run) bool { return false }

// End implements scripting.Host.
func (h *scriptHost) End(*scripting.Run, error) {}

// Do implements scripting.Host.
func (h *scriptHost) Do(r *scripting.Run, words [][]byte) error {
	e, args, err := h.hub.opts.Commands.Resolve(words)
	switch {
	case e == nil:
		return scripting.ErrUnknown
	case err != nil:
		return scripting.ErrArity
	case e.Flags&command.NoScript != 0:
		return scripting.ErrNotAllowed
	case e.Flags&command.Writes != 0:
		return scripting.ErrReadOnly
	}
	if err := e.MayLive(); err != nil {
		return err
	}
	if err := h.permit(e, args); err != nil {
		return err
	}
	return h.runCalled(r, e, args)
}

// permit says whether who follows the script may run a command.
func (h *scriptHost) permit(e *command.Entry, args [][]byte) error {
	if h.rights == nil {
		return nil
	}
	if why, _ := h.rights.Check(e, args); why != acl.DenialNone {
		return h.hub.opts.Refusal(e, why)
	}
	return nil
}

// runCalled runs a command that a script calls.
func (h *scriptHost) runCalled(r *scripting.Run, e *command.Entry, args [][]byte) error {
	c := &r.Call
	c.Begin()
	c.Cmd, c.Operation, c.Args, c.DB, c.R, c.Tx, c.Wants = e, e.Operation, args, r.Outer.DB, r.Outer.R, nil, nil
	c.Aspect, c.Waited, c.Patience = e.Live.On, false, command.RepliesAtOnce
	start := len(c.Reply.Buf)
	err := e.Run(c)
	if err == nil {
		return nil
	}
	c.Reply.Buf = c.Reply.Buf[:start]
	if text, known := h.hub.opts.Text(err); known {
		return resp.Error(text)
	}
	return r.Fatal(err)
}

// MayRun implements scripting.Host.
func (h *scriptHost) MayRun(words [][]byte) (may, known bool) {
	e, args, _ := h.hub.opts.Commands.Resolve(words)
	if e == nil {
		return false, false
	}
	return h.permit(e, args) == nil, true
}

// Failed implements scripting.Host. Nobody has sent a command that failed.
func (h *scriptHost) Failed(*scripting.Run, string, bool) {}

// Log implements scripting.Host. A script that is followed runs whenever it
// must, so what it has to say is not news.
func (h *scriptHost) Log(int, string) {}

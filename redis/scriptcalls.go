package redis

import (
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/measure"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// Errors of commands that scripts call, in Redis's words.
const (
	errScriptCommand = resp.Error("ERR The user executing the script can't run this command or subcommand")
	errScriptKey     = resp.Error("ERR The user executing the script can't access at least one of the keys mentioned in the command arguments")
	errScriptChannel = resp.Error("ERR The user executing the script can't publish to the channel mentioned in the command")
)

// heldFactor is how many times what a script may hold itself is held for it until
// its transaction is decided. In Redis what it writes is bounded by maxmemory.
const heldFactor = 4

// Do implements scripting.Host.
func (h *scriptHost) Do(r *scripting.Run, words [][]byte) error {
	s := (*Session)(h)
	e, args, err := s.srv.commands.Resolve(words)
	if err == nil {
		err = scriptMay(s, r, e, args)
	} else {
		err = unresolved(e, len(words), err)
	}
	if err == nil && asksToWait(e, args) {
		err = resp.Error("ERR " + string(words[0]) + " command is not allowed with BLOCK option from scripts")
	}
	if err != nil {
		refusedInScript(s, e, err)
		return err
	}
	return runCalled(s, r, e, args, words)
}

// unresolved is the error for n words that are no command, or have too few or too
// many arguments for one. Where Redis leaves it to the command to count them, the
// error is the command's.
func unresolved(e *command.Entry, n int, err error) error {
	if e == nil {
		return scripting.ErrUnknown
	}
	if arity := e.Arity(); arity < 0 && n >= -arity && e.Run != nil {
		return err
	}
	return scripting.ErrArity
}

// scriptMay says why a script may not run a command; nil: it may.
func scriptMay(s *Session, r *scripting.Run, e *command.Entry, args [][]byte) error {
	const aboutThePast = command.OnWorker | command.OwnName
	switch {
	case e.Flags&command.NoScript != 0, e.Flags&aboutThePast == aboutThePast, e.Flags&command.Protected != 0:
		return scripting.ErrNotAllowed
	case e.Flags&command.OnWorker != 0 && r.Hurried:
		return r.Fatal(scripting.ErrLong) // it takes its time
	}
	if err := scriptPermit(s, e, args); err != nil {
		return err
	}
	const writes = command.Writes | command.Replicates
	if e.Flags&writes != 0 && r.ReadOnly || e.Flags&command.Writes != 0 && r.Outer.Tx == nil {
		return scripting.ErrReadOnly
	}
	if e.Flags&command.Writes != 0 {
		return r.Writes()
	}
	return nil
}

// asksToWait says whether a reader of streams has the option BLOCK, which Redis
// refuses scripts whatever there is to read.
func asksToWait(e *command.Entry, args [][]byte) bool {
	if e.Flags&command.Blocks == 0 || e.Group != "stream" {
		return false
	}
	for i := 0; i < len(args); i++ {
		switch {
		case command.Is(args[i], "BLOCK"):
			return true
		case command.Is(args[i], "COUNT"):
			i++
		case command.Is(args[i], "GROUP"):
			i += 2
		case !command.Is(args[i], "NOACK"):
			return false
		}
	}
	return false
}

// scriptPermit is permit for a command that a script calls.
func scriptPermit(s *Session, e *command.Entry, args [][]byte) error {
	bounds := s.user.Load().Bounds.Load()
	if bounds == nil {
		return nil
	}
	why, object := bounds.Check(e, args)
	if why == acl.DenialNone {
		return nil
	}
	named, user := string(object), s.user.Load().Name
	s.script.soon(func() { logDenialIn(s, "lua", e, why, named, user) })
	switch why {
	case acl.DenialKey:
		return errScriptKey
	case acl.DenialChannel:
		return errScriptChannel
	}
	return errScriptCommand
}

// refusedInScript counts a command that was not run.
func refusedInScript(s *Session, e *command.Entry, err error) {
	text, known := err.(resp.Error)
	if !known {
		return
	}
	s.script.soon(func() {
		if e != nil {
			e.Rejected.Add(1)
		}
		s.srv.stats.countError(string(text))
	})
}

// runCalled runs a command that a script calls.
func runCalled(s *Session, r *scripting.Run, e *command.Entry, args, words [][]byte) error {
	st := s.script
	c := &r.Call
	c.Begin()
	c.Cmd, c.Operation, c.Args, c.DB, c.Tx, c.Aspect = e, e.Operation, args, s.db, nil, e.Live.On
	if e.Flags&command.Writes != 0 {
		c.Tx = r.Outer.Tx
	}
	if st.hurried {
		st.calls = append(st.calls, e)
	}
	start := len(c.Reply.Buf)
	began := st.times.begin(e, len(args), nil, s.srv.slow.All.Load())
	var err error
	if s.track.On {
		err = noteStaleKeys(s, e, args, c)
	}
	if err == nil {
		err = e.Run(c)
	}
	if took, timed := st.times.end(e, began); timed && took >= s.srv.slow.Floor() {
		slowInScript(s, e, args, took)
	}
	if err == nil {
		if s.track.On {
			noteReads(s, e, args, c.R)
		}
		shownInScript(s, e, words)
		return heldFor(s, r)
	}
	c.Reply.Buf = c.Reply.Buf[:start]
	return failedInScript(s, r, e, words, err)
}

// failedInScript is the error of a command that a script called: for the script,
// or one that ends it.
func failedInScript(s *Session, r *scripting.Run, e *command.Entry, words [][]byte, err error) error {
	text, known := wire(err)
	if !known || runsAgain(err) {
		return r.Fatal(err)
	}
	shownInScript(s, e, words)
	if err := heldFor(s, r); err != nil {
		return err
	}
	e.Failed.Add(1)
	if s.script.hurried {
		s.script.failures = append(s.script.failures, e)
	}
	s.script.soon(func() { s.srv.stats.countError(text) })
	return resp.Error(text)
}

// heldFor ends a script when too much is held until its transaction is decided:
// what that has written, also before the script, and what others are to be told.
func heldFor(s *Session, r *scripting.Run) error {
	held := noted(&s.outbox) - s.script.noted
	if tx := r.Outer.Tx; tx != nil {
		held += tx.Bytes()
	}
	if int64(held) <= heldFactor*r.Engine.MemoryBytes.Load() {
		return nil
	}
	return r.Fatal(scripting.ErrHeld)
}

// noted is how many bytes there are to tell others.
func noted(o *outbox) int { return noteBytes*len(o.notes) + len(o.text) }

// shownInScript is shown for a command that a script has called.
func shownInScript(s *Session, e *command.Entry, words [][]byte) {
	if s.srv.monitors.Count.Load() == 0 || e.Flags&command.Admin != 0 {
		return
	}
	s.outbox.add(note{what: noteMonitor}, monitorLine(s.srv.opts.Now(), s.db, "lua", e, words), nil)
}

// slowInScript is wasSlow for a command that a script has called, which has no
// client of its own.
func slowInScript(s *Session, e *command.Entry, args [][]byte, took time.Duration) {
	now, words := s.srv.opts.Now(), measure.SlowWords(e.Full, args)
	s.script.soon(func() {
		if s.srv.slow.Wants(took) && e.Flags&command.Skip == 0 {
			s.srv.slow.Add(measure.SlowCommand{At: now, Took: took, Words: words, Peer: "?:0"})
		}
		s.srv.latency.Add(slowEvent(e), now, took)
	})
}

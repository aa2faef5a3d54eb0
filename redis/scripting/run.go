package scripting

import (
	"errors"
	"time"

	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// Host is who runs a script, as far as the script needs to know: the session,
// or what evaluates a live query.
type Host interface {
	// Engine is the server's.
	Engine() *Engine

	// Limit is how long a script may take where the command runs, because others
	// wait there: then it ends with ErrLong. 0: as long as it likes.
	Limit(c *command.Call) time.Duration

	// Begin is called before a script runs, and End after it. If err is one after
	// which the command runs again, the host forgets what this attempt has done.
	Begin(r *Run) error
	End(r *Run, err error)

	// Do runs a command that the script calls, of one word or more, and appends the
	// reply to r.Call.Reply. A resp.Error is the command's, for the script; any other
	// error ends the script, and nobody sees what it did.
	Do(r *Run, words [][]byte) error

	// MayRun says whether the user may run a command, and whether there is one of
	// that name.
	MayRun(words [][]byte) (may, known bool)

	// Failed notes an error in the reply of a script. counted says that it is in the
	// statistics of errors already.
	Failed(r *Run, text string, counted bool)

	// Log writes a line to the server's log.
	Log(level int, text string)

	// Busy refuses those who wait for the script, which takes long.
	Busy(r *Run)

	// Closing says that the store is being closed, and waits for the script.
	Closing(r *Run) bool
}

// Errors of commands that scripts call, in Redis's words.
const (
	ErrUnknown    = resp.Error("ERR Unknown Redis command called from script")
	ErrArity      = resp.Error("ERR Wrong number of args calling Redis command from script")
	ErrNotAllowed = resp.Error("ERR This Redis command is not allowed from script")
	ErrReadOnly   = resp.Error("ERR Write commands are not allowed from read-only scripts.")
)

// Hosted is a command's client that can run scripts.
type Hosted interface{ ScriptHost() Host }

// Run is one execution of a script. It is part of a pooled state, and used
// again by the next.
type Run struct {
	Engine   *Engine
	Host     Host
	Outer    *command.Call // of the command that runs the script
	Call     command.Call  // of the one that the script calls now
	Name     string        // the script's SHA1, or the function's name
	Reason   string        // what history says about why it wrote
	Function bool          // it is a function
	ReadOnly bool          // the script may not write
	Wrote    bool          // it has called a command that writes
	Hurried  bool          // it has a Limit: the attempt may have to be undone
	Limit    time.Duration // how long it may take here; 0: as long as it likes
	Deadline time.Time     // when it must have ended; zero: it may take its time
	Late     error         // what it ends with then
	Proto    int           // of the replies that the script sees

	state     *lua.State
	guard     lua.Guard
	pulse     pulse
	functions any // what functions keep in state, see libraryload.go

	calling bool  // a command runs, which is not Lua's
	ended   error // why the script must end: an error that is not for it

	words [][]byte // scratch: of the command that the script calls
	arena []byte   // what they are made of
	ends  []int    // of words in arena
	reply []byte   // scratch: of Call.Reply
}

// hurry says how long the script may take here.
func (r *Run) hurry(limit time.Duration) { r.Limit, r.Hurried = limit, limit > 0 }

// Fatal notes an error that ends the script.
func (r *Run) Fatal(err error) error {
	if r.ended == nil {
		r.ended = err
	}
	return r.ended
}

// endOf is the error that ends the command, of the one that a call of Lua has
// ended with; nil is for one that is the script's, if there is one. A mistake in
// Lua is a script's misfortune, which is undone, but one in a command may have left
// locks and half of a write.
func (r *Run) endOf(err error) error {
	broken, ok := errors.AsType[*lua.PanicError](err)
	invariant.Check(!ok || !r.calling, "a command that a script calls does not panic: %v", broken)
	switch {
	case ok:
		return err
	case r.ended != nil:
		return r.ended
	case errors.Is(err, lua.ErrSteps):
		return ErrLong
	}
	return nil
}

// do runs a command and returns its reply in RESP, which is valid until the
// next call. An error is for the script, unless r.ended is set.
func (r *Run) do(words [][]byte) ([]byte, error) {
	if err := r.beat(); err != nil {
		return nil, err
	}
	r.Call.Reply.Buf, r.Call.Reply.Proto = r.reply[:0], r.Proto
	r.calling = true
	err := r.Host.Do(r, words)
	r.calling = false
	r.reply = r.Call.Reply.Buf
	return r.reply, err
}

package scripting

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/measure"
	"github.com/firndb/firn/resp"
)

// What a script may take where others wait for it.
const (
	// LoopLimit is for event loops. Handing a script to another goroutine costs some
	// 50 µs, so what takes a multiple of that is worth it; and a loop has other
	// clients, hundreds of which may each have sent a script.
	LoopLimit = 300 * time.Microsecond

	// GroupLimit is for the writer's goroutine, where the clients wait whose commands
	// share a commit with the script.
	GroupLimit = 2 * time.Millisecond

	// hurriedSteps is how many instructions the shorter of the two allows, about, so
	// that the clock need not be looked at for short scripts.
	hurriedSteps = 10_000

	// clockCalls is how many commands a script calls between two looks at the clock.
	clockCalls = 8
)

// A script elsewhere is known to others after noticed, and lets others have the
// processor as often: an event loop that waits for one waits no longer.
const noticed = 500 * time.Microsecond

// EndGrace is how long scripts may go on once the server, or the store, ends.
const EndGrace = time.Second

// Business says that a script keeps those waiting who write.
type Business int32

const (
	NotBusy Business = iota
	BusyScript
	BusyFunction
)

// Errors of the commands that end scripts, in Redis's words.
const (
	errNotBusy      = resp.Error("NOTBUSY No scripts in execution right now.")
	errUnkillable   = resp.Error("UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.")
	errBusyScript   = resp.Error("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
	errBusyFunction = resp.Error("BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.")

	errKilled = resp.Error("ERR Script killed by user with SCRIPT KILL...")
)

// ErrEnded is the error of a script that was ended because the server ends.
// Nothing that it wrote is kept.
var ErrEnded = errors.New("redis: the script was ended, because the server ends")

// ErrHeld is the error of a script for which too much would be held until its
// transaction is decided. Nothing that it wrote is kept.
var ErrHeld = errors.New("redis: the script writes, or tells others, too much at once")

// Whether a script has written, and whether it was killed: only one of both.
const (
	fateOpen int32 = iota
	fateWrote
	fateKilled
)

// pulse is how a Run knows how long it takes, and whether it is to end.
type pulse struct {
	began, looked time.Duration // by command.Clock
	closing       time.Duration // when it was seen that the store closes; 0: it was not
	words         []string      // of the command that runs it, once others know of it
	calls         int           // of commands, since the clock was looked at
	known         bool          // to others, in running
	busy          bool          // others are refused
	fate          atomic.Int32
	ends          atomic.Pointer[error] // what it is to end with; nil: it goes on
}

// running is the scripts that take their time.
type running struct {
	mu   sync.Mutex
	runs []*Run
	busy atomic.Int32 // a Business
}

// Busy says whether a script keeps those waiting who write, for longer than they
// should wait.
func (e *Engine) Busy() Business { return Business(e.running.busy.Load()) }

// enter begins the execution of what a command runs, and starts the clock. leave
// has to follow, also if it fails. Limit and Hurried are the caller's to set
// before.
func (r *Run) enter(c *command.Call, host Host, name string, readOnly bool) error {
	r.Host, r.Outer, r.ReadOnly, r.Proto, r.Name = host, c, readOnly, 2, name
	*r.Call.View = *c.View
	r.Call.Client = c.Client
	r.pulse.began = command.Clock()
	r.pulse.looked = r.pulse.began
	r.guard.Bytes, r.guard.Steps = r.Engine.MemoryBytes.Load(), 0
	if r.Limit == LoopLimit {
		r.guard.Steps = hurriedSteps
	}
	err := host.Begin(r)
	r.guard.Deadline = r.Deadline
	return err
}

// leave ends it, with an error if it has one.
func (r *Run) leave(err error) {
	r.Engine.took(r, err)
	r.finish()
	r.Host.End(r, err)
}

// look is called now and then while a script runs: its error ends the script.
func (r *Run) look() error {
	if r.ended != nil {
		return r.ended
	}
	now := command.Clock()
	if r.Hurried {
		if now-r.pulse.began > r.Limit {
			return r.Fatal(ErrLong)
		}
		return nil
	}
	if now-r.pulse.looked < noticed {
		return nil
	}
	r.pulse.looked = now
	if !r.pulse.known {
		r.pulse.known = true
		r.Engine.running.add(r)
	}
	if r.Host.Closing(r) {
		if r.pulse.closing == 0 {
			r.pulse.closing = now
		}
		if now-r.pulse.closing > EndGrace {
			r.endWith(ErrEnded)
		}
	}
	if end := r.pulse.ends.Load(); end != nil {
		return r.endNow(*end)
	}
	if most := r.Engine.BusyMillis.Load(); most > 0 && now-r.pulse.began >= time.Duration(most)*time.Millisecond {
		r.tooLong()
	}
	runtime.Gosched()
	return nil
}

// endNow ends the script with what it is to end with.
func (r *Run) endNow(end error) error {
	if end == errKilled {
		end = r.killed()
	}
	return r.Fatal(end)
}

// tooLong refuses those who wait for the script, if any do.
func (r *Run) tooLong() {
	_, waitedFor := r.Outer.R.(*firn.Tx)
	if !waitedFor {
		return
	}
	first := !r.pulse.busy
	r.pulse.busy = true
	r.Engine.running.busy.Store(int32(r.business())) // before what waits is told: it may come again at once
	r.Host.Busy(r)
	if !first {
		return
	}
	r.Host.Log(LevelWarning, "a script takes long: SCRIPT KILL, FUNCTION KILL and SHUTDOWN NOSAVE can end it")
}

// beat is look for commands that a script calls.
func (r *Run) beat() error {
	if r.ended != nil {
		return r.ended
	}
	if r.pulse.calls++; r.pulse.calls < clockCalls {
		return nil
	}
	r.pulse.calls = 0
	return r.look()
}

// Writes notes that the script is about to write; an error says that it was
// killed before.
func (r *Run) Writes() error {
	if r.Wrote {
		return nil
	}
	if !r.pulse.fate.CompareAndSwap(fateOpen, fateWrote) {
		return r.endNow(errKilled)
	}
	r.Wrote = true
	return nil
}

// finish ends the clock: nobody knows of the script any more.
func (r *Run) finish() {
	if r.pulse.known {
		r.Engine.running.remove(r)
	}
	r.pulse.known, r.pulse.busy, r.pulse.calls, r.pulse.closing, r.pulse.words = false, false, 0, 0, nil
	r.pulse.fate.Store(fateOpen)
	r.pulse.ends.Store(nil)
}

func (a *running) add(r *Run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.pulse.words = measure.SlowWords(r.Outer.Cmd.Full, r.Outer.Args)
	a.runs = append(a.runs, r)
}

func (a *running) remove(r *Run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.runs, r); i >= 0 {
		a.runs = slices.Delete(a.runs, i, i+1)
	}
	if r.pulse.busy {
		a.busy.Store(int32(NotBusy))
	}
}

func (r *Run) endWith(err error) { r.pulse.ends.CompareAndSwap(nil, &err) }

// EndAll ends all scripts that take their time now, whatever they have written:
// the server ends.
func (e *Engine) EndAll() {
	a := &e.running
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.runs {
		r.endWith(ErrEnded)
	}
}

// Kill ends the scripts that take their time and have not written, or the
// functions.
func (e *Engine) Kill(functions bool) error {
	a := &e.running
	a.mu.Lock()
	defer a.mu.Unlock()
	var refused error = errNotBusy
	killed := false
	for _, r := range a.runs {
		switch {
		case r.Function == functions && r.pulse.fate.Load() == fateKilled:
			killed = true // it is on its way to its end
		case r.pulse.fate.Load() == fateWrote:
			refused = errUnkillable
		case r.Function != functions:
			if refused == errNotBusy {
				refused = r.BusyError()
			}
		case r.pulse.fate.CompareAndSwap(fateOpen, fateKilled):
			r.endWith(errKilled)
			killed = true
		default:
			refused = errUnkillable
		}
	}
	if killed {
		return nil
	}
	return refused
}

// business is what a script is that keeps others waiting.
func (r *Run) business() Business {
	if r.Function {
		return BusyFunction
	}
	return BusyScript
}

// Error is what those who write are told meanwhile.
func (b Business) Error() resp.Error {
	if b == BusyFunction {
		return errBusyFunction
	}
	return errBusyScript
}

// BusyError is what those who write are told while r takes its time.
func (r *Run) BusyError() resp.Error { return r.business().Error() }

// killed is the answer to a script that was killed, where it is now.
func (r *Run) killed() resp.Error {
	text := "ERR Script killed by user with SCRIPT KILL... script: " + r.Name
	if r.state == nil { // a function written in Go
		return resp.Error(text)
	}
	source, line := r.state.Position()
	return resp.Error(fmt.Sprintf("%s, on %s:%d.", text, source, line))
}

// Underway is a function that takes its time.
type Underway struct {
	Name  string
	Words []string
	Took  time.Duration
}

// Underway is the function that has been running longest, of those that take
// their time.
func (e *Engine) Underway() (u Underway, ok bool) {
	a := &e.running
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.runs {
		if r.Function {
			return Underway{r.Name, r.pulse.words, command.Clock() - r.pulse.began}, true
		}
	}
	return u, false
}

package scripting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Functions written in Go are part of the program that serves, so they are
// there at every moment, and no document says anything of them. FUNCTION LIST
// shows them as one library.
const (
	nativeEngine  = "GO"
	nativeLibrary = "go"
)

const errNativeLibrary = resp.Error("ERR Library 'go' is part of the server's program")

// Invocation is one call of a function written in Go. It is good until the
// function returns, and belongs to the goroutine that it was called on.
//
// View is the database at the moment of the call, see [keyspace.View]. Under
// FCALL of a function that may write Tx is the transaction of the call, and
// otherwise nil; R is what to read from in any case. An error that a read
// returns has to be passed on: the function may be called again then, where it
// can wait for the file.
//
// The function appends exactly one reply to Reply. Keys and Args share memory
// with the client's input.
type Invocation struct {
	*keyspace.View
	Keys  [][]byte
	Args  [][]byte
	Reply *resp.Writer

	run *Run
}

// Do runs a command as redis.call does, with the client's rights, and returns
// its reply in RESP, of protocol 2, which is good until the next call. An error
// that is a resp.Error is the command's; any other has to be passed on.
func (in *Invocation) Do(words ...string) (reply []byte, err error) {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	if len(args) == 0 {
		return nil, errNoCommand
	}
	reply, err = in.run.do(args)
	if in.run.ended != nil {
		return nil, in.run.ended
	}
	return reply, err
}

const errNoCommand = resp.Error("ERR Please specify at least one argument for this redis.call() call")

// Native is a function written in Go. An error that is a resp.Error is the
// answer, and what the function wrote before stays, as with a script; any other
// error, and a panic, undoes the transaction, goes to the log, and is an
// internal error to the client.
type Native func(*Invocation) error

// ErrNative means that a function written in Go cannot be registered.
var ErrNative = errors.New("redis: cannot register function")

// native is a registered Native.
type native struct {
	name  string
	flags Flags
	fn    Native
}

// nativeFlags are those that a function written in Go may have.
const nativeFlags = NoWrites | AllowOOM | AllowStale | NoCluster | AllowCrossSlotKeys

// natives are the functions written in Go. It is safe for concurrent use.
type natives struct {
	mu     sync.Mutex                        // held to register
	byName atomic.Pointer[map[string]native] // in lower case; never changed
}

// Register adds a function written in Go. The error is ErrNative: the name is
// not one of letters, digits and underscores, or taken by another such function,
// or flags has what is not known.
func (e *Engine) Register(name string, flags Flags, fn Native) error {
	n := &functionsOf(e).natives
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !goodName(name):
		return fmt.Errorf("%w %q: names have letters, digits and underscores", ErrNative, name)
	case fn == nil:
		return fmt.Errorf("%w %q: it is nil", ErrNative, name)
	case n.find([]byte(name)) != nil:
		return fmt.Errorf("%w %q: there is one", ErrNative, name)
	case flags&^nativeFlags != 0:
		return fmt.Errorf("%w %q: unknown flags %#x", ErrNative, name, flags&^nativeFlags)
	}
	more := map[string]native{strings.ToLower(name): {name, flags, fn}}
	if old := n.byName.Load(); old != nil {
		for key, f := range *old {
			more[key] = f
		}
	}
	n.byName.Store(&more)
	return nil
}

// find is the function of a name in any case; nil if there is none.
func (n *natives) find(name []byte) *native {
	all := n.byName.Load()
	if all == nil {
		return nil
	}
	if f, ok := (*all)[strings.ToLower(string(name))]; ok {
		return &f
	}
	return nil
}

// owns says that a library's name is that of functions written in Go.
func (n *natives) owns(library string) bool {
	return library == nativeLibrary && n.byName.Load() != nil
}

// library is what FUNCTION LIST shows of them; ok is false if there are none.
func (n *natives) library() (l keyspace.Library, ok bool) {
	all := n.byName.Load()
	if all == nil {
		return l, false
	}
	l = keyspace.Library{Name: nativeLibrary, Engine: nativeEngine}
	for _, f := range *all {
		l.Functions = append(l.Functions, keyspace.LibraryFunction{Name: f.name, Flags: uint32(f.flags)})
	}
	slices.SortFunc(l.Functions, func(a, b keyspace.LibraryFunction) int { return strings.Compare(a.Name, b.Name) })
	return l, true
}

// callNative calls a function written in Go.
func (s *functionSet) callNative(c *command.Call, host Host, n *native, readOnly bool) (err error) {
	keys, args, err := functionArgs(c.Args[1:])
	if err != nil {
		return err
	}
	if readOnly, err = functionScript(n.name, n.flags).readOnly(readOnly); err != nil {
		return err
	}
	r := &Run{Engine: s.engine, Function: true, Reason: c.Cmd.Name + " " + n.name}
	view := *c.View
	r.Call.View = &view
	defer func() { r.leave(err) }()
	if err := r.enter(c, host, n.name, readOnly); err != nil {
		return err
	}
	if readOnly {
		view.Tx = nil
	}
	own := view
	in := &Invocation{View: &own, Keys: keys, Args: args, Reply: &c.Reply, run: r}
	start := len(c.Reply.Buf)
	if err = n.call(in); r.ended != nil {
		return r.ended
	}
	if err == nil {
		return nil
	}
	c.Reply.Buf = c.Reply.Buf[:start]
	if text, ok := errors.AsType[resp.Error](err); ok && !errors.Is(err, firn.ErrCold) {
		c.Reply.Error(string(text))
		return nil
	}
	return err
}

// call calls the function, of somebody else's program: a panic is an error, but
// for one of a command that the function has called.
func (n *native) call(in *Invocation) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			invariant.Check(!in.run.calling, "a command that a function calls does not panic: %v", broken)
			err = fmt.Errorf("function %s: panic: %v", n.name, broken)
		}
	}()
	return n.fn(in)
}

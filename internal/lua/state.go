// Package lua runs programs in Lua 5.1, as Redis builds it.
//
// [Compile] makes a [Chunk], which states share. A [State] runs one program at
// a time: [State.Load] makes a function of a chunk and [State.Call] calls it
// under a [Guard]. What a program can reach besides its own values cannot be
// changed by it, so a state is as good as new after each call and may be kept
// for the next one.
//
// A program becomes a tree of Go functions, tables are laid out as Lua lays
// them out, and each step, call and byte is counted. The values that go in and
// out are those of package val, and tables, see [Table]; functions that others
// add are written against package arg, see [State.Register].
package lua

import (
	"fmt"
	"runtime/debug"

	"github.com/firndb/firn/internal/lua/cjson"
	"github.com/firndb/firn/internal/lua/val"
)

// State is what one program at a time runs in. One goroutine uses it.
type State struct {
	meter   meter
	main    *thread
	current *thread
	globals *table
	strings *table // the metatable of strings
	live    map[*coroutine]struct{}
	walk    func() int64 // measure
	nested  int          // calls through Go
	slack   int          // how much deeper an error handler may go
	epoch   uint32
	random  random

	json   *cjson.State
	broken bool
}

// Error is an error that a program raised.
type Error struct {
	Value  val.Value // what was raised
	Source string    // where, as Lua says it: "@user_script"; "=[C]" outside of programs
	Line   int       // -1 outside of programs
}

// PanicError is the error of a call in which Go panicked: a mistake of ours, or of
// a function that was registered. The state is Broken.
type PanicError struct {
	Cause any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("lua: panic: %v\n%s", e.Cause, e.Stack) }

// Error is the raised value as text.
func (e *Error) Error() string {
	switch v := e.Value.(type) {
	case *table:
		if text, ok := v.getString("err").(val.String); ok {
			return string(text)
		}
	case val.Number:
		return formatNumber(float64(v))
	}
	return e.Value.String()
}

// Load makes a function of a chunk.
func (s *State) Load(c *Chunk) *Function {
	return &function{proto: c.proto, globals: s.globals}
}

// SetGlobal gives a global a value, past the protection.
func (s *State) SetGlobal(name string, v val.Value) {
	s.globals.setString(&s.meter, name, v)
}

// Position is where the program is, while it runs: its source, and the line,
// which is the first one where nothing has run yet.
func (s *State) Position() (source string, line int) {
	at := s.current.origin()
	if at.line == 0 {
		at.line = 1
	}
	return at.source, at.line
}

// seal makes all tables read only.
func (s *State) seal() {
	missing := &table{}
	missing.setString(&s.meter, "__index", &function{name: "__index", native: missingGlobal})
	s.globals.meta = missing
	s.globals.setString(&s.meter, "_G", s.globals)
	lock(s.globals)
	lock(s.strings)
}

func lock(t *table) {
	if t.readonly {
		return
	}
	t.readonly = true
	if t.meta != nil {
		lock(t.meta)
	}
	for i := range t.nodes {
		if inside, ok := t.nodes[i].val.(*table); ok {
			lock(inside)
		}
	}
	for _, v := range t.array {
		if inside, ok := v.(*table); ok {
			lock(inside)
		}
	}
}

// missingGlobal is what reads a global that is not there.
func missingGlobal(th *thread, args []value) []value {
	name, ok := textOf(args[1])
	if !ok {
		th.libError("Second argument to luaProtectedTableError must be a string or number")
	}
	th.libError("Script attempted to access nonexistent global variable '%s'", name)
	return nil
}

// Broken says that the state is not to be used again: it grew beyond what is
// worth keeping, or something went wrong in it.
func (s *State) Broken() bool { return s.broken }

// keepSlots is the largest stack of values that is worth keeping.
const keepSlots = 16 << 10

// Call calls a function and returns its first result. A table among the
// arguments or results is a Table, and good until the state is used again.
func (s *State) Call(fn *Function, g *Guard, args ...val.Value) (v val.Value, err error) {
	s.begin(g)
	defer s.settle()
	defer s.end(&v, &err)
	return s.first(fn, args), nil
}

// begin makes the state ready for a call.
func (s *State) begin(g *Guard) {
	s.meter.reset(g, s.walk)
	s.json.Reset() // one program's options are not the next one's
}

// end is deferred: it makes a call's error of what ended it.
func (s *State) end(v *val.Value, err *error) {
	switch e := recover().(type) {
	case nil:
	case *raisedError:
		*err = s.report(e)
	case *killed:
		*err = e.err
	default:
		s.broken = true
		*v, *err = nil, &PanicError{Cause: e, Stack: debug.Stack()}
		return
	}
	if s.meter.err != nil {
		*v, *err = nil, s.meter.err
	}
}

// first calls a function and returns its first result.
func (s *State) first(fn *function, args []val.Value) value {
	th := s.main
	passed := th.alloc(len(args))
	copy(passed, args)
	r := th.nested(fn, passed)
	if len(r) == 0 {
		return vnil
	}
	return r[0]
}

// report makes an Error of what was raised.
func (s *State) report(e *raisedError) error {
	at := s.main.origin()
	if e.known {
		at = e.frame
	}
	return &Error{Value: e.value, Source: at.source, Line: at.line}
}

// settle makes the state as it was before a call.
func (s *State) settle() {
	for co := range s.live {
		co.stop()
		delete(s.live, co)
	}
	th := s.main
	if len(th.chunks[len(th.chunks)-1]) > keepSlots || len(th.frames) > maxCalls/8 {
		s.broken = true
	}
	for i := range th.chunks {
		clear(th.chunks[i])
	}
	for _, f := range th.frames[:min(th.most, len(th.frames))] {
		clear(f.buf[:cap(f.buf)])
		*f = frame{th: th, buf: f.buf[:0]}
	}
	th.most = 0
	clear(th.out[:])
	th.depth, th.chunk, th.top, th.deep = 0, 0, 0, 0
	s.nested, s.slack, s.current = 0, 0, th
	s.meter.walk = nil
	s.random.give()
}

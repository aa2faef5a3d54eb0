// Package lua runs programs in Lua 5.1, as Redis builds it, over gopher-lua.
//
// [Compile] makes a [Chunk], which states share. A [State] runs one program at
// a time: [State.Load] makes a function of a chunk and [State.Call] calls it
// under a [Guard]. What a program can reach besides its own values cannot be
// changed by it, so a state is as good as new after each call and may be kept
// for the next one.
package lua

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/cjson"
)

// State is what one program at a time runs in. One goroutine uses it.
type State struct {
	l       *glua.LState
	meter   meter
	globals *glua.LTable // what the names stand for; behind the protection
	env     *glua.LTable // what scripts see of it
	behind  map[*glua.LTable]*glua.LTable
	json    *cjson.State
}

// Error is an error that a program raised.
type Error struct {
	Value  glua.LValue // what was raised
	Source string      // where; "" when that is not known
	Line   int
}

// Error is the raised value as text.
func (e *Error) Error() string {
	if t, ok := e.Value.(*glua.LTable); ok {
		if text, ok := t.RawGetString("err").(glua.LString); ok {
			return string(text)
		}
	}
	return e.Value.String()
}

// Sizes of a state's stacks. Both grow on demand up to the maximum.
const (
	maxCalls     = 20000 // Lua's LUAI_MAXCALLS
	registryMin  = 256
	registryMax  = 1 << 20
	registryStep = 1024
)

// New makes a state with the libraries. Then open may add globals, and then
// all that there is becomes protected.
func New(open func(s *State)) *State {
	l := glua.NewState(glua.Options{CallStackSize: maxCalls, RegistrySize: registryMin, RegistryMaxSize: registryMax,
		RegistryGrowStep: registryStep, SkipOpenLibs: true, MinimizeStackMemory: true})
	s := &State{l: l, globals: l.G.Global, behind: map[*glua.LTable]*glua.LTable{}, json: cjson.New()}
	s.openLibraries()
	if open != nil {
		open(s)
	}
	s.seal()
	return s
}

// L is the state of the virtual machine, for those who add functions.
func (s *State) L() *glua.LState { return s.l }

// Load makes a function of a chunk.
func (s *State) Load(c *Chunk) *glua.LFunction {
	fn := s.l.NewFunctionFromProto(c.proto)
	fn.Env = s.env
	return fn
}

// SetGlobal gives a global a value, past the protection.
func (s *State) SetGlobal(name string, v glua.LValue) { s.globals.RawSetString(name, v) }

// Call calls a function and returns its first result.
func (s *State) Call(fn *glua.LFunction, g *Guard, args ...glua.LValue) (glua.LValue, error) {
	s.meter.reset(g)
	s.json.Reset() // one program's options are not the next one's
	s.l.SetContext(&s.meter)
	s.l.Push(fn)
	for _, arg := range args {
		s.l.Push(arg)
	}
	err := s.l.PCall(len(args), 1, nil)
	if s.meter.err != nil {
		s.l.SetTop(0)
		return nil, s.meter.err
	}
	if err != nil {
		s.l.SetTop(0)
		return nil, raised(err)
	}
	v := s.l.Get(-1)
	s.l.SetTop(0)
	return v, nil
}

// raised makes an Error of what the virtual machine reports.
func raised(err error) error {
	var api *glua.ApiError
	if !errors.As(err, &api) {
		return fmt.Errorf("run a script: %w", err)
	}
	e := &Error{Value: api.Object}
	if source, rest, ok := strings.Cut(api.Object.String(), ":"); ok {
		if digits, _, ok := strings.Cut(rest, ":"); ok {
			if line, err := strconv.Atoi(digits); err == nil {
				e.Source, e.Line = source, line
			}
		}
	}
	return e
}

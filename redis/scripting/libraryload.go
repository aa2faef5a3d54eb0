package scripting

import (
	"errors"
	"time"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	glua "github.com/yuin/gopher-lua"
)

// loadLimit is how long the code of a library may take that FUNCTION LOAD runs,
// as in Redis.
const loadLimit = 500 * time.Millisecond

// loaded is a library in a state: its code has run there.
type loaded struct {
	functions []keyspace.LibraryFunction
	callbacks map[string]*glua.LFunction
	memory    *lua.Snapshot // what the callbacks can reach and change
	bytes     int           // of the code
}

// What libraries a state keeps: beyond either it drops them all.
const (
	maxLoaded      = 256
	maxLoadedBytes = 16 << 20
)

// loadedSet is the libraries of a state.
type loadedSet struct {
	byHash map[keyspace.CodeHash]*loaded
	bytes  int
	env    libraryEnv
}

// keep adds a library.
func (s *loadedSet) keep(l *library, in *loaded) {
	in.bytes = l.chunk.Bytes()
	if s.bytes += in.bytes; s.byHash == nil || len(s.byHash) >= maxLoaded || s.bytes > maxLoadedBytes {
		s.byHash, s.bytes = make(map[keyspace.CodeHash]*loaded), in.bytes
	}
	s.byHash[l.hash] = in
}

// check drops a library whose functions have changed what they can reach.
func (s *loadedSet) check(hash keyspace.CodeHash) {
	if in := s.byHash[hash]; in != nil && !in.memory.Same() {
		delete(s.byHash, hash)
		s.bytes -= in.bytes
	}
}

// load runs a library's code, which registers its functions. It is called
// inside a running program, or raises nothing.
func (s *loadedSet) load(state *lua.State, l *library) *loaded {
	L, in := state.L(), &loaded{callbacks: make(map[string]*glua.LFunction)}
	main := s.env.open(state).Load(l.chunk)
	s.env.loading(in)
	defer s.env.ready()
	L.Push(main)
	L.Call(0, 0)
	callbacks := make([]*glua.LFunction, 0, len(in.callbacks))
	for _, fn := range in.callbacks {
		callbacks = append(callbacks, fn)
	}
	in.memory = state.Note(callbacks...)
	return in
}

// define runs a library's code for FUNCTION LOAD and FUNCTION RESTORE, and
// returns what it registers. The errors are for the client, or ErrLong.
func (s *functionSet) define(c *command.Call, code []byte) (functions []keyspace.LibraryFunction, err error) {
	host := c.Client.(Hosted).ScriptHost()
	r := s.engine.take()
	defer s.engine.give(r)
	if r.hurry(host.Limit(c)); r.Hurried && len(code) > quickCodeBytes {
		return nil, ErrLong
	}
	defer func() { r.leave(err) }()
	if err := r.enter(c, host, "", true); err != nil {
		return nil, err
	}
	l, err := s.compile(keyspace.HashCode(code), code)
	if err != nil {
		return nil, err
	}
	set := loadedIn(r)
	var in *loaded
	main := r.state.L().NewFunction(func(*glua.LState) int {
		in = set.load(r.state, l)
		return 0
	})
	r.guard.Deadline = time.Now().Add(loadLimit)
	_, err = r.state.Call(main, &r.guard)
	switch {
	case r.ended != nil:
		return nil, r.ended
	case errors.Is(err, lua.ErrSteps):
		return nil, ErrLong
	case errors.Is(err, lua.ErrDeadline):
		return nil, errLoadTimeout
	case err != nil:
		text, _ := errorText(err)
		return nil, resp.Error("ERR Error registering functions: " + text)
	case len(in.functions) == 0:
		return nil, errNoFunctions
	}
	set.keep(l, in)
	return in.functions, nil
}

const (
	errLoadTimeout = resp.Error("ERR Error registering functions: ERR FUNCTION LOAD timeout")
	errNoFunctions = resp.Error("ERR No functions registered")
)

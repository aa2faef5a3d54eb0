package scripting

import (
	"errors"
	"time"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// loadLimit is how long the code of a library may take that FUNCTION LOAD runs,
// as in Redis.
const loadLimit = 500 * time.Millisecond

// loaded is a library in a state: its code has run there.
type loaded struct {
	functions []keyspace.LibraryFunction
	callbacks map[string]*lua.Function
	memory    *lua.Snapshot // what the callbacks can reach and change
	bytes     int           // of the code and of memory
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

// keep adds a library, unless there is so much to note that it would be loaded
// anew by each call in any case.
func (s *loadedSet) keep(l *library, in *loaded) {
	s.drop(l.hash)
	if in.memory.TooBig() {
		return
	}
	in.bytes = l.chunk.Bytes() + in.memory.Bytes()
	if s.bytes += in.bytes; s.byHash == nil || len(s.byHash) >= maxLoaded || s.bytes > maxLoadedBytes {
		s.byHash, s.bytes = make(map[keyspace.CodeHash]*loaded), in.bytes
	}
	s.byHash[l.hash] = in
}

// check drops a library whose functions have changed what they can reach.
func (s *loadedSet) check(hash keyspace.CodeHash) {
	if in := s.byHash[hash]; in != nil && !in.memory.Same() {
		s.drop(hash)
	}
}

func (s *loadedSet) drop(hash keyspace.CodeHash) {
	if in := s.byHash[hash]; in != nil {
		delete(s.byHash, hash)
		s.bytes -= in.bytes
	}
}

// load runs a library's code, which registers its functions, in a run that has
// been entered. An error of Lua is the code's, any other is for who called.
func (s *loadedSet) load(r *Run, l *library) (*loaded, error) {
	in := &loaded{callbacks: make(map[string]*lua.Function)}
	main := s.env.open(r.state).Load(l.chunk)
	s.env.loading(in)
	_, err := r.state.Call(main, &r.guard)
	s.env.ready()
	if end := r.endOf(err); end != nil {
		return nil, end
	}
	if err != nil {
		return nil, err
	}
	callbacks := make([]*lua.Function, 0, len(in.callbacks))
	for _, fn := range in.callbacks {
		callbacks = append(callbacks, fn)
	}
	in.memory = r.state.Note(callbacks...)
	s.keep(l, in)
	return in, nil
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
	r.guard.Deadline = time.Now().Add(loadLimit)
	in, err := loadedIn(r).load(r, l)
	switch {
	case errors.Is(err, lua.ErrDeadline):
		return nil, errLoadTimeout
	case err != nil:
		return nil, loadError(r, err)
	case len(in.functions) == 0:
		return nil, errNoFunctions
	}
	return in.functions, nil
}

// bring loads the library of a function that is called.
func (s *functionSet) bring(c *command.Call, host Host, r *Run, f *keyspace.Function) (in *loaded, err error) {
	l, err := s.libraryOf(c, host, f)
	if err != nil {
		return nil, err
	}
	r.hurry(host.Limit(c))
	defer func() { r.leave(err) }()
	if err := r.enter(c, host, f.Name, true); err != nil {
		return nil, err
	}
	in, err = loadedIn(r).load(r, l)
	switch {
	case errors.Is(err, lua.ErrDeadline):
		return nil, r.Late
	case err != nil:
		return nil, loadError(r, err)
	}
	return in, nil
}

// loadError is the answer to code that cannot be loaded, unless the run is to
// end otherwise.
func loadError(r *Run, err error) error {
	if err == ErrLong {
		return err
	}
	if end := r.endOf(err); end != nil {
		return end
	}
	text, _ := errorText(err)
	return resp.Error("ERR Error registering functions: " + text)
}

const (
	errLoadTimeout = resp.Error("ERR Error registering functions: ERR FUNCTION LOAD timeout")
	errNoFunctions = resp.Error("ERR No functions registered")
)

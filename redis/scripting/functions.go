package scripting

import (
	"fmt"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/val"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Functions are documents, see keyspace.Library: a call finds its function
// through the view that it runs on, so at every moment it is the one of that
// moment. Nothing about functions is kept in memory but compiled code, known by
// its hash.

// Errors of FCALL, in Redis's words.
const (
	errNoFunction = resp.Error("ERR Function not found")
	errBadNumKeys = resp.Error("ERR Bad number of keys provided")
)

var fcall = command.Command{
	Name: "FCALL", Args: "function numkeys [key [key ...]] [arg [arg ...]]", Min: 2, Max: -1, Flags: evalFlags | command.Writes,
	Keys:  command.CountedKeys(2, command.Changes).Noted("We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"),
	Group: "scripting", Since: "7.0.0", Complexity: "Depends on the function that is executed.",
	Summary: "Invokes a function.",
	Differs: "Each call sees its library as it was loaded: what a function leaves in the library's local variables is gone afterwards. " +
		"Functions written in Go, of the program that serves, are called as well.",
	Run: func(c *command.Call) error { return callFunction(c, false) },
}

var fcallRO = command.Command{
	Name: "FCALL_RO", Args: fcall.Args, Min: 2, Max: -1, Flags: evalFlags | command.ReadOnly,
	Keys:  command.CountedKeys(2, command.Reads).Noted("We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"),
	Group: "scripting", Since: "7.0.0", Complexity: fcall.Complexity,
	Summary: "Invokes a read-only function.",
	Differs: "Works at any moment, with AT, CLIENT ASOF and LIVE: the function is the one of that moment.",
	Live:    command.Live{What: "what the commands that it calls are woken by, and a change of its library"},
	Run:     func(c *command.Call) error { return callFunction(c, true) },
}

// callFunction is FCALL and FCALL_RO.
func callFunction(c *command.Call, readOnly bool) error {
	host := c.Client.(Hosted).ScriptHost()
	set := functionsOf(host.Engine())
	if n := set.natives.find(c.Args[0]); n != nil {
		return set.callNative(c, host, n, readOnly)
	}
	f, ok, err := keyspace.FindFunction(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		return errNoFunction
	}
	keys, args, err := functionArgs(c.Args[1:])
	if err != nil {
		return err
	}
	return set.callLua(c, host, &f, keys, args, readOnly)
}

// functionArgs is splitArgs with FCALL's errors.
func functionArgs(all [][]byte) (keys, args [][]byte, err error) {
	keys, args, err = splitArgs(all)
	if err == command.ErrNotInteger {
		err = errBadNumKeys
	}
	return keys, args, err
}

// callLua calls a function of a library.
func (s *functionSet) callLua(c *command.Call, host Host, f *keyspace.Function, keys, args [][]byte, readOnly bool) error {
	r := s.engine.take()
	defer s.engine.give(r)
	r.Function, r.Reason = true, c.Cmd.Name+" "+f.Name
	fn, err := s.function(c, host, r, f)
	if err != nil {
		return err
	}
	defer loadedIn(r).check(f.Hash)
	r.state.SetGlobal("KEYS", val.Nil)
	r.state.SetGlobal("ARGV", val.Nil)
	return s.engine.execute(c, host, r, functionScript(f.Name, Flags(f.Flags)), readOnly, fn, r.state.Strings(keys), r.state.Strings(args))
}

// functionScript is a function as errors and checks see it: like a script that
// says what it does.
func functionScript(name string, flags Flags) *Script {
	return &Script{SHA: name, Flags: flags | Shebang}
}

// function is a function in a state, which loads its library if it has not. Code
// may depend on the version of Redis that it finds, and register another one now.
func (s *functionSet) function(c *command.Call, host Host, r *Run, f *keyspace.Function) (fn *lua.Function, err error) {
	in := loadedIn(r).byHash[f.Hash]
	if in == nil {
		if in, err = s.bring(c, host, r, f); err != nil {
			return nil, err
		}
	}
	if fn = in.callbacks[f.Name]; fn == nil {
		return nil, errNoFunction
	}
	return fn, nil
}

// libraryOf is the compiled library of a function.
func (s *functionSet) libraryOf(c *command.Call, host Host, f *keyspace.Function) (*library, error) {
	if l := s.libraries.find(f.Hash); l != nil {
		return l, nil
	}
	l, ok, err := keyspace.FindLibrary(c.View, []byte(f.Library))
	if err != nil {
		return nil, err
	}
	if !ok || keyspace.HashCode(l.Code) != f.Hash {
		return nil, fmt.Errorf("function %q: library %q is not the one that registered it: %w", f.Name, f.Library, keyspace.ErrDamaged)
	}
	if len(l.Code) > quickCodeBytes && host.Limit(c) > 0 {
		return nil, ErrLong
	}
	return s.compile(f.Hash, l.Code)
}

package scripting

import (
	"strings"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
	"github.com/firndb/firn/redis/keyspace"
)

// libraryEnv is what the code of libraries sees as globals in a state. While
// code is loaded that is, as in Redis, redis alone, and of it little more than
// register_function; later what every script sees.
type libraryEnv struct {
	globals *lua.Env
	in      *loaded // what is being loaded; nil: nothing
}

// shownWhileLoading is what redis has for code that is loaded, beside
// register_function.
var shownWhileLoading = []string{"log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING", "REDIS_VERSION", "REDIS_VERSION_NUM"}

// open makes the globals once for a state.
func (v *libraryEnv) open(state *lua.State) *lua.Env {
	if v.globals != nil {
		return v.globals
	}
	all := state.Global("redis").(lua.Table)
	api := arg.Library{Members: []arg.Member{{Name: "register_function", Function: v.registerFunction}}}
	for _, name := range shownWhileLoading {
		if value := all.Field(name); value != val.Nil {
			api.Members = append(api.Members, arg.Member{Name: name, Value: value})
		}
	}
	v.globals = state.NewEnv()
	v.globals.Register("redis", api)
	return v.globals
}

// loading makes the code see what it may while it registers functions.
func (v *libraryEnv) loading(in *loaded) {
	v.in = in
	v.globals.Close()
}

// ready makes functions see what scripts see.
func (v *libraryEnv) ready() {
	v.in = nil
	v.globals.Open()
}

// maxFunctions is how many functions a library may have: each is a document.
const maxFunctions = 10_000

// registerFunction is redis.register_function.
func (v *libraryEnv) registerFunction(call arg.Call) (results int) {
	c := call.(lua.Call)
	if v.in == nil {
		return raise(c, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	var f registration
	var wrong string
	switch n := c.Top(); {
	case n < 1 || n > 2:
		wrong = "wrong number of arguments to redis.register_function"
	case n == 2:
		wrong = f.positional(c.Arg(1), c.Arg(2))
	default:
		wrong = f.named(c.Arg(1))
	}
	if wrong == "" {
		wrong = v.in.add(&f)
	}
	if wrong != "" {
		return raise(c, wrong)
	}
	return 0
}

// add adds a function; the result is what is wrong with it.
func (in *loaded) add(f *registration) (wrong string) {
	if !goodName(f.name) {
		return strings.TrimPrefix(string(errFunctionName), "ERR ")
	}
	for i := range in.functions {
		if strings.EqualFold(in.functions[i].Name, f.name) {
			return "Function already exists in the library"
		}
	}
	if len(in.functions) == maxFunctions {
		return "too many functions in the library"
	}
	in.functions = append(in.functions, keyspace.LibraryFunction{Name: f.name, Flags: uint32(f.flags), Description: f.description})
	in.callbacks[f.name] = f.callback
	return ""
}

// registration is what redis.register_function is told.
type registration struct {
	name        string
	callback    *lua.Function
	flags       Flags
	description []byte // nil: none
}

// positional reads the arguments of register_function(name, callback).
func (f *registration) positional(name, callback val.Value) (wrong string) {
	var ok bool
	if f.name, ok = textOf(name); !ok {
		return "first argument to redis.register_function must be a string"
	}
	if f.callback, ok = callback.(*lua.Function); !ok {
		return "second argument to redis.register_function must be a function"
	}
	return ""
}

// named reads the one argument of register_function{function_name=…, …}.
func (f *registration) named(arguments val.Value) (wrong string) {
	t, ok := arguments.(lua.Table)
	if !ok {
		return "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments)."
	}
	named := false
	for key, value := range t.Walk {
		if wrong = f.argument(key, value); wrong != "" {
			break
		}
		named = named || strings.EqualFold(key.String(), "function_name")
	}
	switch {
	case wrong != "":
		return wrong
	case !named:
		return "redis.register_function must get a function name argument"
	case f.callback == nil:
		return "redis.register_function must get a callback argument"
	}
	return ""
}

// argument reads one named argument.
func (f *registration) argument(key, value val.Value) (wrong string) {
	name, ok := textOf(key)
	if !ok {
		return "named argument key given to redis.register_function is not a string"
	}
	switch strings.ToLower(name) {
	case "function_name":
		if f.name, ok = textOf(value); !ok {
			return "function_name argument given to redis.register_function must be a string"
		}
	case "description":
		text, ok := textOf(value)
		if !ok {
			return "description argument given to redis.register_function must be a string"
		}
		f.description = []byte(text)
	case "callback":
		if f.callback, ok = value.(*lua.Function); !ok {
			return "callback argument given to redis.register_function must be a function"
		}
	case "flags":
		return f.readFlags(value)
	default:
		return "unknown argument given to redis.register_function"
	}
	return ""
}

// readFlags reads the list of flags.
func (f *registration) readFlags(list val.Value) (wrong string) {
	t, ok := list.(lua.Table)
	if !ok {
		return "flags argument to redis.register_function must be a table representing function flags"
	}
	for i := 1; ; i++ {
		name := t.Index(i)
		if name == val.Nil {
			return ""
		}
		text, ok := textOf(name)
		if !ok {
			return "unknown flag given"
		}
		flag, ok := flagNamed(text)
		if !ok {
			return "unknown flag given"
		}
		f.flags |= flag
	}
}

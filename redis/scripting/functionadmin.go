package scripting

import (
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

var functionCommand = command.Command{
	Name: "FUNCTION", Args: "subcommand [arg ...]", Group: "scripting", Since: "7.0.0", Complexity: "Depends on subcommand.",
	Summary: "A container for function commands.",
	Sub: []command.Command{
		{
			Name: "DELETE", Args: "library-name", Min: 1, Flags: command.Writes | command.NoScript, Since: "7.0.0", Operation: "FUNCTION DELETE",
			Tips: everywhere, Complexity: "O(n), n the functions of the library",
			Summary: "Deletes a library and its functions.", Run: functionDelete,
		},
		{
			Name: "DUMP", Flags: listFlags, Since: "7.0.0",
			Complexity: "O(n), n the bytes of all libraries", Summary: "Dumps all libraries into a serialized binary payload.",
			Differs: "Functions written in Go are left out. Works at any moment, with AT.", Run: functionDump,
		},
		{
			Name: "FLUSH", Args: "[ASYNC|SYNC]", Max: -1, Flags: command.Writes | command.NoScript, Since: "7.0.0", Operation: "FUNCTION FLUSH",
			Tips: everywhere, Complexity: "O(n), n the functions deleted",
			Summary: "Deletes all libraries and functions.", Run: functionFlush,
		},
		functionHelp,
		{
			Name: "KILL", Flags: command.Local | command.NoScript | command.AllowBusy, Since: "7.0.0",
			Tips: []string{"request_policy:all_shards", "response_policy:one_succeeded"}, Complexity: "O(1)",
			Summary: "Ends the functions that take their time and have not written.", Run: functionKill,
		},
		{
			Name: "LIST", Args: "[LIBRARYNAME library-name-pattern] [WITHCODE]", Max: -1, Flags: listFlags, Since: "7.0.0",
			Tips: []string{"nondeterministic_output_order"}, Complexity: "O(n), n the functions",
			Summary: "Returns information about libraries.",
			Differs: "Sorted by library, functions as they were registered; functions written in Go come first, as a library of the engine GO. Works at any moment, with AT: so it tells which code was loaded when.",
			Run:     functionList,
		},
		{
			Name: "LOAD", Args: "[REPLACE] function-code", Min: 1, Max: -1, Flags: loadFlags, Since: "7.0.0", Operation: "FUNCTION LOAD",
			Tips: everywhere, Complexity: "O(n), n the bytes of the code",
			Summary: "Creates a library.", Differs: "The code is a document: it is kept like keys are, and in their history.", Run: functionLoad,
		},
		{
			Name: "RESTORE", Args: "serialized-value [FLUSH|APPEND|REPLACE]", Min: 1, Max: -1, Flags: loadFlags, Since: "7.0.0", Operation: "FUNCTION RESTORE",
			Tips: everywhere, Complexity: "O(n), n the bytes of the payload",
			Summary: "Restores all libraries of a payload.", Differs: "Also takes what Redis 7.2 and 7.4 dump.", Run: functionRestore,
		},
		{
			Name: "STATS", Flags: listFlags | command.AllowBusy, Since: "7.0.0",
			Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"}, Complexity: "O(1)",
			Summary: "Returns information about the function that has been running longest, and about engines.",
			Differs: "Functions that have just begun are not shown. Works at any moment, with AT, as far as libraries are counted.",
			Live:    command.Live{Refused: command.LiveClock}, Run: functionStats,
		},
	},
}

// listFlags are those of who reads libraries.
const listFlags = command.ReadOnly | command.ReadsNoKeys | command.NoScript

// loadFlags are those of who runs the code of libraries.
const loadFlags = command.Writes | command.DenyOOM | command.NoScript

var everywhere = []string{"request_policy:all_shards", "response_policy:all_succeeded"}

// Errors of FUNCTION, in Redis's words.
const (
	errNoLibrary   = resp.Error("ERR Library not found")
	errListNoName  = resp.Error("ERR library name argument was not given")
	errFlushOption = resp.Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
)

// errSubArity is the answer to too many arguments of a subcommand.
func errSubArity(c *command.Call) error {
	return resp.Error("ERR unknown subcommand or wrong number of arguments for '" + c.Cmd.Name + "'. Try FUNCTION HELP.")
}

func functionLoad(c *command.Call) error {
	code, replace := c.Args[len(c.Args)-1], false
	for _, option := range c.Args[:len(c.Args)-1] {
		if !command.Is(option, "REPLACE") {
			return resp.Error("ERR Unknown option given: " + string(option))
		}
		replace = true
	}
	name, err := libraryName(code)
	if err != nil {
		return err
	}
	set := functionsOf(engineOf(c))
	_, exists, err := keyspace.FindLibrary(c.View, []byte(name))
	if err != nil {
		return err
	}
	if set.natives.owns(name) || exists && !replace {
		return resp.Error("ERR Library '" + name + "' already exists")
	}
	functions, err := set.define(c, code)
	if err != nil {
		return err
	}
	l := &keyspace.Library{Name: name, Engine: luaEngine, Code: keyspace.Own(code), Functions: functions}
	if err := freeNames(c, l, func(owner string) bool { return owner == name }); err != nil {
		return err
	}
	if err := keyspace.PutLibrary(c.View, l); err != nil {
		return err
	}
	c.Reply.BulkString(name)
	return nil
}

// freeNames refuses functions that have the name of one that there is, unless
// its library goes.
func freeNames(c *command.Call, l *keyspace.Library, goes func(library string) bool) error {
	for i := range l.Functions {
		name := l.Functions[i].Name
		f, ok, err := keyspace.FindFunction(c.View, []byte(name))
		if err != nil {
			return err
		}
		if ok && !goes(f.Library) || functionsOf(engineOf(c)).natives.find([]byte(name)) != nil {
			return resp.Error("ERR Function " + name + " already exists")
		}
	}
	return nil
}

func functionDelete(c *command.Call) error {
	if functionsOf(engineOf(c)).natives.owns(string(c.Args[0])) {
		return errNativeLibrary
	}
	ok, err := keyspace.DeleteLibrary(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		return errNoLibrary
	}
	c.Reply.Simple("OK")
	return nil
}

func functionFlush(c *command.Call) error {
	switch {
	case len(c.Args) > 1:
		return errSubArity(c)
	case len(c.Args) == 1 && !command.Is(c.Args[0], "SYNC") && !command.Is(c.Args[0], "ASYNC"):
		return errFlushOption
	}
	if err := flushLibraries(c); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

// flushLibraries deletes all libraries.
func flushLibraries(c *command.Call) error {
	var names []string
	err := keyspace.EachLibrary(c.View, func(l keyspace.Library) error {
		names = append(names, l.Name)
		return nil
	})
	for _, name := range names {
		if err == nil {
			_, err = keyspace.DeleteLibrary(c.View, []byte(name))
		}
	}
	return err
}

// functionList is FUNCTION LIST.
func functionList(c *command.Call) error {
	pattern, withCode, err := listOptions(c.Args)
	if err != nil {
		return err
	}
	var found []keyspace.Library
	if l, ok := functionsOf(engineOf(c)).natives.library(); ok && pattern.fits(l.Name) {
		found = append(found, l)
	}
	err = keyspace.EachLibrary(c.View, func(l keyspace.Library) error {
		if pattern.fits(l.Name) {
			found = append(found, l)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Reply.Array(len(found))
	for i := range found {
		replyLibrary(&c.Reply, &found[i], withCode)
	}
	return nil
}

// namePattern is LIBRARYNAME's; nil: every name.
type namePattern []byte

func (p namePattern) fits(name string) bool { return p == nil || glob.Match(p, []byte(name), true) }

func listOptions(args [][]byte) (pattern namePattern, withCode bool, err error) {
	for i := 0; i < len(args); i++ {
		switch {
		case !withCode && command.Is(args[i], "WITHCODE"):
			withCode = true
		case pattern == nil && command.Is(args[i], "LIBRARYNAME"):
			if i++; i == len(args) {
				return nil, false, errListNoName
			}
			pattern = args[i]
		default:
			return nil, false, resp.Error("ERR Unknown argument " + string(args[i]))
		}
	}
	return pattern, withCode, nil
}

func replyLibrary(w *resp.Writer, l *keyspace.Library, withCode bool) {
	n := 3
	if withCode {
		n++
	}
	w.Map(n)
	w.BulkString("library_name")
	w.BulkString(l.Name)
	w.BulkString("engine")
	w.BulkString(l.Engine)
	w.BulkString("functions")
	w.Array(len(l.Functions))
	for i := range l.Functions {
		replyFunction(w, &l.Functions[i])
	}
	if withCode {
		w.BulkString("library_code")
		w.Bulk(l.Code)
	}
}

func replyFunction(w *resp.Writer, f *keyspace.LibraryFunction) {
	w.Map(3)
	w.BulkString("name")
	w.BulkString(f.Name)
	w.BulkString("description")
	if f.Description == nil {
		w.Null()
	} else {
		w.Bulk(f.Description)
	}
	w.BulkString("flags")
	names := Flags(f.Flags).names()
	w.Set(len(names))
	for _, name := range names {
		w.Simple(name)
	}
}

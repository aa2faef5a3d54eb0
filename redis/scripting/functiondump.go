package scripting

import (
	"errors"
	"strings"

	"github.com/firndb/firn/internal/rdb"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// What FUNCTION DUMP says, a Redis of version 7.0 and up restores, and the
// other way round.

// Errors of FUNCTION RESTORE, in Redis's words.
const (
	errPolicy      = resp.Error("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.")
	errPayload     = resp.Error("ERR DUMP payload version or checksum are wrong")
	errNotFunction = resp.Error("ERR given type is not a function")
	errOldFunction = resp.Error("ERR Failed loading library name")
	errLibrary     = resp.Error("ERR Failed loading library payload")
)

func functionDump(c *command.Call) error {
	var payload []byte
	err := keyspace.EachLibrary(c.View, func(l keyspace.Library) error {
		payload = rdb.AppendLibrary(payload, l.Code)
		return nil
	})
	if err != nil {
		return err
	}
	c.Reply.Bulk(rdb.Seal(payload))
	return nil
}

// functionRestore is FUNCTION RESTORE: all libraries of the payload, or none.
func functionRestore(c *command.Call) error {
	flush, replace, err := restorePolicy(c)
	if err != nil {
		return err
	}
	codes, err := payloadCodes(c.Args[0])
	if err != nil {
		return err
	}
	restored, err := defineAll(c, codes)
	if err != nil {
		return err
	}
	if err := joinable(c, restored, flush, replace); err != nil {
		return err
	}
	if err := makeRoom(c, restored, flush); err != nil {
		return err
	}
	for _, l := range restored {
		if err := keyspace.PutLibrary(c.View, l); err != nil {
			return err
		}
	}
	c.Reply.Simple("OK")
	return nil
}

// makeRoom deletes what is replaced, before anything is written: functions may
// have gone from one library to another.
func makeRoom(c *command.Call, restored []*keyspace.Library, flush bool) error {
	if flush {
		return flushLibraries(c)
	}
	for _, l := range restored {
		if _, err := keyspace.DeleteLibrary(c.View, []byte(l.Name)); err != nil {
			return err
		}
	}
	return nil
}

func restorePolicy(c *command.Call) (flush, replace bool, err error) {
	switch {
	case len(c.Args) > 2:
		return false, false, errSubArity(c)
	case len(c.Args) == 1 || command.Is(c.Args[1], "APPEND"):
		return false, false, nil
	case command.Is(c.Args[1], "REPLACE"):
		return false, true, nil
	case command.Is(c.Args[1], "FLUSH"):
		return true, false, nil
	}
	return false, false, errPolicy
}

// payloadCodes is the code of each library of a payload.
func payloadCodes(payload []byte) ([][]byte, error) {
	body, err := rdb.Open(payload)
	if err != nil {
		return nil, errPayload
	}
	codes, err := rdb.DecodeLibraries(body)
	switch {
	case errors.Is(err, rdb.ErrNotFunction):
		return nil, errNotFunction
	case errors.Is(err, rdb.ErrOldFunction):
		return nil, errOldFunction
	case err != nil:
		return nil, errLibrary
	}
	return codes, nil
}

// defineAll runs the code of libraries, which may have nothing in common.
func defineAll(c *command.Call, codes [][]byte) ([]*keyspace.Library, error) {
	var all []*keyspace.Library
	libraries, functions := map[string]bool{}, map[string]bool{}
	for _, code := range codes {
		name, err := libraryName(code)
		if err != nil {
			return nil, err
		}
		if libraries[name] {
			return nil, resp.Error("ERR Library '" + name + "' already exists")
		}
		l := &keyspace.Library{Name: name, Engine: luaEngine, Code: keyspace.Own(code)}
		if l.Functions, err = functionsOf(engineOf(c)).define(c, code); err != nil {
			return nil, err
		}
		for _, f := range l.Functions {
			if functions[strings.ToLower(f.Name)] {
				return nil, resp.Error("ERR Function " + f.Name + " already exists")
			}
			functions[strings.ToLower(f.Name)] = true
		}
		libraries[name] = true
		all = append(all, l)
	}
	return all, nil
}

// joinable refuses libraries that cannot be beside those that there are.
func joinable(c *command.Call, restored []*keyspace.Library, flush, replace bool) error {
	gone := map[string]bool{}
	for _, l := range restored {
		_, exists, err := keyspace.FindLibrary(c.View, []byte(l.Name))
		if err != nil {
			return err
		}
		if exists && !flush && !replace || functionsOf(engineOf(c)).natives.owns(l.Name) {
			return resp.Error("ERR Library " + l.Name + " already exists")
		}
		gone[l.Name] = true
	}
	for _, l := range restored {
		if err := freeNames(c, l, func(library string) bool { return flush || gone[library] }); err != nil {
			return err
		}
	}
	return nil
}

package scripting

import (
	"bytes"
	"strings"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// luaEngine is what FUNCTION LIST calls the engine of libraries in Lua.
const luaEngine = "LUA"

// Errors about a library's first line, in Redis's words.
const (
	errNoMetadata   = resp.Error("ERR Missing library metadata")
	errMetadata     = resp.Error("ERR Invalid library metadata")
	errNoName       = resp.Error("ERR Library name was not given")
	errNameTwice    = resp.Error("ERR Invalid metadata value, name argument was given multiple times")
	errFunctionName = resp.Error("ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long")
)

const (
	// maxNameBytes is how long the names of libraries and functions may be: they
	// are in ids, of which each version of a document has a copy.
	maxNameBytes = 4 << 10

	// quickCodeBytes is the longest code that is compiled on an event loop: some
	// hundred microseconds.
	quickCodeBytes = 8 << 10
)

// library is a library's compiled code, which never changes: states share it.
type library struct {
	hash  keyspace.CodeHash
	chunk *lua.Chunk
}

// libraryName reads the first line of a library:
//
//	#!<engine> name=<library>
func libraryName(code []byte) (name string, err error) {
	if !bytes.HasPrefix(code, []byte("#!")) {
		return "", errNoMetadata
	}
	line, _, ok := bytes.Cut(code, []byte("\n"))
	if !ok {
		return "", errMetadata
	}
	words, ok := resp.Words(line)
	if !ok {
		return "", errMetadata
	}
	named := false
	for _, word := range words[1:] {
		value, ok := cutFold(string(word), "name=")
		switch {
		case !ok:
			return "", resp.Error("ERR Invalid metadata value given: " + string(word))
		case named:
			return "", errNameTwice
		}
		name, named = value, true
	}
	if !named {
		return "", errNoName
	}
	if !goodName(name) {
		return "", errFunctionName
	}
	if engine := string(words[0][2:]); !strings.EqualFold(engine, luaEngine) {
		return "", resp.Error("ERR Engine '" + engine + "' not found")
	}
	return name, nil
}

// cutFold cuts a prefix off without regard to case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// goodName says whether a library or a function may have a name.
func goodName(name string) bool {
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return name != "" && len(name) <= maxNameBytes
}

// functionsChunk is what errors call the code of a library.
const functionsChunk = "user_function"

// compile compiles a library's code behind its first line, whose end is kept, so
// that lines count from the beginning. What is compiled already is returned.
func (s *functionSet) compile(hash keyspace.CodeHash, code []byte) (*library, error) {
	if l := s.libraries.find(hash); l != nil {
		return l, nil
	}
	_, body, _ := bytes.Cut(code, []byte("\n"))
	chunk, err := lua.Compile(functionsChunk, "\n"+string(body))
	if err != nil {
		return nil, resp.Error("ERR Error compiling function: " + err.Error())
	}
	l := &library{hash: hash, chunk: chunk}
	s.libraries.keep(l)
	return l, nil
}

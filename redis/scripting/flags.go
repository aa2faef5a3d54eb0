package scripting

import (
	"bytes"
	"strings"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/resp"
)

// Flags are what a script's first line, or a function's registration, says
// about it. They are stored with functions: the order is for ever.
type Flags uint8

// What a script may do, or where it may run.
const (
	NoWrites           Flags = 1 << iota // it writes nothing, and may be read as of the past
	AllowOOM                             // also beyond maxmemory, which Firn has not
	AllowStale                           // also on a replica without its master, which Firn has not
	NoCluster                            // not in a cluster, which Firn is not
	AllowCrossSlotKeys                   // its keys may be in several slots, of which Firn has one
)

// Shebang says that a script has a first line of flags: without one it is
// judged as before there were any.
const Shebang Flags = 1 << 7

// flagNames are the names of flags, in their order.
var flagNames = [...]string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}

// flagNamed is the flag of a name, in any case, as functions name them.
func flagNamed(name string) (f Flags, ok bool) {
	for i, known := range flagNames {
		if strings.EqualFold(known, name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// names are the names of the flags that are set.
func (f Flags) names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// compile makes the code of a script, and reads its flags.
func (s *Script) compile() error {
	flags, code, err := readShebang(s.Source)
	if err != nil {
		return err
	}
	chunk, err := lua.Compile("user_script", code)
	if err != nil {
		return resp.Error("ERR Error compiling script (new function): " + err.Error())
	}
	s.Flags, s.chunk = flags, chunk
	return nil
}

// readShebang reads the first line of a script, if it is one of flags. What
// follows begins with the line's end, so that lines keep their numbers.
func readShebang(source string) (flags Flags, code string, err error) {
	if !strings.HasPrefix(source, "#!") {
		return 0, source, nil
	}
	end := strings.IndexAny(source, "\n\x00")
	if end < 0 || source[end] != '\n' {
		return 0, "", resp.Error("ERR Invalid script shebang")
	}
	words, ok := resp.Words([]byte(source[:end]))
	if !ok {
		return 0, "", resp.Error("ERR Invalid engine in script shebang")
	}
	if string(words[0]) != "#!lua" {
		return 0, "", resp.Error("ERR Unexpected engine in script shebang: " + string(words[0]))
	}
	flags = Shebang
	for _, word := range words[1:] {
		more, err := readFlags(word)
		if err != nil {
			return 0, "", err
		}
		flags |= more
	}
	return flags, source[end:], nil
}

// readFlags reads a word of the first line.
func readFlags(word []byte) (flags Flags, err error) {
	list, ok := bytes.CutPrefix(word, []byte("flags="))
	if !ok {
		return 0, resp.Error("ERR Unknown lua shebang option: " + string(word))
	}
	if len(list) == 0 {
		return 0, nil
	}
	for name := range bytes.SplitSeq(list, []byte(",")) {
		f, ok := flagNamed(string(name))
		if !ok || bytes.ContainsFunc(name, isUpper) {
			return 0, resp.Error("ERR Unexpected flag in script shebang: " + string(name))
		}
		flags |= f
	}
	return flags, nil
}

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }

// errDeclaredWrites refuses a script that may write, by its first line, to the
// commands that only read.
const errDeclaredWrites = resp.Error("ERR Can not execute a script with write flag using *_ro command.")

// readOnly says whether a script that is run with a command that only reads,
// or may write, is kept from writing.
func (s *Script) readOnly(command bool) (bool, error) {
	declares := s.Flags&Shebang != 0
	if command && declares && s.Flags&NoWrites == 0 {
		return true, errDeclaredWrites
	}
	return command || s.Flags&NoWrites != 0, nil
}

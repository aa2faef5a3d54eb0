package command

import (
	"slices"
	"strings"

	"github.com/firndb/firn/resp"
)

// COMMAND DOCS tells a command's arguments as a tree, from which clients make
// hints. The tree follows from the syntax in the command's entry:
//
//	WORD           itself; with words behind it inside brackets, what
//	               announces them
//	word           an argument
//	[ … ]          what may be left out
//	< … >          what belongs together
//	a | b          one of them
//	key [key ...]  one or more

// argument is a node of the tree.
type argument struct {
	name     string
	kind     string // key, string, integer, …; oneof and block have parts
	token    string // the word that announces it
	optional bool
	multiple bool
	parts    []argument
}

// argumentKinds are the names of arguments that are not plain strings.
var argumentKinds = map[string]string{
	"key": "key", "newkey": "key", "source": "key", "destination": "key", "destkey": "key", "sourcekey": "key",
	"pattern": "pattern", "unix-time-seconds": "unix-time", "unix-time-milliseconds": "unix-time",
	"count": "integer", "cursor": "integer", "db": "integer", "decrement": "integer", "end": "integer", "increment": "integer", "index": "integer",
	"limit": "integer", "milliseconds": "integer", "numkeys": "integer", "offset": "integer", "seconds": "integer", "start": "integer",
	"stop": "integer", "longitude": "double", "latitude": "double", "radius": "double", "timeout": "double",
}

// syntax reads a command's syntax word by word.
type syntax struct{ words []string }

// ParseArguments is the arguments that a syntax names.
func ParseArguments(text string) []argument {
	for _, mark := range []string{"[", "]", "<", ">", "|"} {
		text = strings.ReplaceAll(text, mark, " "+mark+" ")
	}
	s := syntax{strings.Fields(text)}
	var all []argument
	for len(s.words) > 0 {
		if s.take("|") && len(all) > 0 {
			// Outside of brackets the words next to it are meant.
			last := all[len(all)-1]
			if last.kind != "oneof" || last.token != "" || last.optional {
				last = argument{name: last.name, kind: "oneof", parts: []argument{last}}
			}
			if next := s.sequence(1); len(next) > 0 {
				last.parts = append(last.parts, next...)
			}
			all[len(all)-1] = last
			continue
		}
		before := len(s.words)
		all = append(all, s.sequence(1)...)
		all = joinRepeated(all)
		if len(s.words) == before {
			s.words = s.words[1:] // a bracket that nothing opened
		}
	}
	return all
}

// take takes a word off if it is the next.
func (s *syntax) take(word string) bool {
	if len(s.words) == 0 || s.words[0] != word {
		return false
	}
	s.words = s.words[1:]
	return true
}

// sequence reads up to most arguments, until a bracket closes or another
// choice comes.
func (s *syntax) sequence(most int) []argument {
	var all []argument
	for len(all) < most && len(s.words) > 0 {
		switch word := s.words[0]; word {
		case "]", ">", "|":
			return all
		case "[", "<":
			s.words = s.words[1:]
			group := s.group()
			group.optional = group.optional || word == "["
			all = joinRepeated(append(all, group))
		case "...":
			s.words = s.words[1:]
			if len(all) > 0 {
				all[len(all)-1].multiple = true
			}
		default:
			s.words = s.words[1:]
			all = append(all, newArgument(word))
		}
	}
	return all
}

// group reads what is inside brackets, and the one that closes.
func (s *syntax) group() argument {
	var choices []argument
	for {
		if parts := s.sequence(len(s.words)); len(parts) > 0 {
			choices = append(choices, block(parts))
		}
		if !s.take("|") {
			break
		}
	}
	if len(s.words) > 0 {
		s.words = s.words[1:]
	}
	switch len(choices) {
	case 0:
		return argument{kind: "block"}
	case 1:
		return choices[0]
	}
	return argument{name: choices[0].name, kind: "oneof", parts: choices}
}

// newArgument is one word.
func newArgument(word string) argument {
	if word == strings.ToUpper(word) && word != strings.ToLower(word) {
		return argument{name: strings.ToLower(word), kind: "pure-token", token: word}
	}
	kind := argumentKinds[word]
	if kind == "" {
		kind = "string"
	}
	return argument{name: word, kind: kind}
}

// block makes one argument of several in brackets. A word of its own announces
// those behind it.
func block(parts []argument) argument {
	if len(parts) == 1 {
		return parts[0]
	}
	token := ""
	if first := parts[0]; first.kind == "pure-token" && !first.optional {
		token, parts = first.token, parts[1:]
	}
	if len(parts) == 1 && parts[0].token == "" && !parts[0].optional {
		parts[0].token = token
		return parts[0]
	}
	return argument{name: parts[0].name, kind: "block", token: token, parts: parts, multiple: slices.ContainsFunc(parts, isRepeated)}
}

func isRepeated(a argument) bool { return a.multiple }

// joinRepeated joins the last argument, if it only says that those before it
// may come again, with these.
func joinRepeated(all []argument) []argument {
	n := len(all) - 1
	again := all[max(n, 0):]
	if n < 1 || !again[0].optional || !again[0].multiple {
		return all
	}
	parts := again
	if again[0].kind == "block" && again[0].token == "" {
		parts = again[0].parts
	}
	if n < len(parts) {
		return all
	}
	before := all[n-len(parts) : n]
	for i := range parts {
		if parts[i].name != before[i].name {
			return all
		}
	}
	if len(parts) == 1 {
		before[0].multiple = true
		return all[:n]
	}
	joined := argument{name: "data", kind: "block", multiple: true, parts: slices.Clone(before)}
	return append(all[:n-len(parts)], joined)
}

// ArgumentsReply appends arguments to the reply of COMMAND DOCS.
type ArgumentsReply struct {
	W     *resp.Writer
	Specs int // key specifications that there are
	keys  int // keys that have been told
}

func (r *ArgumentsReply) List(all []argument) {
	r.W.Array(len(all))
	for i := range all {
		r.argument(&all[i])
	}
}

func (r *ArgumentsReply) argument(a *argument) {
	isKey := a.kind == "key" && r.Specs > 0
	n := 2
	for _, has := range []bool{isKey, a.token != "", a.optional || a.multiple, a.parts != nil} {
		if has {
			n++
		}
	}
	r.W.Map(n)
	ReplyField(r.W, "name", a.name)
	if a.kind == "key" && !isKey {
		ReplyField(r.W, "type", "string")
	} else {
		ReplyField(r.W, "type", a.kind)
	}
	if isKey {
		ReplyNumber(r.W, "key_spec_index", min(r.keys, r.Specs-1))
		r.keys++
	}
	if a.token != "" {
		ReplyField(r.W, "token", a.token)
	}
	if a.optional || a.multiple {
		var flags []string
		if a.optional {
			flags = append(flags, "optional")
		}
		if a.multiple {
			flags = append(flags, "multiple")
		}
		r.W.BulkString("flags")
		ReplyTexts(r.W, flags)
	}
	if a.parts != nil {
		r.W.BulkString("arguments")
		r.List(a.parts)
	}
}

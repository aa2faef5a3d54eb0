package command

import (
	"slices"
	"strings"

	"github.com/firndb/firn/resp"
)

// depth is how many words the command's name has, less one: the keys of a
// subcommand are counted from its container.
func (e *Entry) depth() int { return strings.Count(e.Full, "|") }

// plain says whether the keys are at fixed places.
func (s *KeySpec) plain() bool { return s.Keyword == "" && !s.Counted && !s.Unknown }

// KeyRange says where keys are as Redis first did: the position of the first
// (1 is the word behind the name), of the last (negative counts from the end),
// and the step between them. The zero value means no keys.
type KeyRange struct{ First, Last, Step int }

// FixedKeys are the keys at fixed places, as far as one range can tell.
func (e *Entry) FixedKeys() (k KeyRange, movable bool) {
	for i := range e.Specs {
		s := &e.Specs[i]
		switch {
		case !s.plain(), k.First > 0 && (s.Step != 1 || k.Step != 1 || k.Last != s.Begin-1):
			movable = true
			continue
		case k.First == 0:
			k.First, k.Step = s.Begin, s.Step
		}
		k.Last = s.Last
		if s.Last >= 0 {
			k.Last += s.Begin
		}
	}
	return k, movable
}

// movableKeys says whether only the arguments tell where all keys are.
func (e *Entry) movableKeys() bool {
	_, movable := e.FixedKeys()
	return movable
}

// MayHaveKeys says whether the command may have keys at all.
func (e *Entry) MayHaveKeys() bool {
	for i := range e.Specs {
		if e.Specs[i].Use&useNot == 0 {
			return true
		}
	}
	return false
}

// KeyUse is a key of a command that is to be run, and how it is used.
type KeyUse struct {
	Key []byte
	Use Use
}

// AppendKeyUses appends the keys in a command's arguments: those after its
// name, and after its subcommand, at least as many as the command demands. ok
// is false if the command cannot run with them because of a number of keys;
// then nothing is appended. Channels are left out.
func (e *Entry) AppendKeyUses(dst []KeyUse, args [][]byte) (uses []KeyUse, ok bool) {
	uses = dst
	for i := range e.Specs {
		s := &e.Specs[i]
		switch {
		case s.Use&useNot != 0:
		case s.Unknown:
			uses = s.appendHidden(uses, args)
		default:
			if uses, ok = e.appendSpec(uses, s, args); !ok {
				return dst, false
			}
		}
	}
	return uses, true
}

// appendHidden appends a key that the command itself knows how to find.
func (s *KeySpec) appendHidden(uses []KeyUse, args [][]byte) []KeyUse {
	if s.find == nil {
		return uses
	}
	if at := s.find(args); at >= 0 {
		uses = append(uses, KeyUse{args[at], s.Use})
	}
	return uses
}

// appendSpec appends the keys of one specification.
func (e *Entry) appendSpec(uses []KeyUse, s *KeySpec, args [][]byte) (_ []KeyUse, ok bool) {
	use := s.Use
	if s.vary != nil {
		use = s.vary(args)
	}
	for from, again := s.Begin-e.depth()-1, true; again; {
		first, last, found, ok := s.span(args, from)
		if !ok {
			return uses, false
		}
		if !found {
			break
		}
		for at := first; at <= last; at += s.Step {
			uses = append(uses, KeyUse{args[at], use})
		}
		from, again = first, s.repeats()
	}
	return uses, true
}

// repeats says whether the keyword may stand there several times. The last may
// be the one that counts, so the key behind each is one of the command's.
func (s *KeySpec) repeats() bool { return s.Keyword != "" && s.Limit == 0 }

// span is the indexes of a specification's first and last key in args, sought
// from an index on. found is false if there are none, and ok if they reach
// beyond the arguments.
func (s *KeySpec) span(args [][]byte, from int) (first, last int, found, ok bool) {
	first = from
	if s.Keyword != "" {
		if first = s.behind(args, from); first < 0 {
			return 0, 0, false, true
		}
	}
	n := len(args)
	switch {
	case first >= n:
		return 0, 0, false, s.Last < 0 && first == n // a list of keys may be empty
	case s.Counted:
		count, isInt := resp.ParseInt(args[first])
		if !isInt || count < 1 || count > int64(n-first-1) {
			return 0, 0, false, false
		}
		first++
		last = first + int(count) - 1
	case s.Limit > 0:
		last = first + (n-first)/s.Limit - 1
	case s.Last < 0:
		last = n + s.Last
	default:
		last = first + s.Last
	}
	return first, last, true, last >= first && last < n
}

// behind is the index of the argument behind the keyword, sought from an index
// on; -1 if there is none. Before STREAMS stand options, and what belongs to
// them may be the same word.
func (s *KeySpec) behind(args [][]byte, from int) int {
	if s.Limit > 0 {
		from = 0
	}
	for i := max(from, 0); i < len(args)-1; i++ {
		switch arg := args[i]; {
		case Is(arg, s.Keyword):
			return i + 1
		case s.Limit == 0:
		case Is(arg, "COUNT"), Is(arg, "BLOCK"):
			i++
		case Is(arg, "GROUP"):
			i += 2
		}
	}
	return -1
}

// OnlyKey are a command's arguments as they were if it named only one of its n
// keys: those it names on, in a row or counted, and no others.
func (e *Entry) OnlyKey(args [][]byte, n int, key string) [][]byte {
	s := &e.Specs[0]
	if s.Keyword != "" || s.Unknown {
		return args
	}
	first := s.Begin - e.depth() - 1
	after, one := first+n, [][]byte{[]byte(key)}
	if s.Counted {
		after, one = after+1, [][]byte{[]byte("1"), []byte(key)}
	}
	return slices.Concat(args[:first], one, args[after:])
}

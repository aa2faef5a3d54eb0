package command

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/firndb/firn/resp"
)

// Where a command's keys are, and what it does to them.
//
// A key specification says it in Redis's terms: how it uses the keys, where
// they begin, and how many there are. It is written as the flags that COMMAND
// INFO shows, and a place, where 1 is the first word after the command's name:
//
//	@1          the word 1
//	@1..-1      from word 1 to the last; to the one before with -2
//	@1..-1/2    every second one of these
//	@2#         word 2 is a number, and so many keys follow
//	STORE@6     the word behind STORE, which is sought from word 6 on
//	STREAMS@1½  the first half of the words behind STREAMS
//	?           at a place that depends on more than the words
//
// Commands that are in no list here have one specification, which follows from
// their entry.

// keyFlags say how a key is used.
type keyFlags uint16

// RO, RW, OW (overwrites) and RM (removes) say what the command does to the
// key as a whole; the others what it does to the value in it. A key without
// those is only looked at: its existence, its length, its type.
const (
	keyRO keyFlags = 1 << iota
	keyRW
	keyOW
	keyRM
	keyAccess // its value, or part of it, is replied or copied
	keyUpdate
	keyInsert
	keyDelete
	keyNot      // no key, but goes where a key of the name would be: a channel
	keyVariable // the flags depend on the arguments
)

var keyFlagNames = [...]string{"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "variable_flags"}

// Names are the flags as COMMAND INFO shows them.
func (f keyFlags) Names() []string {
	var names []string
	for i, name := range keyFlagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// reads says whether what is in the key can be learnt from the reply, or from
// another key.
func (f keyFlags) reads() bool { return f&keyAccess != 0 }

// writes says whether the key is changed.
func (f keyFlags) writes() bool { return f&(keyUpdate|keyInsert|keyDelete) != 0 }

// KeySpec is one key specification.
type KeySpec struct {
	Flags   keyFlags
	Begin   int    // word where the keys, or their number, begin; with keyword where it is sought from
	Keyword string // upper case; the keys begin behind it
	Last    int    // the last key: counts from the first, or if negative from the end
	Step    int    // between two keys
	Limit   int    // 2: only the first half of the words has keys
	Counted bool   // the number of keys comes first
	Unknown bool
}

// parseKeySpec reads the written form, which is in this package's lists.
func parseKeySpec(text string) KeySpec {
	words := strings.Fields(text)
	s := KeySpec{Step: 1}
	for _, word := range words[:len(words)-1] {
		for i, name := range keyFlagNames {
			if word == name {
				s.Flags |= 1 << i
			}
		}
	}
	place := words[len(words)-1]
	if place == "?" {
		s.Unknown = true
		return s
	}
	s.Keyword, place, _ = strings.Cut(place, "@")
	if rest, half := strings.CutSuffix(place, "½"); half {
		s.Limit, s.Last, place = 2, -1, rest
	}
	place, s.Counted = strings.CutSuffix(place, "#")
	first, last, _ := strings.Cut(place, "..")
	last, step, _ := strings.Cut(last, "/")
	s.Begin, _ = strconv.Atoi(first)
	if last != "" {
		s.Last, _ = strconv.Atoi(last)
	}
	if step != "" {
		s.Step, _ = strconv.Atoi(step)
	}
	return s
}

// keyUseLists are how commands use their keys, where that is not "RW access
// update" for a write and "RO access" for a read.
var keyUseLists = []factList{
	{"RO", "exists hexists history|policy hlen hstrlen llen memory|usage object|encoding object|freq object|idletime object|refcount scard sismember " +
		"strlen touch type watch xlen zcard"},
	{"RW access", "pfdebug"},
	{"RW access delete", "blmpop blpop brpop bzmpop bzpopmax bzpopmin getdel lmpop lpop rpop spop zmpop zpopmax zpopmin"},
	{"RW access update variable_flags", "bitfield set"},
	{"RW insert", "append hsetnx linsert lpush lpushx pfadd rpush rpushx sadd xgroup|create xgroup|createconsumer"},
	{"RW update", "expire expireat geoadd hexpire hexpireat hmset hpersist hpexpire hpexpireat hset lset persist pexpire pexpireat setrange " +
		"xack xadd xclaim xgroup|setid xsetid zadd"},
	{"RW delete", "history|clear hdel lrem ltrim srem xautoclaim xdel xgroup|delconsumer xgroup|destroy xtrim zrem zremrangebylex zremrangebyrank " +
		"zremrangebyscore"},
	{"OW update", "mset psetex restore setex"},
	{"OW insert", "msetnx setnx"},
	{"RM delete", "del unlink"},
}

// useFacts is keyUseLists by command.
var useFacts = sync.OnceValue(func() facts { return newFacts(keyUseLists) })

// keySpecLists are the specifications of commands that use one key otherwise
// than another.
var keySpecLists = map[string][]string{
	"bitop":             {"OW update @2", "RO access @3..-1"},
	"blmove":            {"RW access delete @1", "RW insert @2"},
	"brpoplpush":        {"RW access delete @1", "RW insert @2"},
	"copy":              {"RO access @1", "OW update @2"},
	"georadius":         {"RO access @1", "OW update STORE@6", "OW update STOREDIST@6"},
	"georadiusbymember": {"RO access @1", "OW update STORE@5", "OW update STOREDIST@5"},
	"geosearchstore":    {"OW update @1", "RO access @2"},
	"history|disable":   {"RW update KEY@2"},
	"history|enable":    {"RW update KEY@2"},
	"lmove":             {"RW access delete @1", "RW insert @2"},
	"pfmerge":           {"RW access insert @1", "RO access @2..-1"},
	"rename":            {"RW access delete @1", "OW update @2"},
	"renamenx":          {"RW access delete @1", "OW insert @2"},
	"rpoplpush":         {"RW access delete @1", "RW insert @2"},
	"sdiffstore":        {"OW update @1", "RO access @2..-1"},
	"sinterstore":       {"RW update @1", "RO access @2..-1"},
	"smove":             {"RW access delete @1", "RW insert @2"},
	"sort":              {"RO access @1", "RO access ?", "OW update ?"},
	"sort_ro":           {"RO access @1", "RO access ?"},
	"spublish":          {"not_key @1"},
	"ssubscribe":        {"not_key @1..-1"},
	"sunionstore":       {"OW update @1", "RO access @2..-1"},
	"sunsubscribe":      {"not_key @1..-1"},
	"xread":             {"RO access STREAMS@1½"},
	"xreadgroup":        {"RO access STREAMS@4½"},
	"zdiffstore":        {"OW update @1", "RO access @2#"},
	"zinterstore":       {"OW update @1", "RO access @2#"},
	"zrangestore":       {"OW update @1", "RO access @2"},
	"zunionstore":       {"OW update @1", "RO access @2#"},
}

// depth is how many words the command's name has, less one: the keys of a
// subcommand are counted from its container.
func (e *Entry) depth() int { return strings.Count(e.Full, "|") }

// keySpecsOf are the specifications of a command.
func keySpecsOf(e *Entry) []KeySpec {
	var specs []KeySpec
	for _, text := range keySpecLists[e.Full] {
		specs = append(specs, parseKeySpec(text))
	}
	if specs != nil {
		return specs
	}
	flags := keyRO | keyAccess
	if e.Flags&Writes != 0 {
		flags = keyRW | keyAccess | keyUpdate
	}
	if use := useFacts().Of(e); len(use) > 0 {
		flags = parseKeySpec(use[0] + " ?").Flags
	}
	if k := e.Keys; k.First > 0 {
		s := KeySpec{Flags: flags, Begin: k.First + e.depth(), Last: k.Last, Step: max(k.Step, 1)}
		if s.Last > 0 {
			s.Last -= k.First
		}
		specs = append(specs, s)
	}
	if e.KeyCount > 0 {
		specs = append(specs, KeySpec{Flags: flags, Begin: e.KeyCount + e.depth(), Step: 1, Counted: true})
	}
	if e.KeysAfter != "" {
		specs = append(specs, KeySpec{Flags: flags, Begin: 1, Keyword: e.KeysAfter, Last: -1, Step: 1, Limit: 2})
	}
	for word := range strings.FieldsSeq(e.StoreAfter) {
		specs = append(specs, KeySpec{Flags: keyOW | keyUpdate, Begin: 1, Keyword: word, Step: 1})
	}
	return specs
}

// plain says whether the keys are at fixed places.
func (s *KeySpec) plain() bool { return s.Keyword == "" && !s.Counted && !s.Unknown }

// FixedKeys are the keys at fixed places, as far as one range can tell.
func (e *Entry) FixedKeys() (k Keys, movable bool) {
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
		if e.Specs[i].Flags&keyNot == 0 {
			return true
		}
	}
	return false
}

// KeyUse is a key of a command that is to be run, and how it is used.
type KeyUse struct {
	Key   []byte
	Flags keyFlags
}

// AppendKeyUses appends the keys in a command's arguments: those after its
// name, and after its subcommand, at least as many as the command demands. ok
// is false if the command cannot run with them because of a number of keys;
// then nothing is appended. Channels are left out.
func (e *Entry) AppendKeyUses(dst []KeyUse, args [][]byte) (uses []KeyUse, ok bool) {
	uses = dst
	for i := range e.Specs {
		s := &e.Specs[i]
		if s.Flags&keyNot != 0 || s.Unknown {
			continue
		}
		flags := s.Flags
		if flags&keyVariable != 0 {
			flags = e.usesOf(args)
		}
		for from, again := s.Begin-e.depth()-1, true; again; {
			first, last, found, ok := s.span(args, from)
			if !ok {
				return dst, false
			}
			if !found {
				break
			}
			for at := first; at <= last; at += s.Step {
				uses = append(uses, KeyUse{args[at], flags})
			}
			from, again = first, s.repeats()
		}
	}
	if e.Full == "sort" {
		uses = appendStored(uses, args)
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

// usesOf is how SET and BITFIELD use their key with these arguments.
func (e *Entry) usesOf(args [][]byte) keyFlags {
	switch {
	case e.Full == "bitfield" && onlyGets(args[1:]):
		return keyRO | keyAccess
	case e.Full == "set" && !slices.ContainsFunc(args[min(2, len(args)):], isGet):
		return keyOW | keyUpdate
	}
	return keyRW | keyAccess | keyUpdate
}

func isGet(arg []byte) bool { return Is(arg, "GET") }

// onlyGets says whether BITFIELD's operations only read.
func onlyGets(args [][]byte) bool {
	for len(args) > 0 {
		taken := 0
		switch {
		case isGet(args[0]):
			taken = 3
		case Is(args[0], "OVERFLOW"):
			taken = 2
		}
		if taken == 0 || len(args) < taken {
			return false
		}
		args = args[taken:]
	}
	return true
}

// appendStored appends the key that SORT stores to: of several the last.
func appendStored(uses []KeyUse, args [][]byte) []KeyUse {
	at := -1
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case Is(arg, "LIMIT"):
			i += 2
		case Is(arg, "GET"), Is(arg, "BY"):
			i++
		case Is(arg, "STORE") && i+1 < len(args):
			i++
			at = i
		}
	}
	if at < 0 {
		return uses
	}
	return append(uses, KeyUse{args[at], keyOW | keyUpdate})
}

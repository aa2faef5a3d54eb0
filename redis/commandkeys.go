package redis

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

// names are the flags as COMMAND INFO shows them.
func (f keyFlags) names() []string {
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

// keySpec is one key specification.
type keySpec struct {
	flags   keyFlags
	begin   int    // word where the keys, or their number, begin; with keyword where it is sought from
	keyword string // upper case; the keys begin behind it
	last    int    // the last key: counts from the first, or if negative from the end
	step    int    // between two keys
	limit   int    // 2: only the first half of the words has keys
	counted bool   // the number of keys comes first
	unknown bool
}

// parseKeySpec reads the written form, which is in this package's lists.
func parseKeySpec(text string) keySpec {
	words := strings.Fields(text)
	s := keySpec{step: 1}
	for _, word := range words[:len(words)-1] {
		for i, name := range keyFlagNames {
			if word == name {
				s.flags |= 1 << i
			}
		}
	}
	place := words[len(words)-1]
	if place == "?" {
		s.unknown = true
		return s
	}
	s.keyword, place, _ = strings.Cut(place, "@")
	if rest, half := strings.CutSuffix(place, "½"); half {
		s.limit, s.last, place = 2, -1, rest
	}
	place, s.counted = strings.CutSuffix(place, "#")
	first, last, _ := strings.Cut(place, "..")
	last, step, _ := strings.Cut(last, "/")
	s.begin, _ = strconv.Atoi(first)
	if last != "" {
		s.last, _ = strconv.Atoi(last)
	}
	if step != "" {
		s.step, _ = strconv.Atoi(step)
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
func (e *entry) depth() int { return strings.Count(e.full, "|") }

// keySpecsOf are the specifications of a command.
func keySpecsOf(e *entry) []keySpec {
	var specs []keySpec
	for _, text := range keySpecLists[e.full] {
		specs = append(specs, parseKeySpec(text))
	}
	if specs != nil {
		return specs
	}
	flags := keyRO | keyAccess
	if e.Flags&Writes != 0 {
		flags = keyRW | keyAccess | keyUpdate
	}
	if use := useFacts().of(e); len(use) > 0 {
		flags = parseKeySpec(use[0] + " ?").flags
	}
	if k := e.Keys; k.First > 0 {
		s := keySpec{flags: flags, begin: k.First + e.depth(), last: k.Last, step: max(k.Step, 1)}
		if s.last > 0 {
			s.last -= k.First
		}
		specs = append(specs, s)
	}
	if e.KeyCount > 0 {
		specs = append(specs, keySpec{flags: flags, begin: e.KeyCount + e.depth(), step: 1, counted: true})
	}
	if e.KeysAfter != "" {
		specs = append(specs, keySpec{flags: flags, begin: 1, keyword: e.KeysAfter, last: -1, step: 1, limit: 2})
	}
	for word := range strings.FieldsSeq(e.StoreAfter) {
		specs = append(specs, keySpec{flags: keyOW | keyUpdate, begin: 1, keyword: word, step: 1})
	}
	return specs
}

// plain says whether the keys are at fixed places.
func (s *keySpec) plain() bool { return s.keyword == "" && !s.counted && !s.unknown }

// fixedKeys are the keys at fixed places, as far as one range can tell.
func (e *entry) fixedKeys() (k Keys, movable bool) {
	for i := range e.specs {
		s := &e.specs[i]
		switch {
		case !s.plain(), k.First > 0 && (s.step != 1 || k.Step != 1 || k.Last != s.begin-1):
			movable = true
			continue
		case k.First == 0:
			k.First, k.Step = s.begin, s.step
		}
		k.Last = s.last
		if s.last >= 0 {
			k.Last += s.begin
		}
	}
	return k, movable
}

// movableKeys says whether only the arguments tell where all keys are.
func (e *entry) movableKeys() bool {
	_, movable := e.fixedKeys()
	return movable
}

// mayHaveKeys says whether the command may have keys at all.
func (e *entry) mayHaveKeys() bool {
	for i := range e.specs {
		if e.specs[i].flags&keyNot == 0 {
			return true
		}
	}
	return false
}

// keyUse is a key of a command that is to be run, and how it is used.
type keyUse struct {
	key   []byte
	flags keyFlags
}

// appendKeyUses appends the keys in a command's arguments: those after its
// name, and after its subcommand, at least as many as the command demands. ok
// is false if the command cannot run with them because of a number of keys;
// then nothing is appended. Channels are left out.
func (e *entry) appendKeyUses(dst []keyUse, args [][]byte) (uses []keyUse, ok bool) {
	uses = dst
	for i := range e.specs {
		s := &e.specs[i]
		if s.flags&keyNot != 0 || s.unknown {
			continue
		}
		flags := s.flags
		if flags&keyVariable != 0 {
			flags = e.usesOf(args)
		}
		for from, again := s.begin-e.depth()-1, true; again; {
			first, last, found, ok := s.span(args, from)
			if !ok {
				return dst, false
			}
			if !found {
				break
			}
			for at := first; at <= last; at += s.step {
				uses = append(uses, keyUse{args[at], flags})
			}
			from, again = first, s.repeats()
		}
	}
	if e.full == "sort" {
		uses = appendStored(uses, args)
	}
	return uses, true
}

// repeats says whether the keyword may stand there several times. The last may
// be the one that counts, so the key behind each is one of the command's.
func (s *keySpec) repeats() bool { return s.keyword != "" && s.limit == 0 }

// span is the indexes of a specification's first and last key in args, sought
// from an index on. found is false if there are none, and ok if they reach
// beyond the arguments.
func (s *keySpec) span(args [][]byte, from int) (first, last int, found, ok bool) {
	first = from
	if s.keyword != "" {
		if first = s.behind(args, from); first < 0 {
			return 0, 0, false, true
		}
	}
	n := len(args)
	switch {
	case first >= n:
		return 0, 0, false, s.last < 0 && first == n // a list of keys may be empty
	case s.counted:
		count, isInt := resp.ParseInt(args[first])
		if !isInt || count < 1 || count > int64(n-first-1) {
			return 0, 0, false, false
		}
		first++
		last = first + int(count) - 1
	case s.limit > 0:
		last = first + (n-first)/s.limit - 1
	case s.last < 0:
		last = n + s.last
	default:
		last = first + s.last
	}
	return first, last, true, last >= first && last < n
}

// behind is the index of the argument behind the keyword, sought from an index
// on; -1 if there is none. Before STREAMS stand options, and what belongs to
// them may be the same word.
func (s *keySpec) behind(args [][]byte, from int) int {
	if s.limit > 0 {
		from = 0
	}
	for i := max(from, 0); i < len(args)-1; i++ {
		switch arg := args[i]; {
		case is(arg, s.keyword):
			return i + 1
		case s.limit == 0:
		case is(arg, "COUNT"), is(arg, "BLOCK"):
			i++
		case is(arg, "GROUP"):
			i += 2
		}
	}
	return -1
}

// usesOf is how SET and BITFIELD use their key with these arguments.
func (e *entry) usesOf(args [][]byte) keyFlags {
	switch {
	case e.full == "bitfield" && onlyGets(args[1:]):
		return keyRO | keyAccess
	case e.full == "set" && !slices.ContainsFunc(args[min(2, len(args)):], isGet):
		return keyOW | keyUpdate
	}
	return keyRW | keyAccess | keyUpdate
}

func isGet(arg []byte) bool { return is(arg, "GET") }

// onlyGets says whether BITFIELD's operations only read.
func onlyGets(args [][]byte) bool {
	for len(args) > 0 {
		taken := 0
		switch {
		case isGet(args[0]):
			taken = 3
		case is(args[0], "OVERFLOW"):
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
func appendStored(uses []keyUse, args [][]byte) []keyUse {
	at := -1
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case is(arg, "LIMIT"):
			i += 2
		case is(arg, "GET"), is(arg, "BY"):
			i++
		case is(arg, "STORE") && i+1 < len(args):
			i++
			at = i
		}
	}
	if at < 0 {
		return uses
	}
	return append(uses, keyUse{args[at], keyOW | keyUpdate})
}

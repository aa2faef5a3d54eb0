package redis

import (
	"strings"
	"testing"
)

// Where the keys of a command are, and what is done to them, for every form
// that a key specification has.

func TestKeysAreFoundAndTheirUseIsKnown(t *testing.T) {
	one := Keys{1, 1, 1}
	for _, tt := range []struct {
		command Command
		args    string
		want    string // keys with r and w for what is done to them; "bad" if the command cannot run
	}{
		{Command{Name: "GET", Keys: one}, "k", "k:r"},
		{Command{Name: "STRLEN", Keys: one}, "k", "k:"},
		{Command{Name: "PING"}, "k", ""},
		{Command{Name: "MSET", Flags: Writes, Keys: Keys{1, -1, 2}}, "a 1 b 2", "a:w b:w"},
		{Command{Name: "MSET", Flags: Writes, Keys: Keys{1, -1, 2}}, "a 1 b", "a:w b:w"},
		{Command{Name: "BLPOP", Flags: Writes, Keys: Keys{1, -2, 1}}, "a b 0", "a:rw b:rw"},
		{Command{Name: "SET", Flags: Writes, Keys: one}, "k v", "k:w"},
		{Command{Name: "SET", Flags: Writes, Keys: one}, "get get", "get:w"},
		{Command{Name: "SET", Flags: Writes, Keys: one}, "k v EX 1 get", "k:rw"},
		{Command{Name: "BITFIELD", Flags: Writes, Keys: one}, "k", "k:r"},
		{Command{Name: "BITFIELD", Flags: Writes, Keys: one}, "k OVERFLOW WRAP GET u8 0", "k:r"},
		{Command{Name: "BITFIELD", Flags: Writes, Keys: one}, "k GET u8", "k:rw"},
		{Command{Name: "BITFIELD", Flags: Writes, Keys: one}, "k GET u8 0 SET u8 0 1", "k:rw"},
		{Command{Name: "ZUNION", KeyCount: 1}, "2 a b WITHSCORES", "a:r b:r"},
		{Command{Name: "ZUNION", KeyCount: 1}, "3 a b", "bad"},
		{Command{Name: "ZUNION", KeyCount: 1}, "0 a b", "bad"},
		{Command{Name: "ZUNION", KeyCount: 1}, "x a b", "bad"},
		{Command{Name: "ZUNION", KeyCount: 1}, "9223372036854775807 a b", "bad"},
		{Command{Name: "ZUNIONSTORE", Flags: Writes, Keys: one, KeyCount: 2}, "d 2 a b", "d:w a:r b:r"},
		{Command{Name: "BLMPOP", Flags: Writes, KeyCount: 2}, "0 2 a b LEFT", "a:rw b:rw"},
		{Command{Name: "XREAD", KeysAfter: "STREAMS"}, "COUNT 2 streams a b 0 0", "a:r b:r"},
		{Command{Name: "XREAD", KeysAfter: "STREAMS"}, "STREAMS a", "bad"},
		{Command{Name: "XREAD", KeysAfter: "STREAMS"}, "COUNT 2", ""},
		{Command{Name: "XREADGROUP", Flags: Writes, KeysAfter: "STREAMS"}, "GROUP STREAMS c STREAMS a >", "a:r"},
		{Command{Name: "XREADGROUP", Flags: Writes, KeysAfter: "STREAMS"}, "COUNT 1 GROUP g STREAMS STREAMS a >", "a:r"},
		{Command{Name: "OWNREAD", KeysAfter: "FROM"}, "x FROM a b 1 2", "a:r b:r"},
		{Command{Name: "SORT", Flags: Writes, Keys: one, StoreAfter: "STORE"}, "a BY STORE LIMIT 0 STORE STORE d store e", "a:r e:w"},
		{Command{Name: "SORT", Flags: Writes, Keys: one, StoreAfter: "STORE"}, "a STORE", "a:r"},
		{Command{Name: "SORT_RO", Keys: one}, "a BY x", "a:r"},
		{Command{Name: "GEORADIUS", Flags: Writes, Keys: one}, "a 1 2 3 m STORE b STOREDIST c", "a:r b:w c:w"},
		{Command{Name: "GEORADIUS", Flags: Writes, Keys: one}, "a 1 2 3 m STORE b STORE c", "a:r b:w c:w"},
		{Command{Name: "GEORADIUS", Flags: Writes, Keys: one}, "a 1 2 3 m STOREDIST STORE STORE b", "a:r STORE:w b:w STORE:w"},
		{Command{Name: "OWNSTORE", Flags: Writes, Keys: one, StoreAfter: "STORE"}, "a STORE b", "a:rw b:w"},
		{Command{Name: "RENAME", Flags: Writes, Keys: Keys{1, 2, 1}}, "a b", "a:rw b:w"},
		{Command{Name: "PFMERGE", Flags: Writes, Keys: Keys{1, -1, 1}}, "a", "a:rw"},
		{Command{Name: "PFMERGE", Flags: Writes, Keys: Keys{1, -1, 1}}, "a b", "a:rw b:r"},
		{Command{Name: "SPUBLISH", Keys: one}, "channel x", ""},
	} {
		e := newEntry(tt.command, "")
		uses, ok := e.appendKeyUses(nil, splitWords(t, tt.args))
		var got []string
		for _, use := range uses {
			text := string(use.key) + ":"
			if use.flags.reads() {
				text += "r"
			}
			if use.flags.writes() {
				text += "w"
			}
			got = append(got, text)
		}
		text := strings.Join(got, " ")
		if !ok {
			text = "bad"
		}
		check(t, e.full+" "+tt.args, text, tt.want)
	}
}

func TestKeysOfSubcommandsAreCountedFromTheContainer(t *testing.T) {
	e := newEntry(Command{Name: "OBJECT", Sub: []Command{{Name: "ENCODING", Keys: Keys{1, 1, 1}}}}, "").sub[0]
	if k, movable := e.fixedKeys(); k != (Keys{2, 2, 1}) || movable {
		t.Errorf("got %v, %v, want the key at 2", k, movable)
	}
	uses, ok := e.appendKeyUses(nil, splitWords(t, "k"))
	if !ok || len(uses) != 1 || string(uses[0].key) != "k" {
		t.Errorf("got %v, %v, want k", uses, ok)
	}
}

// TestWrittenSpecificationsAreUnderstood: a slip in a list must not pass as
// another place.
func TestWrittenSpecificationsAreUnderstood(t *testing.T) {
	for _, tt := range []struct {
		text string
		want keySpec
	}{
		{"RO access @1", keySpec{flags: keyRO | keyAccess, begin: 1, step: 1}},
		{"RM delete @1..-1/2", keySpec{flags: keyRM | keyDelete, begin: 1, last: -1, step: 2}},
		{"RO @2#", keySpec{flags: keyRO, begin: 2, step: 1, counted: true}},
		{"OW update STORE@6", keySpec{flags: keyOW | keyUpdate, begin: 6, keyword: "STORE", step: 1}},
		{"RO STREAMS@4½", keySpec{flags: keyRO, begin: 4, keyword: "STREAMS", last: -1, step: 1, limit: 2}},
		{"OW ?", keySpec{flags: keyOW, step: 1, unknown: true}},
	} {
		if got := parseKeySpec(tt.text); got != tt.want {
			t.Errorf("%s\n got %+v\nwant %+v", tt.text, got, tt.want)
		}
	}
	for _, specs := range keySpecLists {
		for _, text := range specs {
			s := parseKeySpec(text)
			if s.flags == 0 || s.begin == 0 && !s.unknown {
				t.Errorf("%q is read as %+v", text, s)
			}
		}
	}
}

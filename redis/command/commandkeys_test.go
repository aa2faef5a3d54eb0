package command

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
		e := NewEntry(tt.command, "")
		uses, ok := e.AppendKeyUses(nil, words(tt.args))
		var got []string
		for _, use := range uses {
			text := string(use.Key) + ":"
			if use.Flags.reads() {
				text += "r"
			}
			if use.Flags.writes() {
				text += "w"
			}
			got = append(got, text)
		}
		text := strings.Join(got, " ")
		if !ok {
			text = "bad"
		}
		if text != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", e.Full, tt.args, text, tt.want)
		}
	}
}

func TestKeysOfSubcommandsAreCountedFromTheContainer(t *testing.T) {
	e := NewEntry(Command{Name: "OBJECT", Sub: []Command{{Name: "ENCODING", Keys: Keys{1, 1, 1}}}}, "").Sub[0]
	if k, movable := e.FixedKeys(); k != (Keys{2, 2, 1}) || movable {
		t.Errorf("got %v, %v, want the key at 2", k, movable)
	}
	uses, ok := e.AppendKeyUses(nil, words("k"))
	if !ok || len(uses) != 1 || string(uses[0].Key) != "k" {
		t.Errorf("got %v, %v, want k", uses, ok)
	}
}

// TestWrittenSpecificationsAreUnderstood: a slip in a list must not pass as
// another place.
func TestWrittenSpecificationsAreUnderstood(t *testing.T) {
	for _, tt := range []struct {
		text string
		want KeySpec
	}{
		{"RO access @1", KeySpec{Flags: keyRO | keyAccess, Begin: 1, Step: 1}},
		{"RM delete @1..-1/2", KeySpec{Flags: keyRM | keyDelete, Begin: 1, Last: -1, Step: 2}},
		{"RO @2#", KeySpec{Flags: keyRO, Begin: 2, Step: 1, Counted: true}},
		{"OW update STORE@6", KeySpec{Flags: keyOW | keyUpdate, Begin: 6, Keyword: "STORE", Step: 1}},
		{"RO STREAMS@4½", KeySpec{Flags: keyRO, Begin: 4, Keyword: "STREAMS", Last: -1, Step: 1, Limit: 2}},
		{"OW ?", KeySpec{Flags: keyOW, Step: 1, Unknown: true}},
	} {
		if got := parseKeySpec(tt.text); got != tt.want {
			t.Errorf("%s\n got %+v\nwant %+v", tt.text, got, tt.want)
		}
	}
	for _, specs := range keySpecLists {
		for _, text := range specs {
			s := parseKeySpec(text)
			if s.Flags == 0 || s.Begin == 0 && !s.Unknown {
				t.Errorf("%q is read as %+v", text, s)
			}
		}
	}
}

func words(text string) (all [][]byte) {
	for word := range strings.FieldsSeq(text) {
		all = append(all, []byte(word))
	}
	return all
}

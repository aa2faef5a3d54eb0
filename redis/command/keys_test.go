package command

import (
	"slices"
	"strings"
	"testing"
)

// Where the keys of a command are, and what is done to them, for every form
// that a key specification has.

func TestKeysAreFoundAndTheirUseIsKnown(t *testing.T) {
	everySecond := KeysFrom(1, -1, 2, Overwrites)
	store := FirstKey(Reads).And(KeyAfter("STORE", 5, Overwrites)).And(KeyAfter("STOREDIST", 5, Overwrites))
	streams := KeysAfter("STREAMS", 1, Reads)
	inPairs := FirstKey(Changes).Varying(func(args [][]byte) Use {
		if len(args)%2 == 0 {
			return Overwrites
		}
		return Changes
	})
	lastOfAll := FirstKey(Reads).And(HiddenKeys(Reads)).And(HiddenKey(Overwrites, func(args [][]byte) int { return len(args) - 1 }))
	for _, tt := range []struct {
		keys Keys
		args string
		want string // keys with r and w for what is done to them; "bad" if the command cannot run
	}{
		{nil, "a b", ""},
		{FirstKey(Reads), "k", "k:r"},
		{FirstKey(Looks), "k", "k:"},
		{FirstKey(IsChannel), "channel x", ""},
		{KeyAt(2, Reads), "x k y", "k:r"},
		{AllKeys(Reads), "a b", "a:r b:r"},
		{everySecond, "a 1 b 2", "a:w b:w"},
		{everySecond, "a 1 b", "a:w b:w"},
		{KeysFrom(1, -2, 1, Takes), "a b 0", "a:rw b:rw"},
		{KeysFrom(1, 2, 1, Changes), "a b c", "a:rw b:rw"},
		{inPairs, "k v", "k:w"},
		{inPairs, "k v w", "k:rw"},
		{CountedKeys(1, Reads), "2 a b WITHSCORES", "a:r b:r"},
		{CountedKeys(1, Reads), "3 a b", "bad"},
		{CountedKeys(1, Reads), "0 a b", "bad"},
		{CountedKeys(1, Reads), "x a b", "bad"},
		{CountedKeys(1, Reads), "9223372036854775807 a b", "bad"},
		{FirstKey(Overwrites).And(CountedKeys(2, Reads)), "d 2 a b", "d:w a:r b:r"},
		{CountedKeys(2, Takes), "0 2 a b LEFT", "a:rw b:rw"},
		{streams, "COUNT 2 streams a b 0 0", "a:r b:r"},
		{streams, "STREAMS a", "bad"},
		{streams, "COUNT 2", ""},
		{streams, "GROUP STREAMS c STREAMS a >", "a:r"},
		{streams, "COUNT 1 GROUP g STREAMS STREAMS a >", "a:r"},
		{KeysAfter("FROM", 1, Reads), "x FROM a b 1 2", "a:r b:r"},
		{store, "a 1 2 3 STORE b STOREDIST c", "a:r b:w c:w"},
		{store, "a 1 2 3 STORE b STORE c", "a:r b:w c:w"},
		{store, "a 1 2 3 STOREDIST STORE STORE b", "a:r STORE:w b:w STORE:w"},
		{store, "a 1 2 3 STORE", "a:r"},
		{lastOfAll, "a x b", "a:r b:w"},
		{FirstKey(Gathers).And(KeysFrom(2, -1, 1, Reads)), "a", "a:rw"},
		{FirstKey(Gathers).And(KeysFrom(2, -1, 1, Reads)), "a b", "a:rw b:r"},
	} {
		e := NewEntry(Command{Name: "OWN", Keys: tt.keys, Run: func(*Call) error { return nil }}, "")
		uses, ok := e.AppendKeyUses(nil, words(tt.args))
		got := "bad"
		if ok {
			got = shown(uses)
		}
		if got != tt.want {
			t.Errorf("%+v %s\n got %s\nwant %s", tt.keys, tt.args, got, tt.want)
		}
	}
}

func TestOnePairOfPlacesTellsOfKeysInARow(t *testing.T) {
	for _, tt := range []struct {
		keys    Keys
		want    KeyRange
		movable bool
	}{
		{nil, KeyRange{}, false},
		{FirstKey(Reads), KeyRange{1, 1, 1}, false},
		{KeysFrom(2, 3, 1, Reads), KeyRange{2, 3, 1}, false},
		{KeysFrom(1, -1, 2, Reads), KeyRange{1, -1, 2}, false},
		{KeyAt(1, Takes).And(KeyAt(2, Inserts)), KeyRange{1, 2, 1}, false},
		{KeyAt(1, Takes).And(KeyAt(3, Inserts)), KeyRange{1, 1, 1}, true},
		{CountedKeys(1, Reads), KeyRange{}, true},
		{FirstKey(Reads).And(HiddenKeys(Reads)), KeyRange{1, 1, 1}, true},
	} {
		e := NewEntry(Command{Name: "OWN", Keys: tt.keys}, "")
		if got, movable := e.FixedKeys(); got != tt.want || movable != tt.movable {
			t.Errorf("%+v: got %v, %v, want %v, %v", tt.keys, got, movable, tt.want, tt.movable)
		}
	}
}

func TestKeysOfSubcommandsAreCountedFromTheContainer(t *testing.T) {
	keys := FirstKey(Looks).And(KeyAfter("TO", 2, Overwrites))
	e := NewEntry(Command{Name: "OBJECT", Sub: []Command{{Name: "ENCODING", Keys: keys}}}, "").Sub[0]
	if k, movable := e.FixedKeys(); k != (KeyRange{2, 2, 1}) || !movable || e.Specs[1].Begin != 3 {
		t.Errorf("got %v, %v, %+v, want the keys at 2, and from 3 on", k, movable, e.Specs)
	}
	uses, ok := e.AppendKeyUses(nil, words("k TO d"))
	if !ok || len(uses) != 2 || string(uses[0].Key) != "k" || string(uses[1].Key) != "d" {
		t.Errorf("got %v, %v, want k and d", uses, ok)
	}
	if keys[0].Begin != 1 {
		t.Errorf("the keys of the subcommand's entry have changed: %+v", keys)
	}
}

func TestACommandIsAskedForOneOfItsKeys(t *testing.T) {
	for _, tt := range []struct {
		keys       Keys
		args, want string
	}{
		{KeysFrom(1, -2, 1, Takes), "a b 0", "b 0"},
		{CountedKeys(2, Takes), "0 2 a b LEFT", "0 1 b LEFT"},
		{KeysAfter("STREAMS", 1, Reads), "STREAMS a b 0 0", "STREAMS a b 0 0"},
	} {
		e := NewEntry(Command{Name: "OWN", Keys: tt.keys}, "")
		args := words(tt.args)
		if got := e.OnlyKey(args, 2, "b"); !slices.EqualFunc(got, words(tt.want), slices.Equal) {
			t.Errorf("%s: got %s, want %s", tt.args, got, tt.want)
		}
	}
}

// shown is keys on one line, with r and w for what is done to them.
func shown(uses []KeyUse) string {
	var all []string
	for _, use := range uses {
		text := string(use.Key) + ":"
		if use.Use.reads() {
			text += "r"
		}
		if use.Use.writes() {
			text += "w"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func words(text string) (all [][]byte) {
	for word := range strings.FieldsSeq(text) {
		all = append(all, []byte(word))
	}
	return all
}

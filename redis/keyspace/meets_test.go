package keyspace

// The rule: a walk passes by a key whose past is forgotten only if its range
// cannot have the key in any keyspace of the database.

import (
	"testing"

	"github.com/firndb/firn/tuple"
)

func TestRangesMeetTheKeysThatTheyCanHave(t *testing.T) {
	first, flushed := AppendUID(nil, UID{N: 0}), AppendUID(nil, UID{TS: 5, N: 0})
	key := func(space []byte, name string) string {
		return string(tuple.AppendString(append([]byte(nil), space...), name))
	}
	end := func(space []byte) string { return string(tuple.PrefixEnd(space)) }
	scope := KeyScope(key(first, "hot"))
	for _, tt := range []struct {
		name, from, to string
		want           bool
	}{
		{"a keyspace", string(first), end(first), true},
		{"the next keyspace", string(flushed), end(flushed), true},
		{"up to the key", string(first), key(first, "hot"), false},
		{"the key", key(first, "hot"), key(first, "hot\x00"), true},
		{"behind the key", key(first, "hot\x00"), end(first), false},
		{"behind it in the next", key(flushed, "i"), end(flushed), false},
		{"two keyspaces", key(first, "i"), end(flushed), true},
		{"without an end", key(first, "i"), "", true},
		{"everything", "", "", true},
	} {
		if got := keyMeets(scope, tt.from, tt.to); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}

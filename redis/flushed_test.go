package redis

import (
	"testing"

	"github.com/firndb/firn"
)

// A transaction may empty databases and then make collections in them: all keys
// are found, in whatever order they are made.
func TestKeysOfATransactionThatFlushesAreAllThere(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "SELECT 2", "SET k 1", "MULTI", "FLUSHDB", "SADD a x", "SADD b x", "SADD c x", "EXEC")
	for _, command := range []string{"KEYS *", "SCAN 0"} {
		v := ask(t, a, command)
		if v.mark == '*' && len(v.elements) == 2 && v.elements[1].mark == '*' {
			v = v.elements[1]
		}
		if got := len(v.elements); got != 3 {
			t.Errorf("%s: got %d keys, want 3", command, got)
		}
	}
	Check(t, "size", a.Run(t, "DBSIZE"), ":3\r\n")
}

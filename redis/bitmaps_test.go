package redis

import (
	"testing"
)

// TestStringsThatBitsDoNotChangeAreNotWritten: each version of a long bitmap
// takes as much as the whole.
func TestStringsThatBitsDoNotChangeAreNotWritten(t *testing.T) {
	o := newPlain(t)
	o.expect(t, "SETBIT b 100 1", "(integer) 0")
	for _, command := range []string{"SETBIT b 100 1", "SETBIT b 3 0", "BITFIELD b SET u1 100 1", "BITFIELD b GET u8 0", "BITFIELD b OVERFLOW FAIL INCRBY u1 100 1"} {
		if got := o.rows(func() { o.ask(t, command) }); got != 0 {
			t.Errorf("%s\n got %d rows\nwant none", command, got)
		}
	}
}

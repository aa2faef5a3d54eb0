package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// Keys of what has arrived are looked at before it runs. Every test's session
// does that, so whatever it changed would show anywhere; this is about which
// keys those are.

func (o *ours) fill(input string) { o.session.Fill(copy(o.session.Space(len(input)), input)) }

func TestKeysThatAreLookedAtAhead(t *testing.T) {
	o, other := NewPair(t, firn.Options{})
	many := func(n int) string { return strings.TrimSpace(strings.Repeat("a ", n)) }
	for _, tt := range []struct{ in, want string }{
		{"GET a\r\nget b\r\nPING\r\nNONE c\r\nSET d e\r\n", "a b d"},
		{"MSET a 1 b 2 c 3\r\nMGET d e f\r\nOBJECT ENCODING g\r\n", "a b c d e f"},
		{"GET\r\nMSET a\r\n*1\r\n$3\r\nGET\r\n", "a"},
		{strings.Repeat("GET a\r\n", maxAheadCommands+1), many(maxAheadCommands)},
		{"MGET " + many(maxAheadKeys+1) + "\r\n", many(maxAheadKeys)},
	} {
		a := o.session.srv.NewAhead()
		o.fill(tt.in)
		a.Look(o.session)
		var got []string
		for _, key := range a.keys {
			got = append(got, string(key))
		}
		Check(t, "keys of "+tt.in[:min(len(tt.in), 40)], strings.Join(got, " "), tt.want)
		a.Touch()
		o.take(t)
	}
	o.Run(t, "SELECT 1")
	o.fill("GET a\r\n")
	other.fill("GET b\r\n")
	a := o.session.srv.NewAhead()
	a.Look(other.session)
	a.Look(o.session)
	if len(a.keys) != 1 || a.db != 1 {
		t.Errorf("of two databases: got %q of %d, want one of 1", a.keys, a.db)
	}
}

// TestManyPairsAreStoredInTheirOrder: more than are looked at together, of which
// the last of a key stays.
func TestManyPairsAreStoredInTheirOrder(t *testing.T) {
	o, _ := NewPair(t, firn.Options{})
	const pairs = 75
	var command strings.Builder
	command.WriteString("MSET")
	for i := range pairs {
		fmt.Fprintf(&command, " k%d v%d", i%70, i)
	}
	o.Run(t, command.String())
	for i := range 70 {
		value := fmt.Sprintf("v%d", i)
		if i+70 < pairs {
			value = fmt.Sprintf("v%d", i+70)
		}

		command.Reset()
		Check(t, fmt.Sprintf("k%d", i), o.Run(t, fmt.Sprintf("GET k%d", i)), fmt.Sprintf("$%d\r\n%s\r\n", len(value), value))
	}
	Check(t, "keys", o.Run(t, "DBSIZE"), ":70\r\n")
}

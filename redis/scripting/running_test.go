package scripting

import (
	"strings"
	"testing"

	"github.com/firndb/firn/redis/command"
)

// How scripts that take long are known, and ended.

// TestAKilledScriptDoesNotWrite: who killed it was told OK because it had not
// written, also in the moment before it hears of it.
func TestAKilledScriptDoesNotWrite(t *testing.T) {
	r := &Run{Engine: New(Options{}), Name: "sha"}
	r.pulse.fate.Store(fateKilled)
	if err := r.Writes(); err == nil || !strings.Contains(err.Error(), "killed by user") || r.Wrote {
		t.Errorf("Writes: got %v, wrote %v, want that it was killed", err, r.Wrote)
	}
}

// TestLongScriptsAreKnownByTheirSource: EVAL is given the source of what took
// long, and all others its name.
func TestLongScriptsAreKnownByTheirSource(t *testing.T) {
	e := New(Options{})
	const source = "return 1"
	sha := cached(t, e, source, false).SHA
	e.lately.tookLong(sha)
	for name, word := range map[string]string{"EVAL": source, "EVAL_RO": source, "EVALSHA": sha, "EVALSHA_RO": sha} {
		for _, c := range Commands() {
			if c.Name == name && !e.LongLately(&command.Entry{Command: c}, [][]byte{[]byte(word), []byte("0")}) {
				t.Errorf("%s: it is not known that the script took long", name)
			}
		}
	}
	large := [][]byte{[]byte(strings.Repeat("-", hurriedSource+1)), []byte("0")}
	if !New(Options{}).LongLately(&command.Entry{Command: evalCommands()[0]}, large) {
		t.Error("a script that is not looked for on an event loop begins there")
	}
}

// TestOnlyWhatHasANameIsKnownToTakeLong: as long as any script is, all look.
func TestOnlyWhatHasANameIsKnownToTakeLong(t *testing.T) {
	e := New(Options{})
	e.took(&Run{Engine: e}, ErrLong)
	if n := e.lately.some.Load(); n != 0 {
		t.Errorf("got %d scripts that took long, want none", n)
	}
	e.took(&Run{Engine: e, Name: "sha"}, ErrLong)
	if n := e.lately.some.Load(); n != 1 {
		t.Errorf("got %d scripts that took long, want one", n)
	}
}

package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
)

// TestAPanicOfACommandIsNotTheScripts: a command that panics may hold locks, and
// may have written half of what it writes, so the program ends, as it does when
// the command is called without a script, even if the script would catch it.
func TestAPanicOfACommandIsNotTheScripts(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	call := func(in *scripting.Invocation) error { _, err := in.Do("OBJECT", "HELP"); return err }
	if err := srv.RegisterFunction("calls", scripting.NoWrites, call); err != nil {
		t.Fatal(err)
	}
	e, _, err := srv.commands.Resolve(wordBytes([]string{"OBJECT", "HELP"}))
	if err != nil {
		t.Fatal(err)
	}
	run := e.Run
	defer func() { e.Run = run }()
	e.Run = func(*command.Call) error { panic("half of a write") }
	for _, words := range [][]string{{"EVAL_RO", "pcall(redis.call, 'OBJECT', 'HELP') return 1", "0"}, {"FCALL_RO", "calls", "0"}} {
		func() {
			defer func() {
				text, _ := recover().(string)
				if !strings.Contains(text, "half of a write") {
					t.Errorf("%s: got %q, want a panic of that text", words, text)
				}
			}()
			t.Errorf("%s: got %q, want a panic", words, newOurs(t, srv).tell(t, wordBytes(words)...))
		}()
	}
}

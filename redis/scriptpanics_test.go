package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

// TestAPanicOfACommandIsNotTheScripts: a command that panics may hold locks, and
// may have written half of what it writes, so the program ends, as it does when
// the command is called without a script, even if the script would catch it.
func TestAPanicOfACommandIsNotTheScripts(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	o := newOurs(t, srv)
	o.ask(t, "SET k v")
	e, _, err := srv.commands.Resolve([][]byte{[]byte("OBJECT"), []byte("HELP")})
	if err != nil {
		t.Fatal(err)
	}
	run := e.Run
	defer func() { e.Run = run }()
	e.Run = func(*command.Call) error { panic("half of a write") }
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "half of a write") {
			t.Errorf("got %q, want a panic of that text", text)
		}
	}()
	t.Errorf("got %q, want a panic", o.tell(t, []byte("EVAL_RO"), []byte("pcall(redis.call, 'OBJECT', 'HELP') return 1"), []byte("0")))
}

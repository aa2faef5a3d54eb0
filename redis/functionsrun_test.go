package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// While a function runs others see it, and may end it, as long as it has not
// written.

// stats waits until FUNCTION STATS names a running function, and returns the
// reply.
func awaitFunction(t *testing.T, o *ours, want string) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		got := o.Run(t, "FUNCTION STATS")
		if strings.Contains(got, want) {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("FUNCTION STATS: got %q, want %q in it", got, want)
		}
		<-time.After(time.Millisecond)
	}
}

func TestFunctionsThatTakeLongAreSeenAndKilled(t *testing.T) {
	for _, command := range []string{"FCALL_RO loop 1 k x", "FCALL loop 1 k x", "FCALL writes 1 k x"} {
		t.Run(command, func(t *testing.T) {
			a, b := NewPair(t, firn.Options{})
			loop := "while redis.call('EXISTS', 'stop') == 0 do end return 'ended'"
			a.Run(t, loadFunction("l", "loop", loop), `FUNCTION LOAD "#!lua name=w\nredis.register_function('writes', function(keys) redis.call('SET', keys[1], 1) local n = 0 while n < 3e9 do n = n + 1 end end)"`)
			reply := make(chan string, 1)
			go func() { reply <- a.Run(t, command) }()
			name := strings.Fields(command)[1]
			got := awaitFunction(t, b, "$4\r\nname\r\n")
			for _, want := range []string{"$" + string(rune('0'+len(name))) + "\r\n" + name + "\r\n", "command\r\n*5\r\n", "duration_ms\r\n:", "libraries_count\r\n:2\r\n", "functions_count\r\n:2\r\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("FUNCTION STATS: got %q, want %q in it", got, want)
				}
			}
			if name == "writes" {
				if got := b.Run(t, "FUNCTION KILL"); !strings.HasPrefix(got, "-UNKILLABLE ") {
					t.Errorf("FUNCTION KILL: got %q, want UNKILLABLE", got)
				}
				a.session.srv.scripts.EndAll()
				if got := <-reply; !strings.HasPrefix(got, "-ERR ") {
					t.Errorf("ended: got %q", got)
				}
				Check(t, "what it wrote", b.Run(t, "GET k"), "$-1\r\n")
				return
			}
			if got := b.Run(t, "SCRIPT KILL"); !strings.HasPrefix(got, "-BUSY ") {
				t.Errorf("SCRIPT KILL: got %q, want BUSY", got)
			}
			Check(t, "FUNCTION KILL", b.Run(t, "FUNCTION KILL"), "+OK\r\n")
			if got := <-reply; !strings.HasPrefix(got, "-ERR Script killed by user with SCRIPT KILL... script: loop") {
				t.Errorf("killed: got %q", got)
			}
			Check(t, "nothing runs", b.Run(t, "FUNCTION KILL"), "-NOTBUSY No scripts in execution right now.\r\n")
			Check(t, "the library is whole", a.Run(t, "SET stop 1", "FCALL loop 1 k"), "+OK\r\n$5\r\nended\r\n")
		})
	}
}

// TestLongFunctionsRunAgain: code that takes too long for an event loop, and
// code that is too large to be compiled there.
func TestLongFunctionsRunAgain(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	long := "local n = 0 while n < 300000 do n = n + 1 end redis.call('INCR', keys[1]) return n"
	body := "#!lua name=l\\nredis.register_function('f', function(keys) " + long + " end)\\n"
	Check(t, "a long call", a.Run(t, `FUNCTION LOAD "`+body+`"`, "FCALL f 1 k", "FCALL f 1 k", "GET k"), "$1\r\nl\r\n:300000\r\n:300000\r\n$1\r\n2\r\n")
	Check(t, "long to load", a.Run(t, `FUNCTION LOAD "#!lua name=m\nlocal n = 0 while n < 300000 do n = n + 1 end redis.register_function('g', function(keys) return n end)"`, "FCALL g 0", "FCALL g 0"), "$1\r\nm\r\n:300000\r\n:300000\r\n")
	Check(t, "large", a.Run(t, `FUNCTION LOAD REPLACE "`+body+"-- "+strings.Repeat("x", 40_000)+`"`, "FCALL f 1 k", "MULTI", "FCALL f 1 k", "EXEC"), "$1\r\nl\r\n:300000\r\n+OK\r\n+QUEUED\r\n*1\r\n:300000\r\n")
}

package redis

import (
	"testing"

	"github.com/firndb/firn"
)

// TestScriptsServeThoseWhoWait: a script's pushes are seen when it has ended, as
// those of EXEC are, also if it ends with an error.
func TestScriptsServeThoseWhoWait(t *testing.T) {
	for name, tt := range map[string]struct{ wait, script, want string }{
		"a push":                    {"BLPOP k 0", `return redis.call('RPUSH','k','x')`, pair("k", "x")},
		"another key":               {"BLPOP k 0", `return redis.call('RPUSH','j','x')`, ""},
		"another database":          {"BLPOP k 0", `redis.call('SELECT',1) return redis.call('RPUSH','k','x')`, ""},
		"a push before an error":    {"BLPOP k 0", `redis.call('RPUSH','k','x') error('end')`, pair("k", "x")},
		"a push before a bad call":  {"BLPOP k 0", `redis.call('RPUSH','k','x') redis.call('INCR','k')`, pair("k", "x")},
		"a push that is taken back": {"BLPOP k 0", `redis.call('RPUSH','k','x') return redis.call('LPOP','k')`, ""},
		"a push that is deleted":    {"BLPOP k 0", `redis.call('RPUSH','k','x') return redis.call('DEL','k')`, ""},
		"two pushes":                {"BLPOP k 0", `redis.call('RPUSH','k','x') return redis.call('RPUSH','k','y')`, pair("k", "x")},
		"its keys in their order":   {"BLPOP j k 0", `redis.call('RPUSH','k','x') return redis.call('RPUSH','j','y')`, pair("k", "x")},
		"a rename":                  {"BLPOP k 0", `redis.call('RPUSH','j','x') return redis.call('RENAME','j','k')`, pair("k", "x")},
		"a member":                  {"BZPOPMIN k 0", `return redis.call('ZADD','k',1,'m')`, "*3\r\n$1\r\nk\r\n$1\r\nm\r\n$1\r\n1\r\n"},
		"an entry":                  {"XREAD BLOCK 0 STREAMS k $", `return redis.call('XADD','k','1-1','f','v')`, "*1\r\n*2\r\n$1\r\nk\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n"},
		"a read":                    {"BLPOP k 0", `return redis.call('LLEN','k')`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := newSessions(t, 2, firn.Options{})
			a, b := all[0], all[1]
			a.waits(t, tt.wait)
			b.tell(t, []byte("EVAL"), []byte(tt.script), []byte("0"))
			Check(t, tt.wait, string(a.take(t)), tt.want)
			if got, want := a.session.Waits(), tt.want == ""; got != want {
				t.Errorf("waits: got %t, want %t", got, want)
			}
		})
	}
}

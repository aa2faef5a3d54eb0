package redis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// CLIENT PAUSE holds back commands, and loses none.

func TestPause(t *testing.T) {
	for name, tt := range map[string]struct {
		mode, command, reply string
		held                 bool
	}{
		"reads":                        {"ALL", "GET k", "$-1\r\n", true},
		"pings":                        {"ALL", "PING", "+PONG\r\n", true},
		"errors are not held back":     {"ALL", "GET", "-ERR wrong number of arguments for 'get' command\r\n", false},
		"reads while writes are":       {"WRITE", "GET k", "$-1\r\n", false},
		"writes":                       {"WRITE", "SET k 1", "+OK\r\n", true},
		"a transaction that writes":    {"WRITE", "MULTI\r\nGET k\r\nSET k 1\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n$-1\r\n+OK\r\n", true},
		"a transaction that reads":     {"WRITE", "MULTI\r\nGET k\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n$-1\r\n", false},
		"a write behind a read":        {"WRITE", "GET k\r\nINCR k\r\nGET k", "$-1\r\n:1\r\n$1\r\n1\r\n", true},
		"a message":                    {"WRITE", "PUBLISH c m", ":0\r\n", true},
		"a shard's message in MULTI":   {"WRITE", "MULTI\r\nSPUBLISH c m\r\nDISCARD", "+OK\r\n+QUEUED\r\n+OK\r\n", true},
		"a count, as in Redis":         {"WRITE", "PFCOUNT h", ":0\r\n", true},
		"a command that waits":         {"WRITE", "QPOP l 0.001", "*-1\r\n", true},
		"a command that reads streams": {"WRITE", "QREAD l 0 0.001", "*-1\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			all := newSessions(t, 2, firn.Options{})
			a, b := all[0], all[1]
			Check(t, "CLIENT PAUSE", b.Run(t, "CLIENT PAUSE 100000 "+tt.mode), "+OK\r\n")
			got := a.Run(t, tt.command)
			if held := a.session.paused.held.Load(); held != tt.held {
				t.Errorf("held back: got %t, want %t", held, tt.held)
			}
			want := map[bool]int64{true: 1}[tt.held]
			if got := a.session.srv.pause.count.Load(); got != want {
				t.Errorf("held back in all: got %d, want %d", got, want)
			}
			got += a.Run(t, "ECHO behind")
			Check(t, "CLIENT UNPAUSE", b.Run(t, "CLIENT UNPAUSE"), "+OK\r\n")
			for !strings.HasSuffix(got, "behind\r\n") {
				got += string(a.later(t))
			}
			Check(t, "all of it", got, tt.reply+"$6\r\nbehind\r\n")
		})
	}
}

func TestPausesEnd(t *testing.T) {
	all := newSessions(t, 3, firn.Options{})
	a, b, c := all[0], all[1], all[2]
	began := time.Now()
	Check(t, "CLIENT PAUSE", b.Run(t, "CLIENT PAUSE 30 WRITE"), "+OK\r\n")
	Check(t, "SET", string(a.tell(t, []byte("SET"), []byte("k"), []byte("1"))), "+OK\r\n")
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("pause of 30 ms: got %s, want no less", took)
	}
	// The longer one of two holds, and the stricter one.
	b.Run(t, "CLIENT PAUSE 100000 WRITE", "CLIENT PAUSE 0 ALL")
	Check(t, "a read", a.Run(t, "GET k"), "")
	Check(t, "a write", c.Run(t, "SET k 2"), "")
	if got := b.session.srv.blockedClients(); got != 2 {
		t.Errorf("blocked clients: got %d, want 2", got)
	}
	a.session.Close()
	b.Run(t, "CLIENT UNPAUSE")
	Check(t, "the write", string(c.later(t)), "+OK\r\n")
	if got := b.session.srv.blockedClients(); got != 0 {
		t.Errorf("blocked clients: got %d, want 0", got)
	}
	Check(t, "again", b.Run(t, "CLIENT UNPAUSE", "GET k"), "+OK\r\n$1\r\n2\r\n")
}

// TestPausesDoNotEndWaits: who waited before goes on waiting, and is served
// by what was let through.
func TestPausesDoNotEndWaits(t *testing.T) {
	all := newSessions(t, 3, firn.Options{})
	a, b, c := all[0], all[1], all[2]
	a.waits(t, "QPOP k 0")
	b.Run(t, "CLIENT PAUSE 100000 WRITE")
	c.waits(t, "QPUSH k x")
	Check(t, "CLIENT UNBLOCK of who is paused", b.Run(t, "CLIENT UNBLOCK "+c.id()), ":0\r\n")
	a.still(t)
	b.Run(t, "CLIENT UNPAUSE")
	Check(t, "who pushed", string(c.later(t)), ":1\r\n")
	Check(t, "who waited", string(a.take(t)), pair("k", "x"))
}

// TestNothingEndsInAPause: keys that are due are not seen, but nobody ends them
// before the pause is over.
func TestNothingEndsInAPause(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	a, b := all[0], all[1]
	srv := a.session.srv
	listener := &sessionHearer{ours: newOurs(t, srv)}
	Check(t, "events", a.Run(t, "CONFIG SET notify-keyspace-events Ex"), "+OK\r\n")
	listenToAll(t, listener)
	Check(t, "PAUSE", b.Run(t, "SET k v PX 1", "CLIENT PAUSE 100000 WRITE"), "+OK\r\n+OK\r\n")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	sweeper := srv.Sweeper()
	go func() { ended <- sweeper.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	<-time.After(300 * time.Millisecond) // three looks of the sweeper's
	Check(t, "GET in the pause", a.Run(t, "GET k"), "$-1\r\n")
	if n, told := srv.stats.expired.Load(), listener.hear(t); n != 0 || len(told) != 0 {
		t.Errorf("in the pause: got %d keys ended and %s told, want none", n, names(told))
	}
	Check(t, "UNPAUSE", b.Run(t, "CLIENT UNPAUSE"), "+OK\r\n")
	for deadline := time.Now().Add(20 * time.Second); srv.stats.expired.Load() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("not ended after the pause")
		}
		<-time.After(time.Millisecond)
	}
	if got := names(listener.hear(t)); got != "__keyevent@0__:expired k" {
		t.Errorf("told after the pause: got %s", got)
	}
}

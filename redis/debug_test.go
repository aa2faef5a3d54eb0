package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// DEBUG is off unless the server's options say otherwise, and shows nobody
// what their rights do not let them see.

func TestDebugIsRefusedUnlessItIsEnabled(t *testing.T) {
	for _, tt := range []struct {
		enabled, peer, local string
		allowed              bool
	}{
		{"", "127.0.0.1:1", "127.0.0.1:2", false},
		{"no", "/run/firn.sock:0", "/run/firn.sock:0", false},
		{"yes", "10.0.0.1:1", "10.0.0.2:2", true},
		{"local", "127.0.0.1:1", "127.0.0.1:2", true},
		{"local", "[::1]:1", "[::1]:2", true},
		{"local", "/run/firn.sock:0", "/run/firn.sock:0", true},
		{"local", "10.0.0.1:1", "10.0.0.2:2", false},
		{"local", "?:0", "10.0.0.2:2", false},
	} {
		srv := New(openStore(t, firn.Options{}), Options{Debug: tt.enabled})
		a := newOurs(t, srv)
		a.session.peer, a.session.addr = tt.peer, tt.local
		want := "+0000000000000000000000000000000000000000\r\n"
		if !tt.allowed {
			want = "-" + string(errDebug) + "\r\n"
		}
		Check(t, tt.enabled+" "+tt.peer, a.Run(t, "DEBUG DIGEST"), want)
	}
}

// TestDebugIsRefusedAsInRedis compares the words, before and inside MULTI, and
// of CONFIG.
func TestDebugIsRefusedAsInRedis(t *testing.T) {
	redis := startRedis(t)()
	a := newOurs(t, New(openStore(t, firn.Options{}), Options{}))
	for _, command := range []string{
		"DEBUG HELP", "DEBUG OBJECT k", "DEBUG", "MULTI", "DEBUG SLEEP 0", "EXEC",
		"CONFIG GET enable-debug-command", "CONFIG SET enable-debug-command yes", "CONFIG SET enable-debug-command local",
	} {
		words := SplitWords(t, command)
		Check(t, command, string(a.tell(t, words...)), string(redis.tell(t, words...)))
	}
}

func TestDebugObeysTheRightsToKeys(t *testing.T) {
	admin, user := NewPair(t, firn.Options{})
	admin.Run(t, "SET mine:k 1", "SET theirs:k 1", "HSET theirs:h f v", "SET read:k 1",
		"ACL SETUSER u on nopass +@all ~mine:* %R~read:*", "ACL SETUSER all on nopass +debug %R~*", "ACL LOG RESET")
	user.Run(t, "AUTH u x")
	refused := "-" + string(errNoKeyAccess) + "\r\n"
	for command, allowed := range map[string]bool{
		"DEBUG OBJECT mine:k": true, "DEBUG OBJECT theirs:k": false, "DEBUG OBJECT nosuch": false,
		"DEBUG LISTPACK theirs:h": false, "DEBUG DIGEST-VALUE mine:k read:k": true, "DEBUG DIGEST-VALUE mine:k theirs:k": false,
		"DEBUG DIGEST": false, "DEBUG POPULATE 3 mine": true, "DEBUG POPULATE 3 read": false, "DEBUG POPULATE 3": false, "DEBUG SLEEP 0": true,
	} {
		if got := user.Run(t, command); (got == refused) == allowed {
			t.Errorf("%s: got %q, allowed: want %t", command, got, allowed)
		}
	}
	Check(t, "in MULTI", user.Run(t, "MULTI", "DEBUG OBJECT theirs:k", "EXEC"), "+OK\r\n+QUEUED\r\n*1\r\n"+refused)
	if log := ask(t, admin, "ACL LOG").words(); !strings.Contains(strings.Join(log, " "), "object theirs:k username u") {
		t.Errorf("ACL LOG: got %q, want what u was refused", log)
	}
	user.Run(t, "AUTH all x")
	if got := user.Run(t, "DEBUG DIGEST"); got == refused {
		t.Error("DEBUG DIGEST is refused to a user who may read every key")
	}
	Check(t, "POPULATE by who may only read", user.Run(t, "DEBUG POPULATE 3 mine"), refused)
}

package redis

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// MONITOR shows every command once, in the order in which they ran.

// monitorScript is commands of one client, some of which are not shown.
var monitorScript = []string{
	"get k", "SeT k v", "CONFIG GET save", "CLIENT ID", "client list", "AUTH x", "AUTH default x", "HELLO 3 AUTH default x", "HELLO 2",
	"SELECT 3", "GET k", "NOSUCH x", "GET", "SELECT 0", `SET "a b" "q\"\\\r\n\t\a\b\x00\xff~ "`, `ECHO ""`, "PING", "COMMAND COUNT", "INFO x",
	"MULTI", "SET k v", "INCR k", "GET k", "DEL k", "EXEC", "MULTI", "GET k", "NOSUCH", "EXEC", "MULTI", "GET k", "DISCARD", "EXEC",
	"WATCH k", "SET k 1", "MULTI", "GET k", "EXEC", "UNWATCH", "MULTI", "SUBSCRIBE a", "PUBLISH a b", "UNSUBSCRIBE", "EXEC",
	"LPUSHX", "HSET k f v", "SUBSCRIBE a", "PING", "GET k", "RESET", "FLUSHALL", "DBSIZE", "OBJECT ENCODING k", "QUIT",
}

// stripLine takes a line's time and address away.
var stripLine = regexp.MustCompile(`^\+\d+\.\d{6} \[(\d+) \S+\] (.*)\r\n$`)

func monitored(t *testing.T, frames [][]byte) string {
	t.Helper()
	var lines []string
	for _, frame := range frames {
		m := stripLine.FindStringSubmatch(string(frame))
		if m == nil {
			t.Fatalf("not a line of MONITOR: %q", frame)
		}
		if !strings.HasPrefix(m[2], `"CLIENT" "GETNAME"`) && !strings.HasPrefix(m[2], `"CLIENT" "SETNAME"`) {
			lines = append(lines, m[1]+" "+m[2])
		}
	}
	return strings.Join(lines, "\n")
}

func TestMonitorShowsWhatRedisShows(t *testing.T) {
	connect := startRedis(t)
	for _, memory := range []int64{0, -1} {
		srv := New(openStore(t, firn.Options{Durability: firn.None, Memory: memory}), Options{})
		real, ours := newPeer(t, connect()), &sessionHearer{ours: newOurs(t, srv)}
		realMonitor, oursMonitor := newPeer(t, connect()), &sessionHearer{ours: newOurs(t, srv)}
		for _, h := range []hearer{realMonitor, oursMonitor} {
			h.say(t, []byte("MONITOR"))
			if got := h.hear(t); string(got[0]) != "+OK\r\n" {
				t.Fatalf("MONITOR: got %q, want OK", got)
			}
		}
		var got, want strings.Builder
		for _, command := range monitorScript {
			real.say(t, SplitWords(t, command)...)
			ours.say(t, SplitWords(t, command)...)
			real.hear(t)
			ours.hear(t)
			want.WriteString(monitored(t, realMonitor.hear(t)) + "\n")
			got.WriteString(monitored(t, oursMonitor.hear(t)) + "\n")
		}
		if got.String() != want.String() {
			t.Errorf("memory=%d\n got %s\nwant %s", memory, got.String(), want.String())
		}
	}
}

// TestSecretsAreNotShown: a password is in no line of MONITOR and in no entry
// of the slow log, also where AT is given a command that it refuses.
func TestSecretsAreNotShown(t *testing.T) {
	m, other := NewPair(t, firn.Options{})
	m.Run(t, "CONFIG SET slowlog-log-slower-than 0", "MONITOR")
	secrets := []string{
		"AUTH secret", "AUTH u secret", "AUTH u v secret", "HELLO 3 AUTH default secret", "HELLO 2", "CONFIG SET masterauth secret",
		"ACL SETUSER u on >secret", "ACL SETUSER v >secret", "AT now AUTH u secret", "at NOW auth secret", "AT now AUTH", "AT secret AUTH",
		"AT now AUTH u v secret", "AT now HELLO 3 AUTH default secret", "AT now ACL SETUSER u >secret", "AT now ACL SETUSERS u >secret",
		"AT now CONFIG SET requirepass secret", "AT now AT now AUTH u secret", "AT now PARTIAL AUTH u secret", "AT now partial AT now PARTIAL AUTH secret", "AT now AT now ACL NOSUCH secret",
	}
	for _, command := range secrets {
		other.Run(t, command, "MULTI", command, "EXEC")
	}
	shown := other.Run(t, "AT now GET k", "AT now NOSUCH k", "AT now PING", "SLOWLOG GET -1") + m.Run(t, "PING")
	if strings.Contains(shown, "secret") {
		t.Errorf("shown: got %q, want no secret", shown)
	}
	for _, part := range []string{
		`"AT" "now" "GET" "k"`, `"AT" "now" "NOSUCH" "k"`, `"AT" "now" "PING"`, `"AUTH" "(redacted)"`, "$3\r\nnow\r\n$4\r\nPING\r\n",
	} {
		if !strings.Contains(shown, part) {
			t.Errorf("shown: got %q, want %s in it", shown, part)
		}
	}
}

func TestMonitorsMayDoLittle(t *testing.T) {
	m, other := NewPair(t, firn.Options{})
	Check(t, "MONITOR", m.Run(t, "MONITOR"), "+OK\r\n")
	Check(t, "a second time", m.Run(t, "MONITOR"), "")
	Check(t, "GET", m.Run(t, "GET k"), "-ERR Replica can't interact with the keyspace\r\n")
	Check(t, "in MULTI", other.Run(t, "MULTI", "MONITOR", "EXEC"), "+OK\r\n+QUEUED\r\n*1\r\n-ERR MONITOR isn't allowed for DENY BLOCKING client\r\n")
	if got := other.Run(t, "CLIENT LIST"); !strings.Contains(got, " flags=O ") {
		t.Errorf("CLIENT LIST: got %q, want a client with flags=O", got)
	}
	if got := m.Run(t, "RESET"); !strings.HasSuffix(got, "+RESET\r\n") {
		t.Errorf("RESET: got %q, want RESET at the end", got)
	}
	other.Run(t, "GET k")
	Check(t, "after RESET", m.Run(t, "PING"), "+PONG\r\n")
	if n := m.session.srv.monitors.Count.Load(); n != 0 {
		t.Errorf("monitors: got %d, want 0", n)
	}
}

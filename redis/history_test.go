package redis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// What was can be read: every read command at every moment, and what happened
// to a key in between.

// clockedPair is two sessions whose clock the test moves.
func clockedPair(t *testing.T, memory int64) (a, b *ours, clock *fakeClock) {
	t.Helper()
	clock = newFakeClock()
	srv := New(openStore(t, firn.Options{Memory: memory, Now: clock.now}), Options{Now: clock.now})
	return newOurs(t, srv), newOurs(t, srv), clock
}

func TestATReadsThePast(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		a, _, clock := clockedPair(t, memory)
		a.Run(t, "SET k 1 EX 100", "HSET h f v")
		then := a.lastTS(t)
		clock.advance(time.Minute)
		a.Run(t, "SET k 2", "HSET h f w", "SELECT 1", "SET k other", "SELECT 0", "FLUSHDB")
		for _, tt := range []struct{ command, want string }{
			{"GET k", "$-1\r\n"},
			{"AT " + then + " GET k", "$1\r\n1\r\n"},
			{"AT " + then + " TTL k", ":100\r\n"},
			{"AT " + then + " HGETALL h", "*2\r\n$1\r\nf\r\n$1\r\nv\r\n"},
			{"AT -30s GET k", "$1\r\n1\r\n"},
			{"AT now DBSIZE", ":0\r\n"},
			{"AT -30s DBSIZE", ":2\r\n"},
			{"AT " + then + " SET k 3", "-READONLY AT runs read commands only\r\n"},
			{"AT " + then + " PING", "-READONLY AT runs read commands only\r\n"},
			{"AT " + then + " AT " + then + " GET k", "-READONLY AT runs read commands only\r\n"},
			{"AT " + then + " NOSUCH k", "-ERR unknown command 'NOSUCH', with args beginning with: 'k' \r\n"},
			{"AT " + then + " GET", "-ERR wrong number of arguments for 'get' command\r\n"},
			{"AT " + then, "-ERR wrong number of arguments for 'at' command\r\n"},
			{"AT -36500d GET k", "-COMPACTED oldest readable timestamp is "},
			{"AT 4000000000s GET k", "-FUTURE newest timestamp is "},
			{"AT yesterday GET k", "-ERR invalid moment"},
		} {
			got := a.Run(t, tt.command)
			if got != tt.want && !(strings.HasPrefix(tt.want, "-") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("memory %d, %s:\n got %q\nwant %q", memory, tt.command, got, tt.want)
			}
		}
	}
}

func TestATWorksInTransactionsAndDatabases(t *testing.T) {
	a, _, clock := clockedPair(t, 0)
	a.Run(t, "SELECT 2", "SET k 1")
	then := a.lastTS(t)
	clock.advance(time.Second)
	a.Run(t, "SET k 2", "SWAPDB 2 3")
	Check(t, "swapped", a.Run(t, "GET k", "AT "+then+" GET k"), "$-1\r\n$1\r\n1\r\n")
	got := a.Run(t, "MULTI", "SET k 3", "AT "+then+" GET k", "GET k", "AT "+then+" SET k 4", "EXEC")
	Check(t, "in a transaction", got, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n"+
		"*4\r\n+OK\r\n$1\r\n1\r\n$1\r\n3\r\n-READONLY AT runs read commands only\r\n")
	got = a.Run(t, "MULTI", "AT "+then+" GET k", "GET k", "EXEC")
	Check(t, "in one that only reads", got, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n$1\r\n1\r\n$1\r\n3\r\n")
}

func TestASOFTurnsAWholeConnection(t *testing.T) {
	a, b, clock := clockedPair(t, 0)
	a.Run(t, "SET k 1")
	then := a.lastTS(t)
	clock.advance(time.Second)
	a.Run(t, "SET k 2")
	refused := "-READONLY this connection reads as of a moment of the past; CLIENT ASOF OFF ends that\r\n"
	got := b.Run(t, "CLIENT ASOF "+then, "GET k", "SET k 3", "MULTI", "GET k", "EXEC", "SCAN 0", "CLIENT ASOF OFF", "GET k")
	Check(t, "replies", got, "+OK\r\n$1\r\n1\r\n"+refused+"+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n+OK\r\n$1\r\n2\r\n")
	b.Run(t, "CLIENT ASOF "+then)
	if info := b.Run(t, "CLIENT INFO"); !strings.Contains(info, "asof="+then) {
		t.Errorf("CLIENT INFO: got %q, want asof=%s", info, then)
	}
	Check(t, "writes in a transaction", b.Run(t, "MULTI", "SET k 3", "EXEC"),
		"+OK\r\n"+refused+"-EXECABORT Transaction discarded because of previous errors.\r\n")
	Check(t, "RESET", b.Run(t, "RESET", "GET k"), "+RESET\r\n$1\r\n2\r\n")
	if got := b.Run(t, "CLIENT ASOF -36500d"); !strings.HasPrefix(got, "-COMPACTED ") {
		t.Errorf("a moment before the horizon: got %q, want COMPACTED", got)
	}
}

// historyOf renders HISTORY GET as one word per event: operation, version,
// and what was there.
func historyOf(t *testing.T, o *ours, command string) string {
	t.Helper()
	v, _, err := parseValue(o.send(t, []byte(command+"\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, e := range v.elements {
		fields := map[string]value{}
		for i := 0; i+1 < len(e.elements); i += 2 {
			fields[e.elements[i].text] = e.elements[i+1]
		}
		event := fields["operation"].text + ":" + fields["version"].text
		if fields["deleted"].text == "1" {
			event += ":gone"
		}
		if state, ok := fields["value"]; ok {
			event += "=" + state.flat()
		}
		events = append(events, event)
	}
	return strings.Join(events, " ")
}

// flat is a value on one line.
func (v value) flat() string {
	switch {
	case v.null:
		return "nil"
	case v.elements == nil:
		return v.text
	}
	var parts []string
	for _, e := range v.elements {
		parts = append(parts, e.text)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestHistoryTellsWhatHappened(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		a, _, clock := clockedPair(t, memory)
		for _, command := range []string{
			"SET k 1", "INCR k", "DEL k", "HSET k f v", "HSET k g w", "HDEL k f", "FLUSHDB", "SET k 2",
			"SWAPDB 0 5", "SWAPDB 0 5", "PEXPIRE k 500",
		} {
			clock.advance(time.Second)
			a.Run(t, command)
		}
		for _, tt := range []struct{ command, want string }{
			{"HISTORY GET k", "SET:1 INCR:2 DEL:3:gone HSET:4 HSET:5 HDEL:6 FLUSHDB:7:gone SET:8 SWAPDB:9:gone SWAPDB:8 PEXPIRE:9"},
			{"HISTORY GET k REV LIMIT 3", "PEXPIRE:9 SWAPDB:8 SWAPDB:9:gone"},
			{"HISTORY GET k LIMIT 2", "SET:1 INCR:2"},
			{"HISTORY GET k LIMIT 6 VALUES", `SET:1=1 INCR:2=2 DEL:3:gone=nil HSET:4={f,v} HSET:5={f,v,g,w} HDEL:6={g,w}`},
			{"HISTORY GET nosuch", ""},
		} {
			Check(t, fmt.Sprintf("memory %d, %s", memory, tt.command), historyOf(t, a, tt.command), tt.want)
		}
		Check(t, "SINCE", historyOf(t, a, "HISTORY GET k SINCE -7s UNTIL -4s"), "HSET:4 HSET:5 HDEL:6 FLUSHDB:7:gone")
		Check(t, "SINCE, newest first", historyOf(t, a, "HISTORY GET k SINCE -7s UNTIL -4s REV"), "FLUSHDB:7:gone HDEL:6 HSET:5 HSET:4")
	}
}

func TestHistoryGetAt(t *testing.T) {
	a, _, clock := clockedPair(t, 0)
	a.Run(t, "SET k 1")
	clock.advance(time.Second)
	a.Run(t, "DEL k", "HSET k f v")
	clock.advance(time.Second)
	a.Run(t, "HSET k f w")
	Check(t, "string", a.Run(t, "HISTORY GETAT k -1500ms"), "$1\r\n1\r\n")
	Check(t, "hash", a.Run(t, "HISTORY GETAT k -500ms"), "*2\r\n$1\r\nf\r\n$1\r\nv\r\n")
	Check(t, "absent", a.Run(t, "HISTORY GETAT nosuch -1s"), "$-1\r\n")
	Check(t, "now", a.Run(t, "HELLO 3", "HISTORY GETAT k now")[len(a.Run(t, "HELLO 3")):], "%1\r\n$1\r\nf\r\n$1\r\nw\r\n")
}

func TestKeyInfo(t *testing.T) {
	a, _, clock := clockedPair(t, 0)
	created := clock.now().UnixMilli()
	a.Run(t, "SET k abc")
	clock.advance(time.Second)
	a.Run(t, "APPEND k de", "PEXPIRE k 5000")
	clock.advance(time.Second)
	got := a.Run(t, "KEYINFO k")
	want := fmt.Sprintf("*28\r\n$4\r\ntype\r\n$6\r\nstring\r\n$3\r\nttl\r\n:4000\r\n$10\r\ncreated_at\r\n:%d\r\n$10\r\nupdated_at\r\n:%d\r\n"+
		"$7\r\nversion\r\n:3\r\n$2\r\nts\r\n:%s\r\n$6\r\nlength\r\n:5\r\n", created, created+1000, a.lastTS(t))
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "$8\r\nversions\r\n:3\r\n$9\r\noperation\r\n$7\r\nPEXPIRE\r\n"+
		"$4\r\nuser\r\n$7\r\ndefault\r\n$6\r\nclient\r\n$0\r\n\r\n$7\r\naddress\r\n$9\r\n127.0.0.1\r\n$6\r\nreason\r\n$0\r\n\r\n") {
		t.Errorf("KEYINFO:\n got %q\nwant %q…", got, want)
	}
	clock.advance(time.Minute)
	Check(t, "expired", a.Run(t, "KEYINFO k", "KEYINFO nosuch"), "$-1\r\n$-1\r\n")
}

func TestFollowNeedsTheRightToReadAllKeys(t *testing.T) {
	a, b, _ := clockedPair(t, 0)
	a.Run(t, "SET secret x", "RENAME secret k", "ACL SETUSER bob on >pw ~k +@all", "ACL SETUSER eve on >pw ~* +@all")
	if got := b.Run(t, "AUTH bob pw", "HISTORY GET k FOLLOW"); !strings.HasPrefix(got, "+OK\r\n-NOPERM FOLLOW ") {
		t.Errorf("of some keys: got %q, want NOPERM", got)
	}
	if got := b.Run(t, "AUTH eve pw", "HISTORY GET k FOLLOW"); !strings.HasPrefix(got, "+OK\r\n*2\r\n") {
		t.Errorf("of all keys: got %q, want both events", got)
	}
}

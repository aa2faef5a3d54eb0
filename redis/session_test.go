package redis

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// A session turns bytes into replies: in the order of the commands, each once,
// whether the store has to be waited for or not.

// NewPair is two sessions of one server.
func NewPair(t *testing.T, o firn.Options) (a, b *ours) {
	t.Helper()
	srv := New(openStore(t, o), Options{Debug: "yes"})
	return newOurs(t, srv), newOurs(t, srv)
}

// Run sends inline commands at once, and returns their replies.
func (o *ours) Run(t testing.TB, commands ...string) string {
	t.Helper()
	return string(o.send(t, []byte(strings.Join(commands, "\r\n")+"\r\n")))
}

func Check(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// lastTS is the timestamp of the session's last commit.
func (o *ours) lastTS(t testing.TB) string {
	t.Helper()
	return strings.Trim(o.Run(t, "LASTTS"), ":\r\n")
}

func TestPipelinesAreAnsweredInOrder(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
			a, _ := NewPair(t, firn.Options{Memory: memory})
			got := a.Run(t, "GET k", "SET k 1", "INCR k", "GET k", "PING", "HSET k f v", "GET k", "NOSUCH", "SELECT 1", "GET k", "SET k x", "GET k", "SELECT 0", "GET k")
			want := "$-1\r\n+OK\r\n:2\r\n$1\r\n2\r\n+PONG\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n$1\r\n2\r\n" +
				"-ERR unknown command 'NOSUCH', with args beginning with: \r\n+OK\r\n$-1\r\n+OK\r\n$1\r\nx\r\n+OK\r\n$1\r\n2\r\n"
			Check(t, "replies", got, want)
		})
	}
}

func TestInputMayComeInAnyPieces(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	input := []byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nMULTI\r\nINCR n\r\nGET k\r\nEXEC\r\n")
	whole := string(a.send(t, input))
	a.Run(t, "FLUSHALL")
	var pieces []byte
	for i := range input {
		pieces = append(pieces, b.send(t, input[i:i+1])...)
	}
	Check(t, "byte by byte", string(pieces), whole)
}

func TestLongPipelinesAreCutIntoBatches(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Durability: firn.None})
	const n = 3*maxUnits + 7
	var input []byte
	var want strings.Builder
	for i := range n {
		input = resp.AppendCommand(input, []byte("INCR"), []byte("n"))
		fmt.Fprintf(&want, ":%d\r\n", i+1)
	}
	Check(t, "replies", string(a.send(t, input)), want.String())
}

func TestBatchesWithLongRepliesAreCut(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Durability: firn.None})
	value := strings.Repeat("x", 1<<20)
	a.tell(t, []byte("SET"), []byte("k"), []byte(value))
	batches := 0
	input := "INCR n\r\n" + strings.Repeat("GET k\r\n", 9) + "INCR n\r\n"
	a.session.Fill(copy(a.session.Space(len(input)), input))
	var got []byte
	for done := false; !done; {
		switch need := a.session.Run(); need {
		case NeedCommit:
			batches++
			a.commit(t)
		case NeedInput:
			done = true
		case NeedFlush:
		default:
			t.Fatalf("Run: got %d, want NeedCommit, NeedFlush or NeedInput", need)
		}
		got = append(got, a.session.Output()...)
		a.session.Sent(len(a.session.Output()))
	}
	want := ":1\r\n" + strings.Repeat("$1048576\r\n"+value+"\r\n", 9) + ":2\r\n"
	if string(got) != want {
		t.Errorf("replies differ: got %d bytes, want %d", len(got), len(want))
	}
	if batches < 3 {
		t.Errorf("batches: got %d, want at least 3", batches)
	}
}

func TestManyReadsAskForAFlush(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Durability: firn.None})
	a.tell(t, []byte("SET"), []byte("k"), bytes.Repeat([]byte("x"), 128<<10))
	input := strings.Repeat("GET k\r\n", 20)
	a.session.Fill(copy(a.session.Space(len(input)), input))
	if got := a.session.Run(); got != NeedFlush {
		t.Fatalf("Run: got %d, want NeedFlush", got)
	}
	if n := len(a.session.Output()); n < flushBytes || n > 2*flushBytes {
		t.Errorf("output before the flush: got %d bytes, want about %d", n, flushBytes)
	}
	// A driver that cannot write goes on until its own limit.
	if got := a.session.Run(); got != NeedFlush {
		t.Fatalf("Run without writing: got %d, want NeedFlush", got)
	}
}

// TestFailedBatchesAreAnsweredWithTheError has the store refuse a batch: each
// command gets the error, and commands after it run.
func TestFailedBatchesAreAnsweredWithTheError(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	input := "SET k 1\r\nGET k\r\nCLIENT REPLY SKIP\r\nSET k 2\r\nPING\r\n"
	a.session.Fill(copy(a.session.Space(len(input)), input))
	for range 2 {
		if need := a.session.Run(); need != NeedCommit {
			t.Fatalf("Run: got %d, want NeedCommit", need)
		}
		g, _ := groupOf(a)
		g.Done(0, fmt.Errorf("write: %w", firn.ErrFull))
	}
	if need := a.session.Run(); need != NeedInput {
		t.Fatalf("Run: got %d, want NeedInput", need)
	}
	full := "-MISCONF the disk is full: nothing was written\r\n"
	Check(t, "replies", string(a.session.Output()), full+full+"+PONG\r\n")
	a.session.Sent(len(a.session.Output()))
	Check(t, "LASTTS", a.Run(t, "LASTTS"), ":0\r\n")
}

func TestLastTSIsThatOfTheSessionsLastCommit(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	Check(t, "before any write", a.Run(t, "LASTTS"), ":0\r\n")
	a.Run(t, "SET k 1")
	first := a.lastTS(t)
	b.Run(t, "SET k 2")
	a.Run(t, "GET k")
	Check(t, "after another's write", a.lastTS(t), first)
	Check(t, "AT LASTTS", a.Run(t, "AT "+first+" GET k"), "$1\r\n1\r\n")
	if later := b.lastTS(t); later <= first {
		t.Errorf("the later commit's timestamp: got %s, want more than %s", later, first)
	}
}

func TestWatchSeesOthersWrites(t *testing.T) {
	for name, tt := range map[string]struct {
		before, meanwhile string
		executed          bool
	}{
		"nothing":           {"SET k 1", "PING", true},
		"another key":       {"SET k 1", "SET other 2", true},
		"a write":           {"SET k 1", "SET k 1", false},
		"a deletion":        {"SET k 1", "DEL k", false},
		"there and back":    {"DEL k", "SET k 1\r\nDEL k", false},
		"an expiry":         {"SET k 1", "EXPIRE k 100", false},
		"an expired key":    {"SET k 1", "PEXPIRE k -1", false},
		"flush of it":       {"SET k 1", "FLUSHALL", false},
		"flush without it":  {"DEL k", "FLUSHALL", true},
		"swapped away":      {"SET k 1", "SWAPDB 0 1", false},
		"another database":  {"SET k 1", "SELECT 1\r\nSET k 2\r\nSELECT 0", true},
		"a field":           {"HSET k f v", "HSET k g w", false},
		"a read":            {"SET k 1", "GET k\r\nTTL k\r\nEXISTS k", true},
		"changes nothing":   {"SET k 1", "SETNX k 2", true},
		"renamed onto it":   {"SET k 1\r\nSET o 2", "RENAME o k", false},
		"inside another tx": {"SET k 1", "MULTI\r\nSET k 2\r\nEXEC", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := NewPair(t, firn.Options{})
			b.Run(t, tt.before)
			a.Run(t, "WATCH k", "MULTI", "INCR n")
			b.Run(t, tt.meanwhile)
			want := "*-1\r\n"
			if tt.executed {
				want = "*1\r\n:1\r\n"
			}
			Check(t, "EXEC", a.Run(t, "EXEC"), want)
			Check(t, "a second transaction", a.Run(t, "MULTI", "EXEC"), "+OK\r\n*0\r\n")
		})
	}
}

func TestTransactionsHaveOneTimestamp(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "MULTI", "SET a 1", "SET b 1", "HSET h f v", "EXEC")
	ts := a.lastTS(t)
	for _, key := range []string{"a", "b", "h"} {
		if got := a.Run(t, "KEYINFO "+key); !strings.Contains(got, "$2\r\nts\r\n:"+ts+"\r\n") {
			t.Errorf("KEYINFO %s: got %q, want ts %s", key, got, ts)
		}
	}
}

func TestReplySkipAndOff(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	got := a.Run(t, "CLIENT REPLY SKIP", "SET k 1", "GET k", "CLIENT REPLY OFF", "INCR k", "GET k", "NOSUCH", "MULTI", "GET k", "EXEC", "CLIENT REPLY ON", "GET k")
	Check(t, "replies", got, "$1\r\n1\r\n+OK\r\n$1\r\n2\r\n")
}

func TestProtocolErrorsComeAfterTheRepliesBefore(t *testing.T) {
	for _, before := range []string{"PING", "SET k 1", "GET k"} {
		a, _ := NewPair(t, firn.Options{})
		want := map[string]string{"PING": "+PONG\r\n", "SET k 1": "+OK\r\n", "GET k": "$-1\r\n"}[before]
		Check(t, before, a.Run(t, before, "*1", ":5"), want+"-ERR Protocol error: expected '$', got ':'\r\n")
		if need := a.session.Run(); need != NeedClose {
			t.Errorf("Run: got %d, want NeedClose", need)
		}
	}
}

// TestWebRequestsEndTheSession: what a page makes a browser send is not obeyed.
func TestWebRequestsEndTheSession(t *testing.T) {
	for _, line := range []string{"POST / HTTP/1.1", "host: localhost"} {
		a, b := NewPair(t, firn.Options{})
		Check(t, line, a.Run(t, "SET k 1", line, "SET k 2", "PING"), "+OK\r\n")
		Check(t, "GET", b.Run(t, "GET k"), "$1\r\n1\r\n")
	}
}

func TestNamesHaveALimit(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	long := strings.Repeat("x", 1<<20)
	const want = "-ERR key, field or member exceeds the maximum size of 1 MiB, or the value that of 768 MiB\r\n"
	for _, words := range [][]string{
		{"SET", long, "v"}, {"HSET", "h", long, "v"}, {"SADD", "s", long}, {"RPUSH", long, "v"}, {"XADD", long, "*", "f", "v"},
		{"SET", long[:1<<20-5], "v", "EX", "100"}, // its entry in the index of expiries is what is too long
	} {
		input := fmt.Appendf(nil, "*%d\r\n", len(words))
		for _, word := range words {
			input = fmt.Appendf(input, "$%d\r\n%s\r\n", len(word), word)
		}
		if got := string(a.send(t, input)); got != want {
			t.Errorf("%s: got %q, want %q", words[0], got, want)
		}
	}
	Check(t, "DBSIZE", a.Run(t, "DBSIZE"), ":0\r\n")
}

func TestQuitAnswersAndCloses(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	Check(t, "replies", a.Run(t, "SET k 1", "QUIT", "SET k 2"), "+OK\r\n+OK\r\n")
	if need := a.session.Run(); need != NeedClose {
		t.Errorf("Run: got %d, want NeedClose", need)
	}
}

func TestPasswords(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{Password: "secret"})
	noAuth := "-NOAUTH Authentication required.\r\n"
	wrong := "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	for _, tt := range []struct{ name, commands, want string }{
		{"without", "GET k|PING|SET k 1|CLIENT ID", noAuth + noAuth + noAuth + noAuth},
		{"unknown commands", "NOSUCH|GET", "-ERR unknown command 'NOSUCH', with args beginning with: \r\n-ERR wrong number of arguments for 'get' command\r\n"},
		{"wrong", "AUTH x|AUTH default x|AUTH secret secret|PING", wrong + wrong + wrong + noAuth},
		{"right", "AUTH secret|PING", "+OK\r\n+PONG\r\n"},
		{"right, with a user", "AUTH default secret|PING", "+OK\r\n+PONG\r\n"},
		{"again", "RESET|PING", "+RESET\r\n" + noAuth},
		{"after RESET", "AUTH secret|RESET|GET k", "+OK\r\n+RESET\r\n" + noAuth},
		{"HELLO", "HELLO 3", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option " +
			"can be used to authenticate the client and select the RESP protocol version at the same time\r\n"},
		{"a long command", "*11", "-ERR Protocol error: unauthenticated multibulk length\r\n"},
		{"a long command, later", "AUTH secret|*11", "+OK\r\n"},
	} {
		o := newOurs(t, srv)
		Check(t, tt.name, o.Run(t, strings.Split(tt.commands, "|")...), tt.want)
	}
	o := newOurs(t, srv)
	if got := o.Run(t, "HELLO 2 AUTH default secret"); !strings.HasPrefix(got, "*14\r\n$6\r\nserver\r\n") {
		t.Errorf("HELLO with AUTH: got %q", got)
	}
}

func TestClientsSeeAndKillEachOther(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	hung := false
	b.session.Hang = func() { hung = true }
	b.Run(t, "CLIENT SETNAME bee", "SELECT 3", "GET k")
	list := a.Run(t, "CLIENT LIST")
	if !strings.Contains(list, " name=bee ") || !strings.Contains(list, " db=3 ") || !strings.Contains(list, " cmd=get ") {
		t.Errorf("CLIENT LIST: got %q, want bee on database 3", list)
	}
	id := strings.Trim(b.Run(t, "CLIENT ID"), ":\r\n")
	Check(t, "CLIENT KILL", a.Run(t, "CLIENT KILL ID "+id), ":1\r\n")
	if need := b.session.Run(); !hung || need != NeedClose {
		t.Errorf("killed: got hung=%t and %d, want true and NeedClose", hung, need)
	}
	Check(t, "CLIENT KILL of oneself", a.Run(t, "CLIENT KILL TYPE normal SKIPME no"), ":2\r\n")
	if need := a.session.Run(); need != NeedClose {
		t.Errorf("killed oneself: got %d, want NeedClose", need)
	}
}

// TestErrorsAreShownOrHidden: what is not for clients is not shown to them.
func TestErrorsAreShownOrHidden(t *testing.T) {
	for _, tt := range []struct {
		err   error
		want  string
		known bool
	}{
		{resp.Error("WRONGTYPE x"), "WRONGTYPE x", true},
		{fmt.Errorf("set: %w", resp.Error("ERR y")), "ERR y", true},
		{&firn.CompactedError{Asked: 1, Oldest: 5}, "COMPACTED oldest readable timestamp is 5", true},
		{fmt.Errorf("at: %w", &firn.FutureError{Asked: 9, Newest: 5}), "FUTURE newest timestamp is 5", true},
		{fmt.Errorf("x: %w", firn.ErrInDoubt), "ERR outcome unknown: the commit may or may not have been kept; the server must be restarted", false},
		{firn.ErrBusy, "BUSY too many writes are waiting, try again later", true},
		{errors.New("/secret/path"), "ERR internal error", false},
		{scripting.ErrEnded, "ERR the server is shutting down: the script was ended, and nothing of it was kept", true}, // nobody's fault
	} {
		if got, known := wire(tt.err); got != tt.want || known != tt.known {
			t.Errorf("wire(%v): got %q %t, want %q %t", tt.err, got, known, tt.want, tt.known)
		}
	}
}

// TestIdleSessionsStillWork gives the buffers back between commands.
func TestIdleSessionsStillWork(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	for i := range 3 {
		Check(t, "INCR", a.Run(t, "INCR n"), ":"+strconv.Itoa(i+1)+"\r\n")
		a.session.Idle()
	}
	// An unfinished command survives.
	a.session.Fill(copy(a.session.Space(6), "GET n"))
	a.pump(t)
	a.session.Idle()
	Check(t, "GET", string(a.send(t, []byte("\r\n"))), "$1\r\n3\r\n")
}

// TestIdleSessionsKeepNoMessages: neither what they have sent nor what they
// have heard.
func TestIdleSessionsKeepNoMessages(t *testing.T) {
	from, to := NewPair(t, firn.Options{})
	to.Run(t, "SUBSCRIBE x")
	from.Run(t, "MULTI", "PUBLISH x "+strings.Repeat("m", 50_000), "EXEC")
	if heard := to.take(t); len(heard) < 50_000 {
		t.Fatalf("heard %d bytes, want the message", len(heard))
	}
	from.session.Idle()
	to.session.Idle()
	if sent, heard := cap(from.session.outbox.text), cap(to.session.inbox.buf); sent > 0 || heard > 0 {
		t.Errorf("idle sessions hold %d and %d bytes, want none", sent, heard)
	}
	from.Run(t, "PUBLISH x again")
	Check(t, "afterwards", string(to.take(t)), "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$5\r\nagain\r\n")
}

// TestIdleSessionsHoldNoBuffers: a page that was given back and is still
// referred to would stay for as long as its client is silent.
func TestIdleSessionsHoldNoBuffers(t *testing.T) {
	const sessions, most = 500, 8 << 10
	srv := New(openStore(t, firn.Options{}), Options{})
	live := func() uint64 {
		for range 3 { // what a sync.Pool has goes with the second
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	commands := []string{"PING", "SET k v", "GET k"}
	for o := newOurs(t, srv); srv.store.Stats().Commits < sessions; {
		o.Run(t, commands...) // what the store keeps of them is not the sessions'
		o.session.Idle()
	}
	before := live()
	all := make([]*ours, sessions)
	for i := range all {
		all[i] = newOurs(t, srv)
		all[i].Run(t, commands...)
	}
	for _, o := range all {
		o.session.Idle()
	}
	if each := (int64(live()) - int64(before)) / sessions; each > most {
		t.Errorf("an idle session holds %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(all)
}

package redis

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// A script that takes longer than an event loop may wait is undone there, and
// runs again elsewhere. Nobody may see that it ran twice.

// stage is a server with everybody who could notice: one who writes, and others
// who look on in all the ways there are.
type stage struct {
	*ours
	srv       *Server
	log       bytes.Buffer
	listeners []*ours
	hurries   bool
	abandoned int // attempts that were undone
}

func newStage(t *testing.T, hurries bool) *stage {
	st := &stage{hurries: hurries}
	level := slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	st.srv = New(openStore(t, firn.Options{Durability: firn.None}), Options{Logger: slog.New(slog.NewTextHandler(&st.log, &level))})
	st.ours = newOurs(t, st.srv)
	st.session.block = !hurries
	st.ask(t, "CONFIG SET notify-keyspace-events KEA slowlog-log-slower-than 0")
	for _, setup := range [][]string{
		{"MONITOR"}, {"PSUBSCRIBE *"}, {"HELLO 3", "CLIENT TRACKING ON", "MGET a b c list"},
	} {
		o := newOurs(t, st.srv)
		for _, command := range setup {
			o.ask(t, command)
		}
		st.listeners = append(st.listeners, o)
	}
	waiter := newOurs(t, st.srv)
	waiter.waits(t, "BLPOP list 0")
	st.listeners = append(st.listeners, waiter)
	return st
}

// tell gives the session bytes, and what it writes is run as an event loop does
// it: at once, or, if that takes too long, by the writer.
func (st *stage) tell(t *testing.T, input []byte) string {
	t.Helper()
	var reply []byte
	st.session.Fill(copy(st.session.Space(len(input)), input))
	for {
		switch need := st.session.Run(); need {
		case NeedCommit:
			st.commit(t)
			continue
		case NeedCold:
			st.abandoned++
			st.session.RunCold()
			continue
		case NeedInput:
		default:
			t.Fatalf("Run: got %d", need)
		}
		reply = append(reply, st.session.Output()...)
		st.session.Sent(len(st.session.Output()))
		return string(reply)
	}
}

func (st *stage) commit(t *testing.T) {
	t.Helper()
	st.alone.Reset()
	if !st.hurries {
		st.session.batch.long = true // nothing is ever undone
	}
	st.alone.Add(st.session)
	if st.alone.Alone() {
		st.abandoned++
	}
	st.alone.Hurried = st.hurries && !st.alone.Alone()
	st.submit(t, &st.alone, st.decided)
}

// volatile is what differs from run to run in what a server tells: times, and
// what a slow log says of them.
var volatile = regexp.MustCompile(`(?m)^\+\d+\.\d{6} |usec[a-z_]*=[\d.]+,?|^:\d+\r?\n|^\$\d+\r?\n|total_commands.*`)

// heard is all that there is to see of a server, but times.
func (st *stage) heard(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, o := range st.listeners {
		all.Write(o.take(t))
		all.WriteString("\n")
	}
	st.session.block = true
	for _, command := range []string{
		"INFO commandstats", "INFO errorstats", "SLOWLOG GET 100", "ACL LOG", "MGET a b c", "LRANGE list 0 -1", "HISTORY GET b", "HISTORY GET c",
	} {
		fmt.Fprintf(&all, "%s\n%s\n", command, string(st.send(t, resp.AppendCommand(nil, SplitWords(t, command)...))))
	}
	st.session.block = !st.hurries
	stats := string(st.send(t, resp.AppendCommand(nil, []byte("INFO"), []byte("stats"))))
	for _, line := range strings.Split(stats, "\r\n") {
		if strings.HasPrefix(line, "keyspace_") || strings.HasPrefix(line, "total_error") {
			all.WriteString(line + "\n")
		}
	}
	persistence := string(st.send(t, resp.AppendCommand(nil, []byte("INFO"), []byte("persistence"))))
	_, changes, _ := strings.Cut(persistence, "rdb_changes_since_last_save")
	changes, _, _ = strings.Cut(changes, "\r\n")
	all.WriteString("changes" + changes + "\n")
	all.WriteString(st.log.String())
	return volatile.ReplaceAllString(all.String(), "")
}

// differ reports the first lines that differ.
func differ(t *testing.T, what, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("%s, line %d, behind %q:\n got %.200q\nwant %.200q", what, i, a[max(i-3, 0):i], a[i], b[i])
			return
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: got %d lines, want %d", what, len(a), len(b))
	}
}

// longScript is a script that does all that others can notice, and takes long
// before its last step.
const longScript = `
redis.call('INCR', 'b')
redis.call('PUBLISH', 'channel', 'message')
redis.call('RPUSH', 'list', 'x', 'y')
redis.call('GET', 'nosuch')
redis.call('GET', 'a')
redis.pcall('LPUSH', 'a', 'x')
redis.pcall('NOSUCH')
redis.call('SELECT', '3')
redis.call('SET', 'a', 'in another')
redis.call('SELECT', '0')
redis.log(redis.LOG_WARNING, 'said once')
for i = 1, 30000 do end
return redis.call('INCR', 'c')`

// stories are what a client sends at once.
var longStories = []struct {
	name  string
	words [][]string
}{
	{"alone", [][]string{{"EVAL", longScript, "0"}}},
	{"again", [][]string{{"EVAL", longScript, "0"}, {"EVAL", longScript, "0"}, {"EVAL", longScript, "0"}}},
	{"between", [][]string{{"INCR", "b"}, {"EVAL", longScript, "0"}, {"INCR", "b"}, {"GET", "b"}, {"EVAL", "return redis.call('INCR', 'b')", "0"}, {"GET", "c"}}},
	{"in a transaction", [][]string{
		{"MULTI"}, {"INCR", "b"}, {"PUBLISH", "channel", "other"}, {"EVAL", longScript, "0"}, {"EVAL", "return redis.call('GET', 'b')", "0"},
		{"LPUSH", "b", "x"}, {"EXEC"}, {"INCR", "b"},
	}},
	{"an error", [][]string{{"EVAL", longScript + " + nil", "0"}, {"INCR", "b"}}},
	{"reads", [][]string{{"EVAL_RO", "redis.call('GET', 'nosuch') redis.pcall('LLEN', 'a') for i = 1, 30000 do end redis.log(3, 'read') return redis.call('GET', 'b')", "0"}, {"GET", "b"}}},
	{"many calls", [][]string{{"EVAL", "for i = 1, 3000 do redis.call('INCR', 'b') end return redis.call('GET', 'b')", "0"}, {"INCR", "b"}}},
	{"a large source", [][]string{{"EVAL", "return redis.call('INCR', 'b') --" + strings.Repeat("x", 10_000), "0"}, {"INCR", "b"}}},
}

func TestAnAbandonedAttemptLeavesNothing(t *testing.T) {
	for _, story := range longStories {
		t.Run(story.name, func(t *testing.T) {
			var input []byte
			for _, words := range story.words {
				input = resp.AppendCommand(input, wordBytes(words)...)
			}
			var got, want [2]string
			var abandoned int
			for _, hurries := range []bool{false, true} {
				st := newStage(t, hurries)
				st.tell(t, []byte("SET a 1\r\nSET b 10\r\n"))
				reply := st.tell(t, input)
				if !hurries {
					want = [2]string{reply, st.heard(t)}
					continue
				}
				got, abandoned = [2]string{reply, st.heard(t)}, st.abandoned
			}
			if abandoned == 0 {
				t.Fatal("no attempt was undone: that shows nothing")
			}
			differ(t, "replies", got[0], want[0])
			differ(t, "what others see", got[1], want[1])
			if !strings.Contains(want[1], "b") {
				t.Errorf("nobody has seen anything:\n%s", want[1])
			}
		})
	}
}

func wordBytes(words []string) (all [][]byte) {
	for _, w := range words {
		all = append(all, []byte(w))
	}
	return all
}

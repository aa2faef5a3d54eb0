package oracle

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/resp/reply"
)

// What makes no sense is refused with words that say what to do, and whoever
// behaves badly harms nobody else.

// begun is a server that a test may treat badly.
func begun(t *testing.T) *run {
	t.Helper()
	r := newRun(t, seed.Fresh(t), newVictim(t, "--http", "127.0.0.1:0", "--memory", "32mb"))
	t.Cleanup(r.stop)
	r.server.start("--fsync", "no")
	return r
}

// client is a connection that ends with the test.
func (r *run) client(t *testing.T, proto int) *wire {
	t.Helper()
	w, err := r.connect(proto, r.server.dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func asked(t *testing.T, w *wire, words ...string) reply.Value {
	t.Helper()
	v, err := w.ask(words...)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return v
}

// web asks over HTTP, and returns the status and the beginning of the answer.
func (r *run) get(t *testing.T, path string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(r.ctx, http.MethodGet, "http://"+r.server.web()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := webClient.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer answer.Body.Close()
	room := make([]byte, 4<<10)
	n, _ := io.ReadAtLeast(answer.Body, room, 1)
	for answer.Header.Get("Content-Type") == "text/event-stream" && !strings.Contains(string(room[:n]), "event:") {
		more, err := answer.Body.Read(room[n:])
		if n += more; err != nil {
			break
		}
	}
	return answer.StatusCode, string(room[:n])
}

func TestTokensThatLeadNowhereAreRefused(t *testing.T) {
	r := begun(t)
	w := r.client(t, 3)
	asked(t, w, "SET", "k", "v")
	horizon := asked(t, w, "HORIZON")
	own := fieldsOf(&horizon)["token"].Text
	other := newRun(t, seed.Fresh(t), newVictim(t))
	defer other.stop()
	other.server.start()
	foreign := asked(t, other.client(t, 3), "HORIZON")
	for _, tt := range []struct{ name, token, want string }{
		{"garbled", own[:len(own)-3] + "!!!", "ERR"},
		{"cut off", own[:10], "ERR"},
		{"too long", own + own, "ERR"},
		{"another store's", fieldsOf(&foreign)["token"].Text, "FORKED"},
		{"to come", fmt.Sprint(time.Now().Add(time.Hour).UnixMicro()), "FUTURE"},
		{"nothing", "@", "ERR"},
	} {
		for _, words := range [][]string{
			{"CHANGES", tt.token}, {"CHANGES", tt.token, "BLOCK", "0"}, {"LIVE", "id", "RESUME", tt.token, "GET", "k"}, {"AT", tt.token, "GET", "k"},
		} {
			if v := asked(t, w, words...); !v.IsError() || !strings.HasPrefix(v.Text, tt.want) {
				t.Errorf("%s: %q: got %s, want an error %s", tt.name, words, shown(&v), tt.want)
			}
		}
		for _, path := range []string{"/v1/changes?from=", "/v1/live?command=GET&arg=k&from="} {
			status, text := r.get(t, path+strings.ReplaceAll(tt.token, "!", "%21"))
			refused := status == http.StatusBadRequest
			if tt.want == "FORKED" || tt.want == "FUTURE" { // the line of history has ended: it is gone on from another moment
				refused = status == http.StatusOK && strings.Contains(text, "event: reset")
			}
			if !refused || !strings.Contains(text, tt.want) {
				t.Errorf("%s: %s: got %d %s, want an error %s", tt.name, path, status, text, tt.want)
			}
		}
	}
	if v := asked(t, w, "PING"); v.Text != "PONG" {
		t.Errorf("afterwards: got %s", shown(&v))
	}
}

func TestLiveSaysWhatItTakes(t *testing.T) {
	r := begun(t)
	two, three := r.client(t, 2), r.client(t, 3)
	for _, tt := range []struct {
		w     *wire
		words []string
		want  string
	}{
		{two, []string{"LIVE", "a", "GET", "k"}, "HELLO 3"},
		{three, []string{"LIVE", "a", "SET", "k", "v"}, "LIVE runs nothing else"},
		{three, []string{"LIVE", "a", "FLUSHALL"}, "LIVE runs nothing else"},
		{three, []string{"LIVE", "a", "BLPOP", "k", "0"}, "LIVE runs"},
		{three, []string{"LIVE", "a", "RANDOMKEY"}, "chance"},
		{three, []string{"LIVE", "a", "LIVE", "b", "GET", "k"}, "LIVE"},
		{three, []string{"LIVE", "a", "NOSUCH"}, "unknown command"},
		{three, []string{"LIVE", "a", "GET"}, "wrong number of arguments"},
		{three, []string{"LIVE"}, "wrong number of arguments"},
		{three, []string{"CHANGES"}, "wrong number of arguments"},
		{three, []string{"CHANGES", "$", "COUNT", "0"}, "COUNT"},
		{three, []string{"CHANGES", "$", "DB", "99"}, "DB index"},
		{three, []string{"CHANGES", "$", "TABLE", "nosuch"}, "no such table"},
		{three, []string{"CHANGES", "$", "BLOCK", "-1"}, "timeout is negative"},
	} {
		if v := asked(t, tt.w, tt.words...); !v.IsError() || !strings.Contains(v.Text, tt.want) {
			t.Errorf("%q: got %s, want an error with %q", tt.words, shown(&v), tt.want)
		}
	}
	for path, want := range map[string]string{
		"/v1/live?command=SET&arg=k&arg=v": "LIVE runs nothing else", "/v1/live": "command is missing", "/v1/changes?nosuch=1": "unknown parameter",
		"/v1/changes?match=%zz": "hexadecimal", "/v1/live?command=GET&arg=k&db=99": "DB index",
	} {
		if status, text := r.get(t, path); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: got %d %s, want %d with %q", path, status, text, http.StatusBadRequest, want)
		}
	}
}

// TestSubscriptionsHaveALimitWithAName asks for more than one client may have.
func TestSubscriptionsHaveALimitWithAName(t *testing.T) {
	r := begun(t)
	w, other := r.client(t, 3), r.client(t, 3)
	asked(t, w, "CONFIG", "SET", "live-max-client-subscriptions", "1000")
	asked(t, other, "LIVE", "mine", "GET", "k")
	var commands [][]string
	for i := range 1001 {
		commands = append(commands, []string{"LIVE", fmt.Sprint(i), "GET", fmt.Sprint("key:", i)})
	}
	answers, err := w.all(commands)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if refused := answers[i].IsError() && strings.Contains(answers[i].Text, "live-max-client-subscriptions"); refused != (i == 1000) {
			t.Fatalf("subscription %d: got %s", i, shown(&answers[i]))
		}
	}
	asked(t, w, "SET", "k", "told")
	if v, err := other.next(wirePatience); err != nil || !v.IsPush() || v.Elements[len(v.Elements)-1].Text != "told" && v.Elements[0].Text != "live-bookmark" {
		t.Errorf("another client: got %s, %v", shown(&v), err)
	}
}

// slowest is the most that the slowest of a hundred reads of others may take:
// one that waits for a bad client waits for seconds. The machine may be busy.
const slowest = 500 * time.Millisecond

// What others write while clients behave badly, and by how much the server may
// grow: a tenth of what it would keep if it kept all for everybody. Where
// the race detector runs memory says nothing.
const (
	otherWrites = 1500
	otherBytes  = 64 << 10
	grown       = 192 << 20
)

// bad is what clients may do to a server. It returns when they do it; what they
// keep open ends with the test.
var bad = map[string]func(t *testing.T, r *run){
	"live queries that nobody reads": func(t *testing.T, r *run) {
		for range 20 {
			w := r.client(t, 3)
			for i := range 50 {
				if err := w.send("LIVE", fmt.Sprint(i), "GET", "big"); err != nil {
					t.Fatal(err)
				}
			}
		}
	},
	"pages that nobody reads": func(t *testing.T, r *run) {
		for range 20 {
			w := r.client(t, 2)
			for range 20 {
				if err := w.send("CHANGES", "0", "VALUES", "COUNT", "1000", "BLOCK", "0"); err != nil {
					t.Fatal(err)
				}
			}
		}
	},
	"invalidations that nobody reads": func(t *testing.T, r *run) {
		for range 20 {
			asked(t, r.client(t, 3), "CLIENT", "TRACKING", "ON", "BCAST")
		}
	},
	"streams that nobody reads": func(t *testing.T, r *run) {
		for i := range 40 {
			path := []string{"/v1/changes?values=1", "/v1/live?command=GET&arg=big"}[i%2]
			r.raw(t, "GET "+path+" HTTP/1.1\r\nHost: "+r.server.web()+"\r\n\r\n")
		}
	},
	"headers that never end": func(t *testing.T, r *run) {
		for range 100 {
			r.raw(t, "GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nX-Long: "+strings.Repeat("x", 1000))
		}
	},
	"clients that wait and are gone": func(t *testing.T, r *run) {
		for range 100 {
			w := r.client(t, 3)
			if err := w.send("CHANGES", "$", "BLOCK", "0"); err != nil {
				t.Fatal(err)
			}
			w.Close()
		}
	},
	"queries that are gone": func(t *testing.T, r *run) {
		for range 50 {
			w := r.client(t, 3)
			asked(t, w, "LIVE", "a", "GET", "big")
			w.Close()
		}
	},
}

// raw sends bytes to the HTTP port, and reads nothing.
func (r *run) raw(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.server.web())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestBadClientsHarmNobody has others read and write while clients behave
// badly: they are as quick as ever, and the server does not grow.
func TestBadClientsHarmNobody(t *testing.T) {
	for name, behave := range bad {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			w := r.client(t, 3)
			big := strings.Repeat("v", otherBytes)
			asked(t, w, "SET", "big", big)
			before := r.memory(t)
			behave(t, r)
			var times []time.Duration
			for i := range race.Lighter(otherWrites, otherWrites/5) {
				asked(t, w, "SET", "big", big[:len(big)-i])
				began := time.Now()
				asked(t, w, "GET", "k")
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			if p99 := times[len(times)*99/100]; p99 > slowest {
				t.Errorf("99 %% of GET: got %s, want %s at most", p99, slowest)
			}
			if after := r.memory(t); after > before+grown && !race.Enabled {
				t.Errorf("memory: got %d MiB, and %d MiB before", after>>20, before>>20)
			} else {
				t.Logf("%d MiB, before %d MiB; GET p99 %s", after>>20, before>>20, times[len(times)*99/100])
			}
		})
	}
}

// memory is what the server holds, in bytes.
func (r *run) memory(t *testing.T) int64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", r.server.process.Process.Pid))
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); fields[0] == "VmRSS:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// TestFollowersDoNotHoldUpTheEnd ends a server with followers of all kinds.
func TestFollowersDoNotHoldUpTheEnd(t *testing.T) {
	r := begun(t)
	w := r.client(t, 3)
	asked(t, w, "SET", "big", strings.Repeat("v", 64<<10))
	for _, name := range []string{"live queries that nobody reads", "streams that nobody reads", "headers that never end"} {
		bad[name](t, r)
	}
	if err := r.client(t, 2).send("CHANGES", "$", "BLOCK", "0"); err != nil {
		t.Fatal(err)
	}
	s, err := r.open("/v1/live", "command=GET&arg=big", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := r.server.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.server.ended:
	case <-time.After(wirePatience):
		t.Fatalf("it runs still\n%s", r.server.said())
	}
	if code := r.server.process.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status: got %d\n%s", code, r.server.said())
	}
}

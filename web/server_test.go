package web

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/redis/keyspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// running is a server under test, on a file of the test's own.
type running struct {
	t    *testing.T
	path string

	address string // where it listens
	change  func(*Server)
	store   *firn.Store
	redis   *redis.Server
	web     *Server
	url     string
	client  *http.Client
	stop    context.CancelFunc
	ended   chan error
}

// start serves a new store until the test ends.
func start(t *testing.T, o Options, ro redis.Options) *running {
	t.Helper()
	return startAt(t, "127.0.0.1", o, ro)
}

// startAt is start on an address of the test's choice.
func startAt(t *testing.T, host string, o Options, ro redis.Options) *running {
	t.Helper()
	return run(&running{t: t, address: net.JoinHostPort(host, "0")}, o, ro)
}

// startWith is start with changes to the server, before it serves.
func startWith(t *testing.T, o Options, ro redis.Options, change func(*Server)) *running {
	t.Helper()
	return run(&running{t: t, address: "127.0.0.1:0", change: change}, o, ro)
}

func run(r *running, o Options, ro redis.Options) *running {
	r.t.Helper()
	r.path = filepath.Join(r.t.TempDir(), "firn.db")
	r.begin(o, ro)
	r.t.Cleanup(r.end)
	return r
}

// begin serves the file, which may have been served before.
func (r *running) begin(o Options, ro redis.Options) {
	r.t.Helper()
	store, err := firn.Open(r.path, firn.Options{Tables: keyspace.Tables(), Durability: firn.None})
	if err != nil {
		r.t.Fatal(err)
	}
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.address = l.Addr().String() // clients come back to where they were
	r.store, r.redis, r.ended = store, redis.New(store, ro), make(chan error, 1)
	r.web = New(r.redis, []net.Listener{l}, o)
	if r.change != nil {
		r.change(r.web)
	}
	r.url = "http://" + r.address
	r.client = &http.Client{Transport: &http.Transport{}}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return r.web.Run(ctx) })
		group.Go(func() error { return r.redis.RunLive(ctx) })
		r.ended <- group.Wait()
	}()
}

// end stops the server and closes its store. It may be called twice.
func (r *running) end() {
	r.t.Helper()
	if r.stop == nil {
		return
	}
	r.stop()
	r.stop = nil
	select {
	case err := <-r.ended:
		if err != nil {
			r.t.Error(err)
		}
	case <-time.After(patience):
		r.t.Fatal("the server does not end")
	}
	r.client.CloseIdleConnections()
	if err := r.store.Close(); err != nil {
		r.t.Error(err)
	}
}

// do runs a command on the store beside HTTP, as the default user.
func (r *running) do(words ...string) string {
	r.t.Helper()
	c := converse(r.redis, "127.0.0.1:1", "127.0.0.1:2")
	defer c.close()
	v, err := c.ask(r.t.Context(), words...)
	if err != nil || v.IsError() {
		r.t.Fatalf("%s: got %q and %v", words, v.Text, err)
	}
	return string(v.AppendJSON(nil))
}

// request makes a request of path, with pairs of a header and its value.
func (r *running) request(method, path string, headers ...string) *http.Request {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			q.Host = headers[i+1]
		} else {
			q.Header.Set(headers[i], headers[i+1])
		}
	}
	return q
}

// raw sends some bytes and returns what comes until the server hangs up.
func (r *running) raw(request string) string {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		r.t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		r.t.Fatalf("%q, and then %v", got, err)
	}
	return string(got)
}

// answer is what came, all of it.
type answer struct {
	status int
	header http.Header
	body   string
}

// get asks for path.
func (r *running) get(path string, headers ...string) answer {
	r.t.Helper()
	return r.ask(r.request("GET", path, headers...))
}

func (r *running) ask(q *http.Request) answer {
	r.t.Helper()
	got, err := r.client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(body)}
}

// problem is the error in an answer.
func (a answer) problem(t *testing.T) (code, message string) {
	t.Helper()
	var p struct{ Error, Message string }
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatalf("%q: %v", a.body, err)
	}
	return p.Error, p.Message
}

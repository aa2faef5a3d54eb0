package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/redis"
)

// One bad client costs one connection, and that for a while only.

// dial connects to the server.
func (r *running) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// until waits for something to become so.
func (r *running) until(what string, so func() bool) {
	r.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !so(); <-tick.C {
		if time.Now().After(end) {
			r.t.Fatalf("still not: %s", what)
		}
	}
}

// sessions is how many sessions are open.
func (r *running) sessions() int64 {
	r.t.Helper()
	f, err := r.redis.Figures()
	if err != nil {
		r.t.Fatal(err)
	}
	return f.Clients
}

// A client that sends nothing, half a request, or nothing after an answer is
// hung up on.
func TestClientsThatHang(t *testing.T) {
	r := startWith(t, Options{}, redis.Options{}, func(s *Server) {
		s.http.ReadHeaderTimeout, s.http.IdleTimeout = 50*time.Millisecond, 50*time.Millisecond
	})
	for _, sent := range []string{
		"", "GET", "GET /v1/get?key=k HTTP/1.1\r\n", "GET /v1/get?key=k HTTP/1.1\r\nHost: localhost\r\n",
		"GET /v1/get?key=k HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /v1/get?key=k HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1",
	} {
		conn := r.dial()
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if answered := strings.HasSuffix(sent, "\r\n\r\n") || strings.HasSuffix(sent, "GET /v1"); err != nil || answered != strings.HasPrefix(string(got), "HTTP/1.1 404 ") {
			t.Errorf("%q: got %q and %v", sent, got, err)
		}
	}
	r.until("all connections are closed", func() bool { return r.web.conns.Load() == 0 })
}

// What is no request, or too large a one, is refused.
func TestRequestsThatAreNone(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	for sent, want := range map[string]string{
		"PING\r\n\r\n":                 "HTTP/1.1 400 ",
		"*1\r\n$4\r\nPING\r\n\r\n":     "HTTP/1.1 400 ",
		"GET /v1/get HTTP/1.1\r\n\r\n": "HTTP/1.1 400 ", // no host
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", maxHeaderBytes+8<<10) + "\r\n\r\n": "HTTP/1.1 431 ",
	} {
		if got := r.raw(sent); !strings.HasPrefix(got, want) {
			t.Errorf("%.40q: got %.60q, want %q", sent, got, want)
		}
	}
}

// A client that does not read what it asked for is given up.
func TestReaderThatDoesNotRead(t *testing.T) {
	r := startWith(t, Options{}, redis.Options{}, func(s *Server) { s.patience = 100 * time.Millisecond })
	r.do("SET", "large", strings.Repeat("x", 64<<20))
	conn := r.dial()
	if _, err := io.WriteString(conn, "GET /v1/get?key=large HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r.until("the connection is there", func() bool { return r.web.conns.Load() == 1 })
	r.until("the connection is closed", func() bool { return r.web.conns.Load() == 0 })
	got, _ := io.ReadAll(conn)
	if len(got) == 0 || len(got) >= 64<<20 {
		t.Errorf("got %d bytes, want some of 64 MiB", len(got))
	}
}

// A connection that is one too many is told so; the others go on.
func TestTooManyConnections(t *testing.T) {
	r := start(t, Options{MaxConnections: 2}, redis.Options{})
	ask := func(conn net.Conn) string {
		io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		a, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err.Error()
		}
		io.Copy(io.Discard, a.Body)
		return a.Status
	}
	first, second := r.dial(), r.dial()
	for _, conn := range []net.Conn{first, second} {
		if got := ask(conn); got != "200 OK" {
			t.Fatalf("got %s", got)
		}
	}
	if got := r.raw(""); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
		t.Errorf("one too many: got %q", got)
	}
	if got := ask(first); got != "200 OK" {
		t.Errorf("one of the others: got %s", got)
	}
	second.Close()
	r.until("there is room", func() bool { return r.web.conns.Load() < 2 })
	if got := ask(r.dial()); got != "200 OK" {
		t.Errorf("after one has gone: got %s", got)
	}
	if n := r.web.counts.refused.Load(); n != 1 {
		t.Errorf("got %d refused, want 1", n)
	}
}

package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firndb/firn/certs"
	"github.com/firndb/firn/internal/testca"
	"github.com/firndb/firn/redis"
)

// Over TLS a client is served as any other, once it has shaken hands; who
// cannot is gone, and costs nobody else anything.

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// secured is a server under test with a listener for TLS.
type secured struct {
	*running
	tlsAddress string
	ca         *testca.CA
	store      *certs.Store
	settings   certs.Settings
	dir        string
}

var tomorrow = time.Now().Add(24 * time.Hour)

// startTLS is start with a listener for TLS, where clients need certificates
// as clients says.
func startTLS(t *testing.T, o Options, ro redis.Options, clients string) *secured {
	t.Helper()
	s := &secured{ca: must(testca.New("one")), dir: t.TempDir()}
	authority := testca.Pair{Cert: s.ca.PEM()}
	s.settings.Clients = clients
	var err error
	if s.settings.CAFile, _, err = authority.Write(s.dir, "ca"); err != nil {
		t.Fatal(err)
	}
	if s.settings.CertFile, s.settings.KeyFile, err = must(s.ca.Issue("server", tomorrow)).Write(s.dir, "server"); err != nil {
		t.Fatal(err)
	}
	if s.store, err = certs.Open(s.settings, nil); err != nil {
		t.Fatal(err)
	}
	o.TLSListen, o.TLS = []string{"127.0.0.1:0"}, s.store.Config()
	s.running = start(t, o, ro)
	addrs := s.server.Addrs()
	s.tlsAddress = addrs[len(addrs)-1].String()
	return s
}

// pair is a certificate of the server's own authority.
func (s *secured) pair() testca.Pair { return must(s.ca.Issue("client", tomorrow)) }

// over connects by TLS with the certificates that are given.
func (s *secured) over(pairs ...testca.Pair) *client {
	s.t.Helper()
	c := s.dial("tcp", s.tlsAddress)
	speaks := tls.Client(c.Conn, must(s.ca.Client(pairs...)))
	if err := speaks.Handshake(); err != nil {
		s.t.Fatal(err)
	}
	return c.above(speaks)
}

// above is the client on another layer of its connection.
func (c *client) above(conn net.Conn) *client {
	c.Conn = conn
	c.in.Reset(conn)
	return c
}

func TestTLSClientsAreServed(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "yes")
		c, plain := s.over(s.pair()), s.connect()
		c.send("SET k v\r\nGET k\r\nPING\r\n*1\r\n$4\r\nPI")
		c.expect("+OK\r\n$1\r\nv\r\n+PONG\r\n")
		c.send("NG\r\n")
		c.expect("+PONG\r\n")
		plain.send("GET k\r\n")
		plain.expect("$1\r\nv\r\n")
		c.send("QUIT\r\n")
		c.expectEnd("+OK\r\n") // io.EOF, not an unexpected one: the server says goodbye
	})
}

// TestTLSClientsThatMayNotComeIn are told why by TLS, and are no clients.
func TestTLSClientsThatMayNotComeIn(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "yes")
		expired, foreign := must(s.ca.Issue("expired", time.Now().Add(-time.Hour))), must(must(testca.New("two")).Issue("foreign", tomorrow))
		for want, pairs := range map[string][]testca.Pair{
			"certificate required": nil,
			"expired certificate":  {expired},
			"unknown certificate":  {foreign},
		} {
			c := s.dial("tcp", s.tlsAddress)
			speaks := tls.Client(c.Conn, must(s.ca.Client(pairs...)))
			_, err := speaks.Write([]byte("SET k v\r\n"))
			if err == nil {
				_, err = speaks.Read(make([]byte, 1))
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		c := s.connect()
		c.send("EXISTS k\r\n")
		c.expect(":0\r\n")
		s.awaitClients(c, 1)
	})
}

// awaitClients waits until as many clients are connected as are said.
func (s *secured) awaitClients(c *client, want int) {
	s.t.Helper()
	for until := time.Now().Add(patience); ; {
		c.send("INFO clients\r\n")
		text := c.bulk()
		if strings.Contains(text, fmt.Sprintf("connected_clients:%d\r\n", want)) {
			return
		}
		if time.Now().After(until) {
			s.t.Fatalf("clients: got %s, want %d", text, want)
		}
	}
}

// TestPlainTextOnTheTLSPort gets not a byte, as from Redis.
func TestPlainTextOnTheTLSPort(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		for _, text := range []string{"PING\r\n", "*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\n\r\n"} {
			c := s.dial("tcp", s.tlsAddress)
			c.send(text)
			got, err := io.ReadAll(c.in)
			if len(got) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%q: got %q (%v), want the end", text, got, err)
			}
		}
		c := s.over()
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
	})
}

// TestHalfHandshakesCostOneConnection each, count as clients, and hold up
// nobody, not even the end.
func TestHalfHandshakesCostOneConnection(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{MaxClients: 20}, "no")
		admin := s.connect()
		var silent []*client
		for i := range 18 {
			c := s.dial("tcp", s.tlsAddress)
			if i%2 == 1 {
				c.send("\x16\x03\x01\x02\x00\x01") // it begins, and says no more
			}
			silent = append(silent, c)
		}
		s.awaitClients(admin, 19)
		c := s.over()
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
		refused := s.dial("tcp", s.tlsAddress)
		if n, err := refused.in.ReadByte(); err == nil {
			t.Errorf("beyond maxclients: got byte %q, want the end", n)
		}
		plain := s.connect()
		plain.expectEnd("-ERR max number of clients reached\r\n")
		for _, c := range silent[:9] {
			c.Close()
		}
		s.awaitClients(admin, 11)
		admin.send("CLIENT KILL TYPE normal SKIPME yes\r\n")
		admin.expect(":10\r\n")
		s.awaitClients(admin, 1)
		for range 5 {
			s.dial("tcp", s.tlsAddress)
		}
		s.awaitClients(admin, 6)
		s.end()
	})
}

// TestTLSHandshakesEnd after their time.
func TestTLSHandshakesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as a client may take")
	}
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		t.Parallel()
		began := time.Now()
		c := s.dial("tcp", s.tlsAddress)
		c.expectEnd("")
		if took := time.Since(began); took < handshakeTimeout/2 {
			t.Errorf("ended after %v, want about %v", took, handshakeTimeout)
		}
	})
}

func TestTLSPipelinesAndLargeValues(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		c := s.over()
		const n = 100_000
		value := strings.Repeat("0123456789abcdef", 1<<18)
		var sent sync.WaitGroup
		sent.Go(func() { // it reads nothing before all is sent: the server must not wait for that
			fmt.Fprintf(c, "*3\r\n$3\r\nSET\r\n$1\r\nl\r\n$%d\r\n%s\r\n", len(value), value)
			io.WriteString(c, "SET k 0123456789\r\n"+strings.Repeat("GET k\r\n", n)+"GET l\r\nGET l\r\nINCR done\r\n")
		})
		sent.Wait()
		c.expect("+OK\r\n+OK\r\n")
		for range n {
			c.expect("$10\r\n0123456789\r\n")
		}
		large := fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
		c.expect(large + large + ":1\r\n")
	})
}

func TestPushesOverTLS(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		listener, from := s.over(), s.over()
		listener.send("SUBSCRIBE x\r\n")
		listener.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
		for i := range 100 {
			from.send(fmt.Sprintf("PUBLISH x %03d\r\n", i))
			from.expect(":1\r\n")
			listener.expect(fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$3\r\n%03d\r\n", i))
		}
		waits := s.over()
		waits.send("BLPOP q 0\r\n")
		from.send("CLIENT LIST\r\n")
		if list := from.bulk(); strings.Count(list, "\n") != 3 {
			t.Errorf("CLIENT LIST: got %q, want three", list)
		}
		from.send("RPUSH q 1\r\n")
		from.expect(":1\r\n")
		waits.expect("*2\r\n$1\r\nq\r\n$1\r\n1\r\n")
	})
}

// TestTLSClientsThatEnd: with a goodbye, without one, and in the middle of a
// record. What was sent before a goodbye is answered.
func TestTLSClientsThatEnd(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		admin := s.connect()
		c := s.over()
		c.send("SET k 1\r\nGET k\r\nGE")
		if err := c.Conn.(*tls.Conn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		c.expectEnd("+OK\r\n$1\r\n1\r\n")
		c = s.over()
		c.Conn.(*tls.Conn).NetConn().Close()
		c = s.over()
		c.Conn.(*tls.Conn).NetConn().Write([]byte("\x17\x03\x03\x00\x20half"))
		c.Conn.(*tls.Conn).NetConn().Close()
		c = s.over()
		c.Conn.(*tls.Conn).NetConn().Write([]byte("\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)))
		if _, err := c.in.ReadByte(); err == nil || !strings.Contains(err.Error(), "bad record MAC") {
			t.Errorf("a forged record: got %v, want to be told", err)
		}
		s.awaitClients(admin, 1)
	})
}

func TestTLSListenersThatDoNotReadAreEnded(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		slow, from := s.over(), s.connect()
		from.send("CONFIG SET client-output-buffer-limit \"pubsub 1mb 0 0\"\r\n")
		from.expect("+OK\r\n")
		slow.send("SUBSCRIBE x\r\n")
		slow.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
		body := strings.Repeat("m", 64<<10)
		for published := 0; ; published++ {
			if published == 4096 { // 256 MB, more than any socket holds
				t.Fatal("the client that does not read is still there")
			}
			from.send(fmt.Sprintf("*3\r\n$7\r\nPUBLISH\r\n$1\r\nx\r\n$%d\r\n%s\r\n", len(body), body))
			if line, _ := from.in.ReadString('\n'); line == ":0\r\n" {
				return
			}
		}
	})
}

// TestNewCertificatesAreShown to who comes, and who is there stays.
func TestNewCertificatesAreShown(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		old := s.over()
		if _, _, err := must(s.ca.Issue("second", tomorrow)).Write(s.dir, "server"); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Reload(); err != nil {
			t.Fatal(err)
		}
		name := s.over().Conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
		if name != "second" {
			t.Errorf("shown: got %q, want second", name)
		}
		old.send("PING\r\n")
		old.expect("+PONG\r\n")
	})
}

func TestManyTLSClientsAtOnce(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		s := startTLS(t, o, redis.Options{}, "no")
		var all sync.WaitGroup
		const clients, each = 30, 50
		for i := range clients {
			all.Go(func() {
				conn, err := tls.Dial("tcp", s.tlsAddress, must(s.ca.Client()))
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				c := &client{t, conn, bufio.NewReader(conn)}
				for j := range each {
					fmt.Fprintf(c, "INCR own:%d\r\n", i)
					want := fmt.Sprintf(":%d\r\n", j+1)
					if got, err := c.in.ReadString('\n'); got != want {
						t.Errorf("client %d: got %q (%v), want %q", i, got, err, want)
						return
					}
				}
			})
		}
		all.Wait()
	})
}

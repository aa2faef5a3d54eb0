package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/redis/keyspace"
)

// Both drivers keep the same promises, so each test here runs with each.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// running is a server under test.
type running struct {
	t       *testing.T
	store   *firn.Store
	redis   *redis.Server
	server  *Server
	address string
	unix    string
	stop    context.CancelFunc
	ended   chan error
}

// start serves a store of the test's own until the test ends.
func start(t *testing.T, o Options, ro redis.Options) *running {
	t.Helper()
	return startOn(t, o, ro, firn.Options{})
}

// startOn is start with options of the store, of which some are the same for
// all tests.
func startOn(t *testing.T, o Options, ro redis.Options, so firn.Options) *running {
	t.Helper()
	so.Tables, so.Durability, so.MaxQueue = keyspace.Tables(), firn.None, 1<<20
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), so)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, store: store, redis: redis.New(store, ro), ended: make(chan error, 1)}
	o.Listen = []string{"127.0.0.1:0"}
	r.unix = filepath.Join(t.TempDir(), "s")
	o.Unix = r.unix
	s, err := Listen(r.redis, o)
	if err != nil {
		t.Fatal(err)
	}
	r.server, r.address = s, s.Addrs()[0].String()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		r.end()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// end stops the server and waits for it.
func (r *running) end() {
	r.stop()
	if r.ended == nil {
		return
	}
	if err := <-r.ended; err != nil {
		r.t.Errorf("Run: got %v, want nil", err)
	}
	r.ended = nil
}

// client is a connection that reads whole replies.
type client struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func (r *running) connect() *client {
	r.t.Helper()
	return r.dial("tcp", r.address)
}

func (r *running) dial(network, address string) *client {
	r.t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return &client{r.t, conn, bufio.NewReader(conn)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads exactly as many bytes as want has, and compares.
func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c.in, got)
	if string(got[:n]) != want {
		c.t.Fatalf("reply:\n got %q (%v)\nwant %q", got[:n], err, want)
	}
}

// bulk reads a reply that is one string.
func (c *client) bulk() string {
	c.t.Helper()
	header, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	var size int
	if _, err := fmt.Sscanf(header, "$%d", &size); err != nil {
		c.t.Fatalf("reply: got %q, want a string", header)
	}
	text := make([]byte, size+2)
	if _, err := io.ReadFull(c.in, text); err != nil {
		c.t.Fatal(err)
	}
	return string(text[:size])
}

// expectEnd reads until the server closes the connection.
func (c *client) expectEnd(want string) {
	c.t.Helper()
	got, err := io.ReadAll(c.in)
	if string(got) != want || err != nil {
		c.t.Fatalf("until the end:\n got %q (%v)\nwant %q", got, err, want)
	}
}

// eachDriver runs a test with both drivers, and with two loops.
func eachDriver(t *testing.T, test func(t *testing.T, o Options)) {
	for name, o := range map[string]Options{"portable": {Portable: true}, "loop": {}, "loops": {Loops: 2}} {
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

func TestRepliesComeInOrder(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		for _, c := range []*client{r.connect(), r.dial("unix", r.unix)} {
			c.send("DEL n\r\nINCR n\r\nGET n\r\nPING\r\nINCR n\r\n*1\r\n$4\r\nPI")
			c.in.ReadString('\n')
			c.expect(":1\r\n$1\r\n1\r\n+PONG\r\n:2\r\n")
			c.send("NG\r\n")
			c.expect("+PONG\r\n")
		}
	})
}

// TestHalfClosedClientsGetTheirReplies: what was sent before is answered.
func TestHalfClosedClientsGetTheirReplies(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		c := r.connect()
		c.send("SET k 1\r\nGET k\r\nINCR k\r\nGE")
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		c.expectEnd("+OK\r\n$1\r\n1\r\n:2\r\n")
	})
}

func TestQuitAndProtocolErrorsClose(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		c := r.connect()
		c.send("SET k 1\r\nQUIT\r\nSET k 2\r\n")
		c.expect("+OK\r\n+OK\r\n")
		c = r.connect()
		c.send("GET k\r\n*x\r\n")
		c.expect("$1\r\n1\r\n-ERR Protocol error: invalid multibulk length\r\n")
	})
}

// TestLongPipelinesOfClientsThatDoNotRead: the client sends everything before
// it reads anything, which Redis allows.
func TestLongPipelinesOfClientsThatDoNotRead(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		c := r.connect()
		const n = 200_000
		c.send("SET k " + strings.Repeat("x", 64) + "\r\n" + strings.Repeat("GET k\r\n", n) + "INCR done\r\n")
		c.expect("+OK\r\n")
		want := "$64\r\n" + strings.Repeat("x", 64) + "\r\n"
		for range n {
			c.expect(want)
		}
		c.expect(":1\r\n")
	})
}

func TestLargeValues(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		c := r.connect()
		value := strings.Repeat("0123456789abcdef", 1<<20)
		c.send(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\nGET k\r\nGET k\r\n", len(value), value))
		reply := fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
		c.expect("+OK\r\n" + reply + reply)
	})
}

func TestManyClientsAtOnce(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		const clients, each = 40, 50
		var all sync.WaitGroup
		for i := range clients {
			c := r.connect()
			all.Go(func() {
				for j := range each {
					if _, err := fmt.Fprintf(c, "INCR total\r\nINCR own:%d\r\nGET own:%d\r\n", i, i); err != nil {
						t.Error(err)
						return
					}
					own := fmt.Sprint(j + 1)
					want := fmt.Sprintf(":%s\r\n$%d\r\n%s\r\n", own, len(own), own)
					total, _ := c.in.ReadString('\n')
					got := make([]byte, len(want))
					if _, err := io.ReadFull(c.in, got); err != nil || string(got) != want || total[0] != ':' {
						t.Errorf("client %d: got %q %q (%v), want %q", i, total, got, err, want)
						return
					}
				}
			})
		}
		all.Wait()
		c := r.connect()
		c.send("GET total\r\n")
		c.expect("$4\r\n2000\r\n")
	})
}

func TestClientsThatVanishReleaseEverything(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		for range 20 {
			c := r.connect()
			c.send(strings.Repeat("INCR n\r\n", 500))
			c.Conn.(*net.TCPConn).SetLinger(0) // a reset, not an orderly end
			c.Close()
		}
		c := r.connect()
		waitFor(t, "the others to be gone", func() bool {
			c.send("CLIENT LIST\r\n")
			return strings.Count(c.bulk(), "\n") == 1 // its own line
		})
	})
}

// waitFor asks until the answer is yes.
func waitFor(t *testing.T, what string, yes func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !yes() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %s for %s", patience, what)
		case <-again.C:
		}
	}
}

func TestTooManyClientsAreTurnedAway(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{MaxClients: 2})
		a, b := r.connect(), r.connect()
		for _, c := range []*client{a, b} {
			c.send("PING\r\n")
			c.expect("+PONG\r\n")
		}
		r.connect().expectEnd("-ERR max number of clients reached\r\n")
		a.send("QUIT\r\n")
		a.expectEnd("+OK\r\n")
		waitFor(t, "a free place", func() bool {
			c := r.connect()
			io.WriteString(c, "PING\r\n")
			line, _ := c.in.ReadString('\n')
			return line == "+PONG\r\n"
		})
	})
}

func TestKilledClientsAreClosed(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		a, b := r.connect(), r.connect()
		b.send("CLIENT ID\r\n")
		id, _ := b.in.ReadString('\n')
		a.send("CLIENT KILL ID " + strings.Trim(id, ":\r\n") + "\r\n")
		a.expect(":1\r\n")
		if n, err := b.in.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("killed client: got %d bytes and %v, want the end", n, err)
		}
	})
}

// TestIdleClientsTimeOut sets a timeout, and waits for it.
func TestIdleClientsTimeOut(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		c := r.connect()
		c.send("CONFIG SET timeout 1\r\n")
		c.expectEnd("+OK\r\n")
	})
}

// TestSlowReadersAreCutOffAtTheirLimit, where there is one.
func TestSlowReadersAreCutOffAtTheirLimit(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	c, other := r.connect(), r.connect()
	other.send("CONFIG SET client-output-buffer-limit \"normal 1mb 0 0\"\r\nSET k " + strings.Repeat("x", 60_000) + "\r\n")
	other.expect("+OK\r\n+OK\r\n")
	go io.WriteString(c, strings.Repeat("GET k\r\n", 2000))
	other.send("PING\r\n")
	other.expect("+PONG\r\n")
	waitFor(t, "the slow reader to be gone", func() bool {
		other.send("CLIENT LIST ID 1\r\n")
		return other.bulk() == ""
	})
}

// TestEndFinishesWhatWasAccepted ends the server under load: each client sees
// a prefix of its replies, and everything that was acknowledged is there.
func TestEndFinishesWhatWasAccepted(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		const clients = 10
		acked := make([]int, clients)
		var all sync.WaitGroup
		var first sync.WaitGroup
		first.Add(clients)
		for i := range clients {
			c := r.connect()
			all.Go(func() {
				for {
					_, err := fmt.Fprintf(c, "INCR n:%d\r\n", i)
					line, _ := c.in.ReadString('\n')
					if err != nil || !strings.HasPrefix(line, ":") {
						return
					}
					if acked[i]++; acked[i] == 10 {
						first.Done()
					}
				}
			})
		}
		first.Wait()
		r.end()
		all.Wait()
		keys := r.store.Table("keys")
		for i, want := range acked {
			versions := 0
			err := r.store.View(func(s *firn.Snapshot) error {
				for item, err := range s.Scan(firn.Range{Index: keys.ByID()}) {
					if err != nil {
						return err
					}
					if strings.Contains(item.Key, fmt.Sprintf("n:%d", i)) {
						for _, err := range s.Versions(keys, []byte(item.Key), firn.VersionRange{}) {
							if err != nil {
								return err
							}
							versions++
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if versions < want {
				t.Errorf("client %d: got %d commits, want at least the %d acknowledged", i, versions, want)
			}
		}
	})
}

func TestColdReadsDoNotHoldUpOthers(t *testing.T) {
	r := start(t, Options{Workers: 2}, redis.Options{Debug: "yes"})
	slow, quick := r.connect(), r.connect()
	slow.send("DEBUG SLEEP 0.3\r\nPING\r\n")
	quick.send("SET k 1\r\nAT now GET k\r\nGET k\r\n")
	quick.expect("+OK\r\n$1\r\n1\r\n$1\r\n1\r\n")
	slow.expect("+OK\r\n+PONG\r\n")
}

func TestListenRefusesWhatIsTaken(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	if _, err := Listen(r.redis, Options{Listen: []string{r.address}}); err == nil || !strings.Contains(err.Error(), r.address) {
		t.Errorf("Listen on a taken port: got %v, want an error that names it", err)
	}
	if _, err := Listen(r.redis, Options{Unix: r.unix}); err == nil {
		t.Error("Listen on a living Unix socket: got nil, want an error")
	}
	if _, err := Listen(r.redis, Options{}); err == nil {
		t.Error("Listen nowhere: got nil, want an error")
	}
}

// TestAnyConnCanBeServed uses a pipe in memory.
func TestAnyConnCanBeServed(t *testing.T) {
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), firn.Options{Tables: keyspace.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := Listen(redis.New(store, redis.Options{}), Options{Listen: []string{"127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ours, theirs := net.Pipe()
	s.Go(theirs)
	c := &client{t, ours, bufio.NewReader(ours)}
	c.send("SET k 1\r\n")
	c.expect("+OK\r\n")
	ours.Close()
	s.wg.Wait()
}

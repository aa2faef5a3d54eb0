package server

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/firndb/firn/redis"
)

// Clients that have something live hear of every commit that changes it, also
// when they say nothing; one that does not read gets the newest, is not ended,
// and costs others nothing.

// pushed is a push of LIVE.
type pushed struct{ id, ts, reply string }

// push reads the next push of a reply, and passes over bookmarks.
func (c *client) push() pushed {
	c.t.Helper()
	for {
		fields := c.frame()
		if fields[0] == "live" {
			return pushed{fields[1], fields[2], fields[4]}
		}
		if fields[0] != "live-bookmark" {
			c.t.Fatalf("got %q, want a push", fields)
		}
	}
}

// frame reads a push whose elements are flat.
func (c *client) frame() (fields []string) {
	c.t.Helper()
	header := readLine(c.t, c.in)
	n, err := strconv.Atoi(strings.TrimPrefix(header, ">"))
	if err != nil {
		c.t.Fatalf("got %q, want a push", header)
	}
	for range n {
		line := readLine(c.t, c.in)
		if size, err := strconv.Atoi(strings.TrimPrefix(line, "$")); err == nil && line[0] == '$' {
			text := make([]byte, size+2)
			if _, err := io.ReadFull(c.in, text); err != nil {
				c.t.Fatal(err)
			}
			line = ":" + string(text[:size])
		}
		fields = append(fields, line[1:])
	}
	return fields
}

func readLine(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// goLive makes the client speak protocol 3, and sends commands of LIVE until
// the last has replied what want says.
func (c *client) goLive(commands, want string) {
	c.t.Helper()
	c.send("HELLO 3\r\n" + commands + "ECHO ready\r\n")
	var got strings.Builder
	for !strings.HasSuffix(got.String(), "$5\r\nready\r\n") {
		line, err := c.in.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		got.WriteString(line)
	}
	if !strings.HasSuffix(strings.TrimSuffix(got.String(), "$5\r\nready\r\n"), want) {
		c.t.Fatalf("got %q, want it to end with %q", got.String(), want)
	}
}

func TestLivePushesReachSilentClients(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		const clients, commits = 100, 20
		all := make([]*client, clients)
		for i := range all {
			all[i] = r.connect()
			all[i].goLive("LIVE a GET k\r\nLIVE b GET j\r\n", "_\r\n_\r\n")
		}
		w := r.connect()
		for n := range commits {
			w.send(fmt.Sprintf("MSET k k%d j j%d\r\n", n, n))
			w.expect("+OK\r\n")
			var first pushed
			for i, c := range all {
				one, two := c.push(), c.push()
				if one.id == "b" {
					one, two = two, one
				}
				if one.reply != fmt.Sprint("k", n) || two.reply != fmt.Sprint("j", n) || one.ts != two.ts {
					t.Fatalf("client %d: got %v and %v, want those of commit %d", i, one, two, n)
				}
				if i == 0 {
					first = one
				}
				if one.ts != first.ts {
					t.Fatalf("client %d: got timestamp %s, want that of the first, %s", i, one.ts, first.ts)
				}
			}
		}
		if st := r.redis.LiveStats(); st.Evaluations != 2*commits || st.Pushes != 2*commits*clients {
			t.Errorf("got %+v, want two evaluations for each of %d commits", st, commits)
		}
	})
}

// TestLiveClientsThatDoNotReadGetTheNewest, while others are served.
func TestLiveClientsThatDoNotReadGetTheNewest(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		const commits, size = 300, 256 << 10 // 75 MB, more than any socket holds
		slow, reads, w := r.connect(), r.connect(), r.connect()
		for _, c := range []*client{slow, reads} {
			c.goLive("LIVE a GET k\r\n", "_\r\n")
		}
		for n := range commits {
			value := fmt.Sprintf("%04d", n) + strings.Repeat("x", size-4)
			w.send(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n", len(value), value))
			w.expect("+OK\r\n")
			if got := reads.push(); got.reply[:4] != value[:4] {
				t.Fatalf("the client that reads: got %s, want %s", got.reply[:4], value[:4])
			}
		}
		got, last := 0, ""
		for last != fmt.Sprintf("%04d", commits-1) {
			p := slow.push()
			if p.reply[:4] <= last {
				t.Fatalf("the client that did not read: got %s after %s", p.reply[:4], last)
			}
			last = p.reply[:4]
			got++
		}
		if got > commits/2 {
			t.Errorf("the client that did not read: got %d pushes of %d, want the newest and few before", got, commits)
		}
		slow.send("PING\r\n")
		slow.expect("+PONG\r\n")
	})
}

// TestLiveClientsMayDisconnectAnyTime, while commits are pushed to them.
func TestLiveClientsMayDisconnectAnyTime(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		stop := make(chan struct{})
		var writer sync.WaitGroup
		w := r.connect()
		writer.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					io.WriteString(w, "INCR k\r\n")
					if _, err := w.in.ReadString('\n'); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
		for i := range 200 {
			c := r.connect()
			c.send("HELLO 3\r\nLIVE a GET k\r\nLIVE b MULTI\r\nGET k\r\nEXISTS k\r\nEXEC\r\n")
			for range i % 7 {
				readLine(t, c.in)
			}
			c.Close()
		}
		close(stop)
		writer.Wait()
		waitFor(t, "nothing to be live", func() bool { return r.redis.LiveStats().Subscriptions == 0 })
	})
}

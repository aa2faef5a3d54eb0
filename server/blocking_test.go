package server

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis"
)

// Clients that wait for a key are the same to every driver: they cost nothing
// while they wait, may go at any time, and no item is lost or given twice.

// blockedClients waits until INFO counts n of them.
func (c *client) blockedClients(n int) {
	c.t.Helper()
	waitFor(c.t, fmt.Sprintf("%d blocked clients", n), func() bool {
		c.send("INFO clients\r\n")
		return strings.Contains(c.bulk(), fmt.Sprintf("blocked_clients:%d\r\n", n))
	})
}

func pair(key, item string) string {
	return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(item), item)
}

func TestClientsWaitWithEveryDriver(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		a, b := r.connect(), r.connect()
		a.send("SET j 1\r\nBLPOP k 0\r\nGET j\r\nBLPOP k 0.01\r\nBLPOP k 0\r\nPING\r\n")
		a.expect("+OK\r\n")
		b.blockedClients(1)
		a.send("ECHO more\r\n") // while it waits
		b.send("INCR j\r\nRPUSH k x\r\n")
		b.expect(":2\r\n:1\r\n")
		a.expect(pair("k", "x") + "$1\r\n2\r\n*-1\r\n")
		b.blockedClients(1)
		b.send("RPUSH k y z\r\nBLPOP k 0\r\n")
		b.expect(":2\r\n" + pair("k", "z"))
		a.expect(pair("k", "y") + "+PONG\r\n$4\r\nmore\r\n")
	})
}

func TestClientsThatWaitMayGo(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		a, b, c, d, e := r.connect(), r.connect(), r.connect(), r.connect(), r.connect()
		c.send("CLIENT ID\r\n")
		id, _ := c.in.ReadString('\n')
		for i, one := range []*client{a, b, c, d} {
			one.send("BLPOP k 0\r\n")
			e.blockedClients(i + 1)
		}
		a.Close()
		e.blockedClients(3)
		b.Conn.(*net.TCPConn).CloseWrite() // as good as gone
		e.blockedClients(2)
		e.send("CLIENT KILL ID " + strings.Trim(id, ":\r\n") + "\r\n")
		e.expect(":1\r\n")
		c.expectEnd("")
		e.blockedClients(1)
		e.send("RPUSH k x\r\n")
		e.expect(":1\r\n")
		d.expect(pair("k", "x"))
	})
}

// TestServersEndWithClientsThatWait, and leave nothing running.
func TestServersEndWithClientsThatWait(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		a, b, c := r.connect(), r.connect(), r.connect()
		a.send("BLPOP k 0\r\n")
		b.send("BLPOP k 1000\r\n")
		c.blockedClients(2)
		c.send("CLIENT PAUSE 100000\r\nPING\r\n")
		c.expect("+OK\r\n")
		r.end()
		a.expectEnd("")
		b.expectEnd("")
	})
}

// TestClientsThatWaitAreNotIdle: the timeout for silence passes them over.
func TestClientsThatWaitAreNotIdle(t *testing.T) {
	for _, o := range []Options{{Portable: true}, {}} {
		r := start(t, o, redis.Options{})
		a, b := r.connect(), r.connect()
		b.send("CONFIG SET timeout 1\r\n")
		a.send("BLPOP k 2.2\r\nPING\r\n")
		b.expectEnd("+OK\r\n")
		a.expect("*-1\r\n+PONG\r\n")
		r.end()
	}
}

// TestPausesHoldBackConnections, and let them go on.
func TestPausesHoldBackConnections(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		a, b := r.connect(), r.connect()
		b.send("CLIENT PAUSE 100000 WRITE\r\n")
		b.expect("+OK\r\n")
		a.send("GET k\r\nSET k 1\r\nGET k\r\n")
		a.expect("$-1\r\n")
		b.blockedClients(1)
		a.send("PING\r\n")
		b.send("CLIENT UNPAUSE\r\n")
		b.expect("+OK\r\n")
		a.expect("+OK\r\n$1\r\n1\r\n+PONG\r\n")
	})
}

// TestThousandsThatWaitCostNothing: an idle server with many clients that
// wait does not use the processor.
func TestThousandsThatWaitCostNothing(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	const n = 1000
	for range n {
		r.connect().send("BLPOP k j 0\r\n")
	}
	a := r.connect()
	a.blockedClients(n)
	a.send("BLPOP quiet 1.2\r\n") // what the store does when it is idle happens now
	a.expect("*-1\r\n")
	before := processorTime(t)
	a.send("BLPOP quiet 0.5\r\n")
	a.expect("*-1\r\n")
	if used := processorTime(t) - before; used > 100*time.Millisecond {
		t.Errorf("processor time in half a second: got %s, want at most 100ms", used)
	}
	a.send("RPUSH k" + strings.Repeat(" x", n) + "\r\nEXISTS k\r\n")
	a.expect(fmt.Sprintf(":%d\r\n:0\r\n", n))
	a.blockedClients(0)
}

func processorTime(t *testing.T) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Skip(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// TestNoItemIsLostOrGivenTwice has producers and consumers at work, of whom
// many go away while they wait or are being served.
func TestNoItemIsLostOrGivenTwice(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		seed := seed.Fresh(t)
		r := start(t, o, redis.Options{})
		const consumers, producers, each = 16, 4, 500
		var got sync.Map
		var count, gone atomic.Int64
		var all, making sync.WaitGroup
		done := make(chan struct{})
		for i := range consumers {
			rng := seed.Rand(uint64(i))
			all.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					n, left := consume(t, r.connect(), rng, &got)
					count.Add(int64(n))
					gone.Add(int64(left))
				}
			})
		}
		for i := range producers {
			c := r.connect()
			rng := seed.Rand(uint64(1000 + i))
			making.Go(func() { produce(t, c, i, each, rng) })
		}
		making.Wait()
		close(done)
		all.Wait()
		rest, _ := consume(t, r.connect(), nil, &got)
		n := count.Load() + int64(rest)
		if most := int64(producers * each); n > most || n < most-gone.Load() {
			t.Errorf("items: got %d, want %d but for at most %d clients that went (seed %d)", n, most, gone.Load(), seed)
		}
		if count.Load() == 0 {
			t.Error("nobody was served")
		}
	})
}

// produce pushes items, some of them in transactions and pipelines.
func produce(t *testing.T, c *client, id, n int, rng *rand.Rand) {
	for i := 0; i < n; {
		var text strings.Builder
		some := min(1+rng.IntN(4), n-i)
		fmt.Fprintf(&text, "RPUSH k:%d", rng.IntN(2))
		for range some {
			fmt.Fprintf(&text, " %d.%d", id, i)
			i++
		}
		text.WriteString("\r\n")
		command, replies := text.String(), 1
		if rng.IntN(4) == 0 {
			command, replies = "MULTI\r\n"+command+"EXEC\r\n", 4
		}
		if _, err := io.WriteString(c, command); err != nil {
			t.Error(err)
			return
		}
		for range replies {
			if _, err := c.in.ReadString('\n'); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// consume takes items until it happens to go away, or, without chance, until
// there are none. left is 1 if it went away while it waited.
func consume(t *testing.T, c *client, rng *rand.Rand, got *sync.Map) (n, left int) {
	defer c.Close()
	for rng == nil || rng.IntN(20) > 0 {
		if _, err := io.WriteString(c, "BLPOP k:0 k:1 0.02\r\n"); err != nil {
			t.Error(err)
			return n, 0
		}
		if rng != nil && rng.IntN(20) == 0 {
			return n, 1
		}
		line, err := c.in.ReadString('\n')
		if err != nil {
			t.Error(err)
			return n, 0
		}
		if line == "*-1\r\n" {
			if rng == nil {
				return n, 0
			}
			continue
		}
		for range 4 {
			if line, err = c.in.ReadString('\n'); err != nil {
				t.Error(err)
				return n, 0
			}
		}
		if _, twice := got.LoadOrStore(line, true); twice {
			t.Errorf("given twice: %q", line)
		}
		n++
	}
	return n, 0
}

package redis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// TestNoItemIsLostOrGivenTwice has producers and consumers at work, of whom
// many go away, time out or are unblocked just when they are served.
func TestNoItemIsLostOrGivenTwice(t *testing.T) {
	seed := seed.Fresh(t)
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	AddQueueCommands(srv)
	const consumers, producers, each = 12, 3, 400
	c := consumption{srv: srv, got: map[string]bool{}}
	var eating, making sync.WaitGroup
	for i := range consumers {
		rng := seed.Rand(uint64(i))
		eating.Go(func() {
			for !c.ended.Load() {
				c.eat(t, rng)
			}
		})
	}
	for i := range producers {
		rng := seed.Rand(uint64(1000 + i))
		making.Go(func() { produce(t, newOurs(t, srv), i, each, rng) })
	}
	making.Wait()
	c.ended.Store(true)
	eating.Wait()
	served := len(c.got)
	last := newOurs(t, srv)
	for {
		reply := last.Run(t, "MULTI", "QPOP k:0 k:1 0", "EXEC")
		if strings.HasSuffix(reply, "*-1\r\n") {
			break
		}
		c.take(t, strings.TrimPrefix(reply, "+OK\r\n+QUEUED\r\n*1\r\n"))
	}
	most := producers * each
	if n := len(c.got); n > most || n < most-c.gone {
		t.Errorf("items: got %d, want %d but for at most %d clients that went (seed %d)", n, most, c.gone, seed)
	}
	if served < most/2 || c.gone == 0 || c.unblocked == 0 {
		t.Errorf("traffic: got %d served, %d gone, %d unblocked, want more", served, c.gone, c.unblocked)
	}
	if n := srv.blockedClients(); n != 0 || len(srv.blocked.queues) != 0 {
		t.Errorf("afterwards: got %d waiting and %d queues, want none", n, len(srv.blocked.queues))
	}
}

// consumption is what the consumers have taken.
type consumption struct {
	srv   *Server
	ended atomic.Bool

	mu        sync.Mutex
	got       map[string]bool
	gone      int // clients that went while they waited
	unblocked int // waits that CLIENT UNBLOCK ended
}

func (c *consumption) take(t *testing.T, reply string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply == "*-1\r\n" {
		return
	}
	if strings.HasPrefix(reply, "-UNBLOCKED") {
		c.unblocked++
		return
	}
	if words := strings.Split(reply, "\r\n"); len(words) != 6 || c.got[words[4]] {
		t.Errorf("not an item, or given twice: %q", reply)
	} else {
		c.got[words[4]] = true
	}
}

// eat is one client that takes items for a while. Like any driver, it learns
// by a nudge that a wait is over.
func (c *consumption) eat(t *testing.T, rng *rand.Rand) {
	o := newOurs(t, c.srv)
	defer o.session.Close()
	for range 10 {
		reply := o.Run(t, fmt.Sprintf("QPOP k:0 k:1 0.00%d", 1+rng.IntN(9)))
		switch chance := rng.IntN(10); {
		case reply != "":
		case chance == 0:
			c.mu.Lock()
			c.gone++
			c.mu.Unlock()
			return
		case chance == 1:
			newOurs(t, c.srv).Run(t, "CLIENT UNBLOCK "+o.id()+" ERROR")
		}
		for reply == "" {
			reply = string(o.later(t))
		}
		c.take(t, reply)
	}
}

// produce pushes items, some of them in pipelines and transactions, some of
// which come to nothing.
func produce(t *testing.T, o *ours, id, n int, rng *rand.Rand) {
	for i := 0; i < n; {
		var items strings.Builder
		for range min(1+rng.IntN(4), n-i) {
			fmt.Fprintf(&items, " %d.%d", id, i)
			i++
		}
		key := fmt.Sprintf("k:%d", rng.IntN(2))
		if rng.IntN(4) == 0 {
			o.Run(t, "MULTI", "INCR n", "QPUSH "+key+items.String(), "EXEC")
		} else {
			o.Run(t, "QFAIL "+key+" no", "QPUSH "+key+items.String(), "INCR n")
		}
	}
}

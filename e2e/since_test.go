package e2e

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// A cache in a client outlives its connection, and is never stale: SINCE.

// copies is a cache for rueidis that keeps what it has when the connection is
// lost. A copy is served if it is good on the connection that there is: it was
// read on it, or the server was asked about its key.
type copies struct {
	mu     sync.Mutex
	byKey  map[string]map[string]copied // by the command, too
	now    *connection                  // the newest
	token  string                       // as of which all copies are good
	opened chan struct{}                // capacity 1: there is a new connection

	hits, outlived atomic.Int64
}

type copied struct {
	value rueidis.RedisMessage
	until time.Time
	good  *connection
}

func newCopies() *copies {
	return &copies{byKey: map[string]map[string]copied{}, opened: make(chan struct{}, 1)}
}

// store is rueidis's cache of a new connection.
func (c *copies) store(rueidis.CacheStoreOption) rueidis.CacheStore {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = &connection{copies: c, waiting: map[string]*waiting{}}
	select {
	case c.opened <- struct{}{}:
	default:
	}
	return c.now
}

// revalidate asks which copies are good, when there is a new connection.
func (c *copies) revalidate(ctx context.Context, client rueidis.Client) error {
	c.mu.Lock()
	on, token := c.now, c.token
	names := []string{"EXISTS", "none"}
	for key := range c.byKey {
		names = append(names, key)
	}
	c.mu.Unlock()
	b := client.B()
	commands := []rueidis.Completed{
		b.Arbitrary("CLIENT", "CACHING", "YES").Build(),
		b.Arbitrary(names...).Build(),
		b.Arbitrary("CLIENT", "TRACKING", "ON", "OPTIN").Build(), // it has named all
		b.Arbitrary("HELLO", "3").Build(),
	}
	if token != "" {
		commands = append([]rueidis.Completed{b.Arbitrary("CLIENT", "TRACKING", "ON", "OPTIN", "SINCE", token).Build()}, commands...)
	}
	replies := client.DoMulti(ctx, commands...)
	for _, reply := range replies {
		if err := reply.Error(); err != nil {
			return err
		}
	}
	hello, err := replies[len(replies)-1].AsMap()
	if err != nil {
		return err
	}
	fresh := hello["token"]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != on {
		return nil // there is another one already
	}
	for _, key := range names[2:] {
		for cmd, copy := range c.byKey[key] {
			if token != "" && copy.good != on { // its key was named, and it is still there
				copy.good = on
				c.byKey[key][cmd] = copy
				c.outlived.Add(1)
			}
		}
	}
	c.token, err = fresh.ToString()
	on.asked = err == nil
	return err
}

// advance takes a newer token, from time to time: the older it is, the more has
// changed since.
func (c *copies) advance(ctx context.Context, client rueidis.Client) error {
	c.mu.Lock()
	on := c.now
	c.mu.Unlock()
	hello, err := client.Do(ctx, client.B().Arbitrary("HELLO", "3").Build()).AsMap()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if token, ok := hello["token"]; ok && c.now == on && on.asked {
		c.token, err = token.ToString()
	}
	return err
}

// connection is the cache as one connection sees it.
type connection struct {
	copies  *copies
	waiting map[string]*waiting // requests under way, by key and command
	asked   bool                // the server was asked about what was there before
}

type waiting struct {
	done  chan struct{}
	until time.Time
	value rueidis.RedisMessage
	err   error
}

func (w *waiting) Wait(ctx context.Context) (rueidis.RedisMessage, error) {
	select {
	case <-ctx.Done():
		return rueidis.RedisMessage{}, ctx.Err()
	case <-w.done:
		return w.value, w.err
	}
}

func (c *connection) Flight(key, cmd string, ttl time.Duration, now time.Time) (rueidis.RedisMessage, rueidis.CacheEntry) {
	all := c.copies
	all.mu.Lock()
	defer all.mu.Unlock()
	if copy, ok := all.byKey[key][cmd]; ok && copy.good == c && now.Before(copy.until) {
		all.hits.Add(1)
		return copy.value, nil
	}
	if w := c.waiting[key+"\x00"+cmd]; w != nil {
		return rueidis.RedisMessage{}, w
	}
	c.waiting[key+"\x00"+cmd] = &waiting{done: make(chan struct{}), until: now.Add(ttl)}
	return rueidis.RedisMessage{}, nil
}

func (c *connection) Update(key, cmd string, value rueidis.RedisMessage) int64 {
	all := c.copies
	all.mu.Lock()
	defer all.mu.Unlock()
	w := c.waiting[key+"\x00"+cmd]
	if w == nil {
		return 0
	}
	delete(c.waiting, key+"\x00"+cmd)
	if end := value.CachePXAT(); end > 0 && end < w.until.UnixMilli() {
		w.until = time.UnixMilli(end)
	}
	if all.now == c {
		if all.byKey[key] == nil {
			all.byKey[key] = map[string]copied{}
		}
		all.byKey[key][cmd] = copied{value, w.until, c}
	}
	w.value = value
	close(w.done)
	return w.until.UnixMilli()
}

func (c *connection) Cancel(key, cmd string, err error) {
	all := c.copies
	all.mu.Lock()
	defer all.mu.Unlock()
	if w := c.waiting[key+"\x00"+cmd]; w != nil {
		delete(c.waiting, key+"\x00"+cmd)
		w.err = err
		close(w.done)
	}
}

func (c *connection) Delete(keys []rueidis.RedisMessage) {
	all := c.copies
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.now != c {
		return
	}
	if keys == nil {
		clear(all.byKey)
	}
	for i := range keys {
		if key, err := keys[i].ToString(); err == nil {
			delete(all.byKey, key)
		}
	}
}

// Close keeps the copies: they are not served before they are good on another
// connection.
func (c *connection) Close(err error) {
	all := c.copies
	all.mu.Lock()
	defer all.mu.Unlock()
	for name, w := range c.waiting {
		delete(c.waiting, name)
		w.err = err
		close(w.done)
	}
}

const (
	sinceKeys   = 40
	sinceRounds = 30 // cuts
)

// TestRueidisKeepsItsCacheThroughCuts has another client write and cut the
// connection, whenever it comes to that. What is read is never older than what had been written when the
// reader last heard of the server.
func TestRueidisKeepsItsCacheThroughCuts(t *testing.T) {
	ctx, address := t.Context(), startFirn(t)
	cache := newCopies()
	reader, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{address}, ForceSingleClient: true, PipelineMultiplex: -1,
		ClientName: "reader", ClientTrackingOptions: []string{"OPTIN"}, NewCacheStoreFn: cache.store,
	})
	must(t, err)
	t.Cleanup(reader.Close)
	writer, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, ForceSingleClient: true, PipelineMultiplex: -1, DisableCache: true})
	must(t, err)
	t.Cleanup(writer.Close)
	writes := newCounters(t, writer)
	go writes.write(ctx, t)

	deadline := time.Now().Add(2 * time.Minute)
	for round := 0; round < sinceRounds; round++ {
		for reads := 0; reads < 100; reads++ {
			select {
			case <-cache.opened:
				if cache.revalidate(ctx, reader) != nil {
					select { // once more, on the next one
					case cache.opened <- struct{}{}:
					default:
					}
				}
			default:
			}
			if time.Now().After(deadline) {
				t.Fatal("it takes too long")
			}
			floor := writes.written()
			if reader.Do(ctx, reader.B().Ping().Build()).Error() != nil {
				continue // cut
			}
			for i := range 5 {
				n := (7*round + 11*reads + 17*i) % sinceKeys
				got, err := reader.DoCache(ctx, reader.B().Get().Key(counterKey(n)).Cache(), time.Minute).AsInt64()
				if err == nil && got < floor[n] {
					t.Fatalf("round %d: got %s = %d, and %d had been written before", round, counterKey(n), got, floor[n])
				}
			}
			if reads%20 == 10 {
				_ = cache.advance(ctx, reader) // a cut is seen elsewhere
			}
		}
		must(t, writer.Do(ctx, writer.B().Arbitrary("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Build()).Error())
	}
	writes.stop()
	t.Logf("%d reads were served by copies, and %d copies outlived their connection", cache.hits.Load(), cache.outlived.Load())
	if cache.hits.Load() < 1000 || cache.outlived.Load() < 2*sinceRounds {
		t.Error("that proves nothing")
	}
}

// counters are keys that somebody counts up at random.
type counters struct {
	client rueidis.Client
	mu     sync.Mutex
	values [sinceKeys]int64
	ended  chan struct{}
	end    chan struct{}
}

func counterKey(n int) string { return "counter:" + strconv.Itoa(n) }

func newCounters(t *testing.T, client rueidis.Client) *counters {
	for n := range sinceKeys {
		must(t, client.Do(t.Context(), client.B().Set().Key(counterKey(n)).Value("0").Build()).Error())
	}
	return &counters{client: client, ended: make(chan struct{}), end: make(chan struct{})}
}

// write counts up one after the other, a few of them often.
func (c *counters) write(ctx context.Context, t *testing.T) {
	defer close(c.ended)
	for i, pause := 0, time.NewTicker(time.Millisecond); ; i++ {
		select {
		case <-c.end:
			pause.Stop()
			return
		case <-pause.C:
		}
		n := i % (1 + 7*i%sinceKeys)
		got, err := c.client.Do(ctx, c.client.B().Incr().Key(counterKey(n)).Build()).AsInt64()
		if err != nil {
			t.Errorf("INCR: %v", err)
			return
		}
		c.mu.Lock()
		c.values[n] = got
		c.mu.Unlock()
	}
}

// written is what has been written for sure.
func (c *counters) written() [sinceKeys]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values
}

func (c *counters) stop() {
	close(c.end)
	<-c.ended
}

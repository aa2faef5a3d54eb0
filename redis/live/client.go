package live

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/resp"
)

// Client is one connection's subscriptions. Its methods are called by whoever
// runs the connection's session, one at a time, but for Count and Waiting,
// which are safe on any goroutine. What is not atomic is guarded by the hub's
// lock. A nil Client has no subscriptions, and needs no hub.
type Client struct {
	hub    *Hub
	nudge  func()             // has the session call Take soon; must not block
	rights func() *acl.Rights // what the client's user may do now; nil: everything

	subs  []*subscription // by id
	ready []*subscription // with something pending, in the order in which it came; a subscription is there once
	ended int             // how many of those have ended

	told     firn.Timestamp // the newest moment that the client has heard of, or is to
	toldAt   time.Time      // when a push or bookmark was made for it; zero: none ever was
	bookmark *result        // to be sent behind all that is ready; nil: none

	count   atomic.Int32 // of subs
	waiting atomic.Bool  // there is something to take
}

// subscription is a client's interest in a query.
type subscription struct {
	client *Client
	query  *query
	id     string
	at     int // the place in query.subs

	seenTS  firn.Timestamp // of what the client was sent last
	seen    digest
	pending *result // what the client is to be sent; nil: nothing
	listed  bool    // it is in client.ready
}

// NewClient makes the subscriptions of a connection: none. It costs the hub
// nothing.
func (h *Hub) NewClient(nudge func(), rights func() *acl.Rights) *Client {
	return &Client{hub: h, nudge: nudge, rights: rights}
}

// Count is how many subscriptions there are.
func (c *Client) Count() int {
	if c == nil {
		return 0
	}
	return int(c.count.Load())
}

// Waiting says whether Take has something to give.
func (c *Client) Waiting() bool { return c != nil && c.waiting.Load() }

// find is where a subscription is, or would be.
func (c *Client) find(id string) (at int, found bool) {
	return slices.BinarySearchFunc(c.subs, id, func(s *subscription, id string) int { return strings.Compare(s.id, id) })
}

// Unsubscribe ends a subscription, and drops what is pending for it; false if
// there is none.
func (c *Client) Unsubscribe(id string) bool {
	if c == nil {
		return false
	}
	h := c.hub
	h.mu.Lock()
	c.dropEndLocked(id)
	at, found := c.find(id)
	var stop func()
	if found {
		s := c.subs[at]
		h.pendLocked(s, nil)
		stop = h.removeLocked(s)
	}
	h.mu.Unlock()
	if stop != nil {
		stop()
	}
	return found
}

// removeLocked takes a subscription from its client and its query; see
// leaveLocked.
func (h *Hub) removeLocked(s *subscription) (stop func()) {
	c := s.client
	if at, found := c.find(s.id); found && c.subs[at] == s {
		c.subs = slices.Delete(c.subs, at, at+1)
	}
	h.subs--
	h.kept -= subscriptionBytes + int64(len(s.id))
	if c.count.Add(-1) == 0 {
		delete(h.clients, c)
		c.bookmark = nil
	}
	return h.leaveLocked(s)
}

// dropEndLocked forgets that a subscription has ended which the client was not
// told about yet: it does not want it any more.
func (c *Client) dropEndLocked(id string) {
	for _, s := range c.ready {
		if s.id == id && s.pending != nil && s.pending.ends {
			c.hub.pendLocked(s, nil)
			c.ended--
		}
	}
}

// Close ends all subscriptions and drops what is pending.
func (c *Client) Close() {
	if c == nil {
		return
	}
	h := c.hub
	var stops []func()
	h.mu.Lock()
	for len(c.subs) > 0 {
		if stop := h.removeLocked(c.subs[len(c.subs)-1]); stop != nil {
			stops = append(stops, stop)
		}
	}
	for _, s := range c.ready {
		h.pendLocked(s, nil)
	}
	c.subs, c.ready, c.ended, c.bookmark = nil, nil, 0, nil
	c.told, c.toldAt = 0, time.Time{}
	c.waiting.Store(false)
	h.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// RightsChanged has the client's queries evaluated again, with the rights that
// it has now.
func (c *Client) RightsChanged() {
	if c == nil {
		return
	}
	newest := c.hub.source.Newest()
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.hub.recheckLocked(c, newest)
}

// Listed is a subscription as LIVE LIST shows it.
type Listed struct {
	ID string
	TS firn.Timestamp // of what the client was sent last
	Query
}

// List is the client's subscriptions, by id.
func (c *Client) List() []Listed {
	if c == nil {
		return nil
	}
	h := c.hub
	h.mu.Lock()
	all, forms := make([]Listed, len(c.subs)), make([]Form, len(c.subs))
	for i, s := range c.subs {
		all[i], forms[i] = Listed{ID: s.id, TS: s.seenTS}, s.query.form
	}
	h.mu.Unlock()
	for i := range all {
		all[i].Query, _ = forms[i].Parse(h.opts.Commands) // it was made with them
	}
	return all
}

// hearLocked notes that the client hears of a moment, or is to: a bookmark of
// an earlier one would be wrong behind it.
func (c *Client) hearLocked(ts firn.Timestamp) {
	c.told = max(c.told, ts)
	if c.bookmark != nil && c.bookmark.ts < ts {
		c.bookmark = nil
	}
}

// offerLocked makes a result what is pending for a subscription. wakes says
// that the client is to be nudged.
func (s *subscription) offerLocked(r *result) (wakes bool) {
	c := s.client
	c.hub.pendLocked(s, r)
	c.hearLocked(r.ts)
	if r.ends {
		c.ended++
	}
	if !s.listed {
		s.listed = true
		c.ready = append(c.ready, s)
	}
	return !c.waiting.Swap(true)
}

// pushBytes is about how much is made of pushes before the client has taken
// what it was sent. It fills a socket; what is pending otherwise is one reply
// for each subscription, the newest.
const pushBytes = 64 << 10

// Refill is Take for a client's output, of which so many bytes are sent: only
// what the client is ready for is made of pushes.
func (c *Client) Refill(out []byte, sent int) []byte {
	if !c.Waiting() || sent > 0 || len(out) >= pushBytes {
		return out
	}
	return c.Take(out, pushBytes-len(out))
}

// push is one that is being made.
type push struct {
	id string
	*result
}

// Take appends pushes to out, up to about so many bytes, and leaves the rest
// for later: then Waiting is true still.
func (c *Client) Take(out []byte, most int) []byte {
	var room [8]push
	pushes, bookmark := c.takeLocked(room[:0], most)
	w := resp.Writer{Proto: 3, Buf: out}
	for _, p := range pushes {
		w.Push(5)
		w.BulkString("live")
		w.BulkString(p.id)
		w.Buf = append(w.Buf, p.tail...)
	}
	if bookmark != nil {
		w.Push(3)
		w.BulkString("live-bookmark")
		w.Buf = append(w.Buf, bookmark.tail...)
	}
	return w.Buf
}

// takeLocked takes what is ready. It holds the lock, and nothing is copied.
func (c *Client) takeLocked(pushes []push, most int) ([]push, *result) {
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := 0
	for _, s := range c.ready {
		if most <= 0 {
			break
		}
		taken++
		s.listed = false
		r := s.pending
		if r == nil {
			continue
		}
		h.pendLocked(s, nil)
		s.seen, s.seenTS = r.reply, r.ts
		pushes = append(pushes, push{s.id, r})
		most -= len(s.id) + len(r.tail)
		h.stats.Pushes++
		if r.ends {
			c.ended--
		}
	}
	c.ready = slices.Delete(c.ready, 0, taken)
	var bookmark *result
	if len(c.ready) == 0 {
		bookmark, c.bookmark = c.bookmark, nil
		c.ready = nil
	}
	c.waiting.Store(len(c.ready) > 0)
	return pushes, bookmark
}

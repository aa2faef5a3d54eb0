package live

import (
	"context"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Bookmarks tell a client that nothing else has happened up to a moment. It
// gets one at least every bookmarkEvery, and at the next look when a pass of the
// compactor has begun, unless nothing was committed since the last, or what it
// was pushed has told it the same.
const (
	bookmarkEvery = 10 * time.Second
	bookmarkLook  = time.Second // how often it is looked who is due
)

// bookmarks has rounds drawn when clients are due, until ctx ends.
func (h *Hub) bookmarks(ctx context.Context) {
	ticker := time.NewTicker(bookmarkLook)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.lookForDue()
		}
	}
}

// lookForDue has a round drawn if a client is due.
func (h *Hub) lookForDue() {
	newest, now := h.source.Newest(), time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if passed := h.source.Passed(); passed != h.passed {
		h.passed = passed
		h.round.all = true
	}
	for c := range h.clients {
		if c.dueLocked(max(newest, c.told), now, h.round.all) {
			h.round.bookmark, h.round.owed = true, max(h.round.owed, c.told)
		}
	}
	if h.round.bookmark {
		h.some.Signal()
	}
}

// dueLocked says whether a client gets a bookmark of a moment. One that has
// never got a token gets its first soon, so that it can resume. early says that
// no client waits until its time has come.
func (c *Client) dueLocked(ts firn.Timestamp, now time.Time, early bool) bool {
	if c.toldAt.IsZero() {
		return ts >= c.told
	}
	return ts > c.told && (early || now.Sub(c.toldAt) > bookmarkEvery-bookmarkLook)
}

// markLocked gives a bookmark of the round that is done to those that are due,
// and returns them.
func (h *Hub) markLocked() (marked []*Client) {
	if !h.round.bookmark {
		return nil
	}
	early := h.round.all
	h.round.bookmark, h.round.all = false, false
	ts, now := h.round.ts, time.Now()
	var mark *result
	for c := range h.clients {
		if !c.dueLocked(ts, now, early) || !c.settledLocked(ts) {
			continue
		}
		if mark == nil {
			mark = &result{ts: ts, tail: h.tail(ts, func(*resp.Writer) {})}
		}
		c.bookmark, c.told, c.toldAt = mark, ts, now
		if !c.waiting.Swap(true) {
			marked = append(marked, c)
		}
	}
	return marked
}

// settledLocked says whether a client has been offered everything up to a
// moment.
func (c *Client) settledLocked(ts firn.Timestamp) bool {
	for _, s := range c.subs {
		if q := s.query; q.state == running || q.state == queued && q.wake <= ts {
			return false
		}
	}
	return true
}

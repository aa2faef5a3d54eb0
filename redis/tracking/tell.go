package tracking

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/firndb/firn/resp"
)

// invalidateChannel is where clients of protocol 2 hear of what they track.
const invalidateChannel = "__redis__:invalidate"

// Invalidate tells those who have read a key that it is not what it was. by
// has written it; nil: nobody who could have a copy.
func (t *Table) Invalidate(key []byte, by *Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invalidateLocked(key, by)
}

func (t *Table) invalidateLocked(key []byte, by *Client) {
	for _, id := range t.readers.take(key) {
		s := t.clients[id]
		if s == nil || s.Bcast {
			continue
		}
		if !(s.NoLoop && s == by) {
			t.tellLocked(s, by, key)
		}
		if since := s.since.Load(); since != nil && !since.knows(key) {
			t.flushLocked(s, by)
		}
	}
}

// Broadcast tells those who track prefixes which keys were written, each
// prefix at once.
func (t *Table) Broadcast(keys [][]byte, by *Client) {
	if t.byNames.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, prefix := range slices.Sorted(maps.Keys(t.prefixes)) {
		found := Beginning(prefix, keys)
		if len(found) == 0 {
			continue
		}
		for _, s := range t.prefixes[prefix] {
			if !(s.NoLoop && s == by) {
				t.tellLocked(s, nil, found...)
			}
		}
	}
}

// Beginning are the keys with a prefix, each once and in order.
func Beginning(prefix string, keys [][]byte) (found [][]byte) {
	for _, key := range keys {
		if bytes.HasPrefix(key, []byte(prefix)) {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, bytes.Compare)
	return slices.CompactFunc(found, bytes.Equal)
}

// Missed is called after a commit of which nobody had noted what it wrote,
// because nobody tracked, if somebody does now. Those clients have begun
// meanwhile, and may have read what was there before.
func (t *Table) Missed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.clients {
		if s.Bcast && !s.looks {
			t.flushLocked(s, nil)
		}
	}
	for t.readers.keys > 0 {
		t.invalidateLocked(t.readers.any(), nil)
	}
}

// Flush tells everybody who tracks that no copy is good any more.
func (t *Table) Flush(by *Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range slices.SortedFunc(maps.Values(t.clients), func(a, b *Client) int { return cmp.Compare(a.id, b.id) }) {
		t.flushLocked(s, by)
	}
	t.readers.reset()
}

// flushLocked tells a client that none of its copies is good. Then it has none
// from an earlier connection either.
func (t *Table) flushLocked(s, by *Client) {
	s.since.Store(nil)
	t.tellLocked(s, by)
}

// tellLocked tells a client of keys that it must not use any more; none: all
// keys. What by has written it is told itself when its reply is there: see
// TellOwn.
func (t *Table) tellLocked(s, by *Client, keys ...[]byte) {
	if s == by {
		s.pending = append(s.pending, copies(keys))
		return
	}
	if mine := t.sendLocked(s, keys); mine != nil {
		s.to.Push(mine)
	}
}

func copies(keys [][]byte) (own [][]byte) {
	for _, key := range keys {
		own = append(own, bytes.Clone(key))
	}
	return own
}

// sendLocked sends an invalidation to the client that s redirects to, or returns
// what s itself is to be sent, if anything.
func (t *Table) sendLocked(s *Client, keys [][]byte) (mine []byte) {
	to, subscribed := s.to, false
	if s.Redirect != 0 {
		if to, subscribed = t.other(s.Redirect); to == nil {
			return brokenLocked(s)
		}
	}
	message := invalidation(to.Protocol(), subscribed, keys)
	if to == s.to {
		return message
	}
	if message != nil {
		to.Push(message)
	}
	return nil
}

// TellOwn tells the client what it has to know of its own writes, whose reply is
// there, and returns what it is to be sent behind that. It belongs to who tells
// others of these writes.
func (t *Table) TellOwn(s *Client) (mine []byte) {
	if len(s.pending) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, keys := range s.pending {
		mine = append(mine, t.sendLocked(s, keys)...)
	}
	s.pending = nil
	return mine
}

// invalidation is a message for a client that speaks a protocol; nil if that
// has no way to say it.
func invalidation(protocol int, subscribed bool, keys [][]byte) []byte {
	w := resp.Writer{Proto: protocol}
	switch {
	case protocol == 3:
		w.Push(2)
		w.BulkString("invalidate")
	case subscribed:
		w.Push(3)
		w.BulkString("message")
		w.BulkString(invalidateChannel)
	default:
		return nil
	}
	if keys == nil {
		w.Null()
	} else {
		w.Array(len(keys))
	}
	for _, key := range keys {
		w.Bulk(key)
	}
	return w.Buf
}

// brokenLocked is what a client is told when nobody is there any more to whom it
// redirects.
func brokenLocked(s *Client) []byte {
	s.broken = true
	if s.to.Protocol() != 3 {
		return nil
	}
	w := resp.Writer{Proto: 3}
	w.Push(2)
	w.BulkString("tracking-redir-broken")
	w.Int(s.Redirect)
	return w.Buf
}

// Push sends the client something.
func (t *Client) Push(message []byte) { t.to.Push(message) }

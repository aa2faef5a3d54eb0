// Package tracking tells clients when keys change of which they keep copies.
package tracking

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/resp"
)

// maxPrefixes bounds what one client tracks by prefix.
const maxPrefixes = 1 << 10

// invalidateChannel is where clients of protocol 2 hear of what they track.
const invalidateChannel = "__redis__:invalidate"

// Table knows which clients keep copies of which keys, and tells them when
// those change. It is safe for concurrent use.
//
// A key is remembered for a client when it reads it, and forgotten when it was
// told. Keys have no database here, as in Redis. A client that has gone is
// found out later: its id is in the lists until they are used or grow.
type Table struct {
	active  *atomic.Int64 // clients that track; 0: writes note nothing
	MaxKeys atomic.Int64  // tracking-table-max-keys; 0: any number

	mu       sync.Mutex
	clients  map[int64]*Client  // those that track, by id
	keys     map[string][]int64 // who has read a key
	items    int                // ids in keys
	prefixes map[string][]*Client

	// other finds the client that invalidations are redirected to; nil: it has
	// gone. subscribed says that it can be told with protocol 2, too.
	other func(id int64) (to pubsub.Listener, subscribed bool)
}

// defaultTrackedKeys is Redis's default of tracking-table-max-keys.
const defaultTrackedKeys = 1_000_000

// Init makes the table ready: active counts its clients, other finds them.
func (t *Table) Init(active *atomic.Int64, other func(id int64) (pubsub.Listener, bool)) {
	t.active, t.other = active, other
	t.MaxKeys.Store(defaultTrackedKeys)
	t.clients = map[int64]*Client{}
	t.keys = map[string][]int64{}
	t.prefixes = map[string][]*Client{}
}

// Client is a client that may track.
type Client struct {
	id int64
	to pubsub.Listener // the client
	State
}

// Init makes the tracker a client's.
func (t *Client) Init(id int64, to pubsub.Listener) { t.id, t.to = id, to }

// State is what one client tracks. Only the client changes it, but
// for broken, and under the lock of tracking; so it may read without.
type State struct {
	On       bool
	Bcast    bool // by prefix, and not what it reads
	OptIn    bool // only reads after CLIENT CACHING YES
	OptOut   bool // no reads after CLIENT CACHING NO
	NoLoop   bool // not its own writes
	Redirect int64
	Prefixes []string
	broken   bool // the client that redirect names is gone

	Caching bool // CLIENT CACHING was said; the client's own
}

// Counts are the clients that track, the keys that are remembered, how often,
// and the prefixes.
func (t *Table) Counts() (clients, keys, items, prefixes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.clients), len(t.keys), t.items, len(t.prefixes)
}

// Start makes a client track, with what it has asked for added to what it
// tracks already.
func (t *Table) Start(s *Client, want State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := &s.State
	if !state.On {
		t.clients[s.id] = s
		t.active.Add(1)
	}
	if want.Bcast && len(want.Prefixes) == 0 && !slices.Contains(state.Prefixes, "") {
		want.Prefixes = []string{""} // every key
	}
	kept := append(state.Prefixes, want.Prefixes...)
	for _, prefix := range want.Prefixes {
		t.prefixes[prefix] = append(t.prefixes[prefix], s)
	}
	want.On, want.Prefixes, want.Caching = true, kept, state.Caching
	*state = want
}

// Stop ends a client's tracking, if it does. What it has read is forgotten
// with the last client that tracks, or bit by bit.
func (t *Table) Stop(s *Client) {
	if !s.On {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, prefix := range s.Prefixes {
		left := slices.DeleteFunc(t.prefixes[prefix], func(other *Client) bool { return other == s })
		if t.prefixes[prefix] = left; len(left) == 0 {
			delete(t.prefixes, prefix)
		}
	}
	s.State = State{}
	delete(t.clients, s.id)
	if len(t.clients) == 0 {
		t.keys, t.items = map[string][]int64{}, 0
	}
	t.active.Add(-1)
}

// Wants says whether a command that was run has read keys which the client
// wants to track.
func (t *Client) Wants(e *command.Entry) bool {
	switch {
	case !t.On || t.Bcast || !e.ReadsKeys():
		return false
	case t.OptIn && !t.Caching, t.OptOut && t.Caching:
		return false
	}
	return true
}

// Ran ends what CLIENT CACHING said, after the command behind it.
func (t *Client) Ran(e *command.Entry) {
	if t.Caching && !strings.HasPrefix(e.Full, "client|") {
		t.Caching = false
	}
}

// Remember notes that a client has read a key.
func (t *Table) Remember(s *Client, key []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.On {
		return
	}
	ids := t.keys[string(key)]
	at, found := slices.BinarySearch(ids, s.id)
	if found {
		return
	}
	if n := len(ids); n >= 8 && n == cap(ids) { // it would grow: see who is left
		ids = slices.DeleteFunc(ids, func(id int64) bool { return t.clients[id] == nil })
		t.items -= n - len(ids)
		at, _ = slices.BinarySearch(ids, s.id)
	}
	t.keys[string(key)] = slices.Insert(ids, at, s.id)
	t.items++
	t.evictLocked()
}

// evictLocked forgets keys beyond the limit, and so their readers are told.
func (t *Table) evictLocked() {
	limit := t.MaxKeys.Load()
	if limit == 0 {
		return
	}
	for key := range t.keys {
		if int64(len(t.keys)) <= limit {
			return
		}
		t.invalidateLocked([]byte(key), nil)
	}
}

// Evict forgets keys beyond a limit that has changed.
func (t *Table) Evict() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.evictLocked()
}

// Invalidate tells those who have read a key that it is not what it was. by
// has written it; nil: nobody who could have a copy.
func (t *Table) Invalidate(key []byte, by *Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invalidateLocked(key, by)
}

func (t *Table) invalidateLocked(key []byte, by *Client) {
	ids, ok := t.keys[string(key)]
	if !ok {
		return
	}
	for _, id := range ids {
		s := t.clients[id]
		if s != nil && !s.Bcast && !(s.NoLoop && s == by) {
			t.tellLocked(s, [][]byte{key})
		}
	}
	delete(t.keys, string(key))
	t.items -= len(ids)
}

// Broadcast tells those who track prefixes which keys were written, each
// prefix at once.
func (t *Table) Broadcast(keys [][]byte, by *Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, prefix := range slices.Sorted(maps.Keys(t.prefixes)) {
		var found [][]byte
		seen := map[string]bool{}
		for _, key := range keys {
			if bytes.HasPrefix(key, []byte(prefix)) && !seen[string(key)] {
				seen[string(key)] = true
				found = append(found, key)
			}
		}
		if len(found) == 0 {
			continue
		}
		slices.SortFunc(found, bytes.Compare)
		for _, s := range t.prefixes[prefix] {
			if !(s.NoLoop && s == by) {
				t.tellLocked(s, found)
			}
		}
	}
}

// Flush tells everybody who tracks that no copy is good any more.
func (t *Table) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		t.tellLocked(t.clients[id], nil)
	}
	t.keys, t.items = map[string][]int64{}, 0
}

// tellLocked sends a client, or the one that it redirects to, the keys that
// it must not use any more; nil: all keys.
func (t *Table) tellLocked(s *Client, keys [][]byte) {
	to, subscribed := s.to, false
	if s.Redirect != 0 {
		if to, subscribed = t.other(s.Redirect); to == nil {
			t.brokenLocked(s)
			return
		}
	}
	w := resp.Writer{Proto: to.Protocol()}
	switch {
	case w.Proto == 3:
		w.Push(2)
		w.BulkString("invalidate")
	case to != s.to && subscribed:
		w.Push(3)
		w.BulkString("message")
		w.BulkString(invalidateChannel)
	default:
		return // protocol 2 has no other way to say it
	}
	if keys == nil {
		w.Null()
	} else {
		w.Array(len(keys))
	}
	for _, key := range keys {
		w.Bulk(key)
	}
	to.Push(w.Buf)
}

// brokenLocked tells a client that nobody is there any more to whom it
// redirects.
func (t *Table) brokenLocked(s *Client) {
	s.broken = true
	if s.to.Protocol() != 3 {
		return
	}
	w := resp.Writer{Proto: 3}
	w.Push(2)
	w.BulkString("tracking-redir-broken")
	w.Int(s.Redirect)
	s.to.Push(w.Buf)
}

// Shown is what CLIENT LIST shows: flags, and the client that is
// redirected to, -1 without tracking.
func (t *Table) Shown(s *Client) (flags string, redirect int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.On {
		return "", -1
	}
	flags = "t"
	if s.broken {
		flags += "R"
	}
	if s.Bcast {
		flags += "B"
	}
	return flags, s.Redirect
}

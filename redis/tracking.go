package redis

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
)

// maxPrefixes bounds what one client tracks by prefix.
const maxPrefixes = 1 << 10

// invalidateChannel is where clients of protocol 2 hear of what they track.
const invalidateChannel = "__redis__:invalidate"

// tracking knows which clients keep copies of which keys, and tells them when
// those change. It is safe for concurrent use.
//
// A key is remembered for a client when it reads it, and forgotten when it was
// told. Keys have no database here, as in Redis. A client that has gone is
// found out later: its id is in the lists until they are used or grow.
type tracking struct {
	active  *atomic.Int64 // clients that track; 0: writes note nothing
	maxKeys atomic.Int64  // tracking-table-max-keys; 0: any number

	mu       sync.Mutex
	clients  map[int64]*tracker // those that track, by id
	keys     map[string][]int64 // who has read a key
	items    int                // ids in keys
	prefixes map[string][]*tracker

	// other finds the client that invalidations are redirected to; nil: it has
	// gone. subscribed says that it can be told with protocol 2, too.
	other func(id int64) (to listener, subscribed bool)
}

// defaultTrackedKeys is Redis's default of tracking-table-max-keys.
const defaultTrackedKeys = 1_000_000

func (t *tracking) init(active *atomic.Int64, other func(id int64) (listener, bool)) {
	t.active, t.other = active, other
	t.maxKeys.Store(defaultTrackedKeys)
	t.clients = map[int64]*tracker{}
	t.keys = map[string][]int64{}
	t.prefixes = map[string][]*tracker{}
}

// tracker is a client that may track.
type tracker struct {
	id int64
	to listener // the client
	trackerState
}

// trackerState is what one client tracks. Only the client changes it, but
// for broken, and under the lock of tracking; so it may read without.
type trackerState struct {
	on       bool
	bcast    bool // by prefix, and not what it reads
	optIn    bool // only reads after CLIENT CACHING YES
	optOut   bool // no reads after CLIENT CACHING NO
	noLoop   bool // not its own writes
	redirect int64
	prefixes []string
	broken   bool // the client that redirect names is gone

	caching bool // CLIENT CACHING was said; the client's own
}

// counts are the clients that track, the keys that are remembered, how often,
// and the prefixes.
func (t *tracking) counts() (clients, keys, items, prefixes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.clients), len(t.keys), t.items, len(t.prefixes)
}

// start makes a client track, with what it has asked for added to what it
// tracks already.
func (t *tracking) start(s *tracker, want trackerState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := &s.trackerState
	if !state.on {
		t.clients[s.id] = s
		t.active.Add(1)
	}
	if want.bcast && len(want.prefixes) == 0 && !slices.Contains(state.prefixes, "") {
		want.prefixes = []string{""} // every key
	}
	kept := append(state.prefixes, want.prefixes...)
	for _, prefix := range want.prefixes {
		t.prefixes[prefix] = append(t.prefixes[prefix], s)
	}
	want.on, want.prefixes, want.caching = true, kept, state.caching
	*state = want
}

// stop ends a client's tracking, if it does. What it has read is forgotten
// with the last client that tracks, or bit by bit.
func (t *tracking) stop(s *tracker) {
	if !s.on {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, prefix := range s.prefixes {
		left := slices.DeleteFunc(t.prefixes[prefix], func(other *tracker) bool { return other == s })
		if t.prefixes[prefix] = left; len(left) == 0 {
			delete(t.prefixes, prefix)
		}
	}
	s.trackerState = trackerState{}
	delete(t.clients, s.id)
	if len(t.clients) == 0 {
		t.keys, t.items = map[string][]int64{}, 0
	}
	t.active.Add(-1)
}

// wants says whether a command that was run has read keys which the client
// wants to track.
func (t *tracker) wants(e *command.Entry) bool {
	switch {
	case !t.on || t.bcast || !e.ReadsKeys():
		return false
	case t.optIn && !t.caching, t.optOut && t.caching:
		return false
	}
	return true
}

// ran ends what CLIENT CACHING said, after the command behind it.
func (t *tracker) ran(e *command.Entry) {
	if t.caching && !strings.HasPrefix(e.Full, "client|") {
		t.caching = false
	}
}

// remember notes that a client has read a key.
func (t *tracking) remember(s *tracker, key []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.on {
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
func (t *tracking) evictLocked() {
	limit := t.maxKeys.Load()
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

// evict forgets keys beyond a limit that has changed.
func (t *tracking) evict() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.evictLocked()
}

// invalidate tells those who have read a key that it is not what it was. by
// has written it; nil: nobody who could have a copy.
func (t *tracking) invalidate(key []byte, by *tracker) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invalidateLocked(key, by)
}

func (t *tracking) invalidateLocked(key []byte, by *tracker) {
	ids, ok := t.keys[string(key)]
	if !ok {
		return
	}
	for _, id := range ids {
		s := t.clients[id]
		if s != nil && !s.bcast && !(s.noLoop && s == by) {
			t.tellLocked(s, [][]byte{key})
		}
	}
	delete(t.keys, string(key))
	t.items -= len(ids)
}

// broadcast tells those who track prefixes which keys were written, each
// prefix at once.
func (t *tracking) broadcast(keys [][]byte, by *tracker) {
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
			if !(s.noLoop && s == by) {
				t.tellLocked(s, found)
			}
		}
	}
}

// flush tells everybody who tracks that no copy is good any more.
func (t *tracking) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		t.tellLocked(t.clients[id], nil)
	}
	t.keys, t.items = map[string][]int64{}, 0
}

// tellLocked sends a client, or the one that it redirects to, the keys that
// it must not use any more; nil: all keys.
func (t *tracking) tellLocked(s *tracker, keys [][]byte) {
	to, subscribed := s.to, false
	if s.redirect != 0 {
		if to, subscribed = t.other(s.redirect); to == nil {
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
func (t *tracking) brokenLocked(s *tracker) {
	s.broken = true
	if s.to.Protocol() != 3 {
		return
	}
	w := resp.Writer{Proto: 3}
	w.Push(2)
	w.BulkString("tracking-redir-broken")
	w.Int(s.redirect)
	s.to.Push(w.Buf)
}

// shown is what CLIENT LIST shows: flags, and the client that is
// redirected to, -1 without tracking.
func (t *tracking) shown(s *tracker) (flags string, redirect int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.on {
		return "", -1
	}
	flags = "t"
	if s.broken {
		flags += "R"
	}
	if s.bcast {
		flags += "B"
	}
	return flags, s.redirect
}

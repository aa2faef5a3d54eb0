package redis

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn"
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
	clients  map[int64]*Session // those that track, by id
	keys     map[string][]int64 // who has read a key
	items    int                // ids in keys
	prefixes map[string][]*Session
}

// defaultTrackedKeys is Redis's default of tracking-table-max-keys.
const defaultTrackedKeys = 1_000_000

func (t *tracking) init(active *atomic.Int64) {
	t.active = active
	t.maxKeys.Store(defaultTrackedKeys)
	t.clients = map[int64]*Session{}
	t.keys = map[string][]int64{}
	t.prefixes = map[string][]*Session{}
}

// trackerState is what one session tracks. Only the session changes it, but
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

	caching bool // CLIENT CACHING was said; the session's own
}

// counts are the clients that track, the keys that are remembered, how often,
// and the prefixes.
func (t *tracking) counts() (clients, keys, items, prefixes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.clients), len(t.keys), t.items, len(t.prefixes)
}

// start makes a session track, with what it has asked for added to what it
// tracks already.
func (t *tracking) start(s *Session, want trackerState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := &s.track
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

// stop ends a session's tracking, if it does. What it has read is forgotten
// with the last client that tracks, or bit by bit.
func (t *tracking) stop(s *Session) {
	if !s.track.on {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, prefix := range s.track.prefixes {
		left := slices.DeleteFunc(t.prefixes[prefix], func(other *Session) bool { return other == s })
		if t.prefixes[prefix] = left; len(left) == 0 {
			delete(t.prefixes, prefix)
		}
	}
	s.track = trackerState{}
	delete(t.clients, s.id)
	if len(t.clients) == 0 {
		t.keys, t.items = map[string][]int64{}, 0
	}
	t.active.Add(-1)
}

// readKeys notes the keys of a command that has read them, if the client
// wants to know when they change.
func (s *Session) readKeys(c *command.Call, e *command.Entry, args [][]byte) {
	state := &s.track
	switch {
	case !state.on || state.bcast || !e.ReadsKeys() || s.asof != 0:
		return
	case state.optIn && !state.caching, state.optOut && state.caching:
		return
	}
	n := note{what: noteRead}
	if snap, ok := c.R.(*firn.Snapshot); ok {
		n.seen = snap.Timestamp()
	}
	var room [acl.UsualKeys]command.KeyUse
	uses, _ := e.AppendKeyUses(room[:0], args)
	for i := range uses {
		s.outbox.add(n, uses[i].Key, nil)
	}
}

// ranTracked ends what CLIENT CACHING said, after the command behind it or
// the transaction.
func (s *Session) ranTracked(e *command.Entry) {
	if s.track.caching && !s.multi.on && !strings.HasPrefix(e.Full, "client|") {
		s.track.caching = false
	}
}

// remember notes that a session has read a key.
func (t *tracking) remember(s *Session, key []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.track.on {
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
func (t *tracking) invalidate(key []byte, by *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invalidateLocked(key, by)
}

func (t *tracking) invalidateLocked(key []byte, by *Session) {
	ids, ok := t.keys[string(key)]
	if !ok {
		return
	}
	for _, id := range ids {
		s := t.clients[id]
		if s != nil && !s.track.bcast && !(s.track.noLoop && s == by) {
			t.tellLocked(s, [][]byte{key})
		}
	}
	delete(t.keys, string(key))
	t.items -= len(ids)
}

// broadcast tells those who track prefixes which keys were written, each
// prefix at once.
func (t *tracking) broadcast(keys [][]byte, by *Session) {
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
			if !(s.track.noLoop && s == by) {
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

// tellLocked sends a session, or the one that it redirects to, the keys that
// it must not use any more; nil: all keys.
func (t *tracking) tellLocked(s *Session, keys [][]byte) {
	to := s
	if id := s.track.redirect; id != 0 {
		if to = s.srv.clients.find(id); to == nil {
			t.brokenLocked(s)
			return
		}
	}
	w := resp.Writer{Proto: to.protocol()}
	switch {
	case w.Proto == 3:
		w.Push(2)
		w.BulkString("invalidate")
	case to != s && to.subs.total() > 0:
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

// brokenLocked tells a session that nobody is there any more to whom it
// redirects.
func (t *tracking) brokenLocked(s *Session) {
	s.track.broken = true
	if s.protocol() != 3 {
		return
	}
	w := resp.Writer{Proto: 3}
	w.Push(2)
	w.BulkString("tracking-redir-broken")
	w.Int(s.track.redirect)
	s.Push(w.Buf)
}

// shown is what CLIENT LIST shows: flags, and the client that is
// redirected to, -1 without tracking.
func (t *tracking) shown(s *Session) (flags string, redirect int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.track.on {
		return "", -1
	}
	flags = "t"
	if s.track.broken {
		flags += "R"
	}
	if s.track.bcast {
		flags += "B"
	}
	return flags, s.track.redirect
}

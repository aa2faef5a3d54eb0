// Package tracking tells clients when keys change of which they keep copies.
//
// A [Table] knows who keeps what: clients that track what they read are found
// by the key, those that track prefixes by the prefix. A [Client] belongs to
// one session. One that has copies from an earlier connection says as of when
// they are good, see [Client.Since], and is told of what has changed since.
package tracking

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/schema"
)

// maxPrefixes bounds what one client tracks by prefix.
const maxPrefixes = 1 << 10

// Table knows which clients keep copies of which keys, and tells them when
// those change. It is safe for concurrent use.
//
// A key is remembered for a client when it reads it, and forgotten when it was
// told. Keys have no database here, as in Redis. A client that has gone is
// found out later: its id is in the lists until they are used or grow.
type Table struct {
	active  *atomic.Int64 // clients that track; 0: writes note nothing
	MaxKeys atomic.Int64  // tracking-table-max-keys; 0: any number
	byNames atomic.Int64  // prefixes that are tracked; 0: nothing is broadcast
	told    atomic.Int64  // see Told

	mu       sync.Mutex
	clients  map[int64]*Client // those that track, by id
	readers  readers
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
	t.readers.init()
	t.prefixes = map[string][]*Client{}
}

// Client is a client that may track.
type Client struct {
	id    int64                 // younger clients have larger ones, and none is used again
	to    pubsub.Listener       // the client
	began schema.Timestamp      // the newest commit when it began
	looks bool                  // after it had begun, it waited for the commits under way
	since atomic.Pointer[since] // nil: it has no copies from before it tracked

	// pending are keys of its own writes that it is not told of yet, each element
	// a message; see TellOwn. It belongs to who tells of these writes.
	pending [][][]byte

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
	return len(t.clients), t.readers.keys, t.readers.items, len(t.prefixes)
}

// Bytes is about how much memory the names of keys and their readers take.
func (t *Table) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readers.bytes()
}

// Start makes a client track, with what it has asked for added to what it
// tracks already. newest is the last commit that is known to have been made
// before. looks says that the client reads nothing before all commits are made
// that were under way: see Missed. Copies from an earlier connection that it has
// not named it has no more.
func (t *Table) Start(s *Client, want State, newest schema.Timestamp, looks bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := &s.State
	s.since.Store(nil) // see Resume
	if !state.On {
		s.began, s.looks = newest, looks
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
	t.byNames.Store(int64(len(t.prefixes)))
	want.On, want.Prefixes, want.Caching = true, kept, state.Caching
	*state = want
}

// Stop ends a client's tracking, if it does. What it has read is forgotten
// with the last client that tracks, or bit by bit.
func (t *Table) Stop(s *Client) {
	s.since.Store(nil)
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
	t.byNames.Store(int64(len(t.prefixes)))
	s.State = State{}
	delete(t.clients, s.id)
	if len(t.clients) == 0 {
		t.readers.reset()
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
	t.readers.add(key, s.id, t.thereLocked)
	if since := s.since.Load(); since != nil && since.all && !since.knows(key) {
		t.flushLocked(s, nil)
	}
	t.evictLocked()
}

func (t *Table) thereLocked(id int64) bool { return t.clients[id] != nil }

// evictLocked forgets keys beyond the limit, and so their readers are told.
func (t *Table) evictLocked() {
	limit := t.MaxKeys.Load()
	for limit > 0 && int64(t.readers.keys) > limit {
		t.invalidateLocked(t.readers.any(), nil)
	}
}

// Evict forgets keys beyond a limit that has changed.
func (t *Table) Evict() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.evictLocked()
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

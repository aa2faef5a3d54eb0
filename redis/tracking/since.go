package tracking

import (
	"slices"

	"github.com/firndb/firn/schema"
)

// maxKnown bounds the memory that a client takes with copies from an earlier
// connection: names of keys that have changed since. It is told that no copy is
// good when there are more.
const maxKnown = 4 << 20

// knownBytes is what a name takes in a map beside its bytes.
const knownBytes = 48

// since is what is known of a client's copies from an earlier connection. The
// client is told of a key, if that has changed, when it names it first: it has
// named what is remembered for it, and what it was told of. If it tracked before
// it said that it has copies, it may have named what is remembered before that;
// so then all that it names is known.
type since struct {
	ts    schema.Timestamp // as of when the copies are good
	db    int              // of which database they are
	all   bool             // known has all that was named
	known map[string]struct{}
	bytes int
}

// knows notes that the client was told of a key; false if there are too many.
func (s *since) knows(key []byte) bool {
	if _, ok := s.known[string(key)]; !ok {
		s.known[string(key)] = struct{}{}
		s.bytes += len(key) + knownBytes
	}
	return s.bytes <= maxKnown
}

// Resume says that the client, which tracks what it reads, has copies of keys
// of a database that were good as of ts. tracked says that it did so before.
func (t *Table) Resume(s *Client, ts schema.Timestamp, db int, tracked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.since.Store(&since{ts: ts, db: db, all: tracked, known: map[string]struct{}{}})
}

// Since is as of when the client's copies of keys that it has not named yet are
// good; false if it has none.
func (t *Client) Since() (ts schema.Timestamp, ok bool) {
	s := t.since.Load()
	if s == nil {
		return 0, false
	}
	return s.ts, true
}

// Names says whether a client that has copies from an earlier connection names
// a key for the first time.
func (t *Table) Names(s *Client, key []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := s.since.Load()
	if since == nil {
		return false
	}
	if _, told := since.known[string(key)]; told || since.all {
		return !told
	}
	_, remembered := slices.BinarySearch(t.readers.of(key), s.id)
	return !remembered
}

// Leaves says whether the client leaves copies from an earlier connection when it
// goes to a database: copies are known by the key alone, so these are not good in
// another one.
func (t *Client) Leaves(db int) bool {
	s := t.since.Load()
	return s != nil && s.db != db
}

// Tell tells a client that keys have changed while it was away; none: all may
// have. What it returns the client is to be sent before anything else; what it
// redirects is sent.
func (t *Table) Tell(s *Client, keys ...[]byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if keys == nil {
		s.since.Store(nil)
	}
	return t.sendLocked(s, keys)
}

// Told notes that everybody has been told of all commits up to ts. Those who
// call it are in the order of commits.
func (t *Table) Told(ts schema.Timestamp) {
	if t.active.Load() != 0 && int64(ts) > t.told.Load() {
		t.told.Store(int64(ts))
	}
}

// Good is a moment as of which all copies of a client are good that has heard
// all that it was told up to now: it was told of what was committed before,
// or it has read that.
func (t *Table) Good(s *Client) schema.Timestamp {
	if ts, ok := s.Since(); ok {
		return ts // of some it is not known yet
	}
	return max(schema.Timestamp(t.told.Load()), s.began)
}

package journal

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/schema"
)

// Group is what the writer has committed together: the commits of (After, Last]
// with their rows and index entries, both in the order of timestamps. It is
// immutable and shared.
//
// Entries may have more than came of a commit, of a key that came and went in
// one transaction, but never less.
type Group struct {
	After, Last schema.Timestamp
	Rows        []*schema.Row
	Entries     []schema.Entry
}

// What a row and an entry take in a ring beside their ids, keys and values: a
// schema.Row and a pointer to it, a schema.Entry, and of a group its own.
const (
	rowBytes   = 104
	entryBytes = 56
	groupBytes = 64
)

// bytes is what a group takes. Ids and keys are mostly shared with rows.
func (g *Group) bytes() int64 {
	n := int64(groupBytes + rowBytes*len(g.Rows) + entryBytes*len(g.Entries))
	for _, row := range g.Rows {
		n += int64(len(row.ID) + len(row.Value))
	}
	for i := range g.Entries {
		n += int64(len(g.Entries[i].Key))
	}
	return n
}

// ringLinger is for how long a ring is filled after somebody has asked for what
// it has, or has ceased to follow: whoever polls, or connects again, finds it.
const ringLinger = 10 * time.Second

// Ring is the newest commits, as many as fit into its bytes, in memory. It is
// filled only while somebody follows: a publication costs an atomic load
// otherwise. Rows are not copied. The zero Ring is not valid; newRing makes
// one.
//
//   - It has every commit of (after, last], where last is that of the newest
//     group. It says nothing about others: whoever needs them reads the log.
//   - Publish is called by one goroutine, in the order of commits, once views
//     see them. So whoever finds a commit here finds it in a snapshot, too.
//   - Nobody is waited for. What does not fit pushes out what is oldest, and a
//     group that is larger than the ring everything.
type Ring struct {
	limit  int64 // bytes
	newest func() schema.Timestamp

	active atomic.Bool // it is filled
	wake   chan struct{}

	mu        sync.Mutex
	followers int
	until     time.Time // it is filled until then at least
	groups    []Group   // the oldest first
	first     int       // groups before it were pushed out
	size      int64
	after     schema.Timestamp // guarded like the rest by mu
	last      schema.Timestamp // 0: it is not filled, or there was no commit at all
	held      int              // rows
	rows      []*schema.Row    // memory for groups
	entries   []schema.Entry

	waiting   waiting
	everybody atomic.Bool // all who wait are to be called
}

func newRing(limit int64, newest func() schema.Timestamp) *Ring {
	return &Ring{limit: limit, newest: newest, wake: make(chan struct{}, 1)} // one wake is as good as many
}

// Publish adds what was committed together and is visible now, and before which
// the newest commit was before. Rows and entries are lent until it returns,
// what they point to is immutable.
func (r *Ring) Publish(before schema.Timestamp, rows []*schema.Row, entries []schema.Entry) {
	if len(rows) == 0 || !r.active.Load() {
		return
	}
	if r.publish(before, rows, entries) && r.waiting.any() {
		r.wakeUp()
	}
}

// publish is Publish where the ring is filled; false if it is no more.
func (r *Ring) publish(before schema.Timestamp, rows []*schema.Row, entries []schema.Entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.followers == 0 && !r.waiting.any() && time.Now().After(r.until) {
		r.deactivate()
		return false
	}
	r.push(Group{After: before, Last: rows[len(rows)-1].TS, Rows: rows, Entries: entries})
	return true
}

// push takes a group, and lets go of the oldest.
func (r *Ring) push(g Group) {
	if r.last != g.After {
		r.clear()
		r.after = g.After
	}
	r.last = g.Last
	size := g.bytes()
	for r.first < len(r.groups) && r.size+size > r.limit {
		r.dropFirst()
	}
	if r.size+size > r.limit {
		r.after = g.Last
		return
	}
	g.Rows, r.rows = kept(g.Rows, r.rows)
	g.Entries, r.entries = kept(g.Entries, r.entries)
	r.groups = append(r.groups, g)
	r.size += size
	r.held += len(g.Rows)
}

// keptTogether is how many rows, or entries, of small groups are in one piece of
// memory, which is let go with the last of them.
const keptTogether = 64

// kept copies a slice to the end of a piece of memory, or of a new one.
func kept[T any](list, room []T) (own, left []T) {
	if len(list) > cap(room)-len(room) {
		if len(list) > keptTogether/4 {
			return slices.Clone(list), room
		}
		room = make([]T, 0, keptTogether)
	}
	from := len(room)
	room = append(room, list...)
	return room[from:len(room):len(room)], room
}

func (r *Ring) dropFirst() {
	g := &r.groups[r.first]
	r.size -= g.bytes()
	r.held -= len(g.Rows)
	r.after = g.Last
	*g = Group{}
	if r.first++; r.first > len(r.groups)/2 {
		r.groups = slices.Delete(r.groups, 0, r.first)
		r.first = 0
	}
}

func (r *Ring) clear() {
	r.groups, r.rows, r.entries = nil, nil, nil
	r.first, r.size, r.held, r.after, r.last = 0, 0, 0, 0, 0
}

// deactivate ends the filling.
func (r *Ring) deactivate() {
	r.active.Store(false)
	r.clear()
}

// fillLocked has the ring filled from now on. What is published meanwhile is in
// the ring, or was visible before: whoever asks for the newest commit after this
// knows of one that is not in the ring. The caller holds mu.
func (r *Ring) fillLocked() {
	r.until = time.Now().Add(ringLinger)
	if r.active.Swap(true) {
		return
	}
	r.clear()
	r.last = r.newest() // what is published meanwhile is pushed, or was visible before
	r.after = r.last
}

// follow has the ring filled for one follower more, or fewer.
func (r *Ring) follow(more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers += more
	r.fillLocked()
}

// Groups appends the groups that have anything after a moment, in order, until
// they have so many rows; ok is false if the ring does not reach back so far,
// and then nothing was appended. The first group may have begun before the
// moment.
func (r *Ring) Groups(dst []Group, after schema.Timestamp, rows int) (groups []Group, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fillLocked()
	if !r.reaches(after) {
		return dst, false
	}
	held := r.groups[r.first:]
	at := sort.Search(len(held), func(i int) bool { return held[i].Last > after })
	for ; at < len(held) && rows > 0; at++ {
		dst = append(dst, held[at])
		rows -= len(held[at].Rows)
	}
	return dst, true
}

// reaches says that everything after a moment is here. The caller holds mu.
func (r *Ring) reaches(after schema.Timestamp) bool { return r.last != 0 && after >= r.after }

// ahead is the newest commit that somebody who stands at a moment is to be told
// of. Where the ring knows, what it has: a commit that is visible and not here
// yet will be.
func (r *Ring) ahead(after schema.Timestamp) schema.Timestamp {
	if r.reaches(after) {
		return r.last
	}
	return r.newest()
}

// Size is what a ring holds.
type Size struct {
	Rows, Followers int
	Bytes           int64
}

// Size is what the ring holds now.
func (r *Ring) Size() Size {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Size{Rows: r.held, Followers: r.followers, Bytes: r.size}
}

// run calls those who wait, until ctx ends.
func (r *Ring) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		r.callDue(r.everybody.Swap(false))
	}
}

// lags says that views see a commit that somebody who stands at a moment is to
// find here, and that is not here yet.
func (r *Ring) lags(after schema.Timestamp) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reaches(after) && r.last < r.newest()
}

// beyond says whether there is a commit after a moment, as far as followers are
// to know. The ring is filled from then on.
func (r *Ring) beyond(after schema.Timestamp) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fillLocked()
	return r.ahead(after) > after
}

package keyspace

import (
	"math/rand/v2"
	"sync"
)

// Bounds of cursors. A scan that is going on needs one entry, so the first is
// the number of scans that can go on at the same time.
const (
	maxCursors     = 1 << 14
	maxCursorBytes = 16 << 20
)

// cursors remembers where scans stand. A scan goes in key order and stands
// behind a key, but a client holds only a number between two calls, so the
// number is drawn at random and the position kept here.
//
// Entries are forgotten oldest first when there are more than maxCursors, or
// their positions take more than maxCursorBytes. A scan whose cursor is
// forgotten, also because the server has started again, begins anew: it may
// see elements again, and still misses none that stay. The zero cursors is
// ready for use; it is safe for concurrent use.
type cursors struct {
	mu        sync.Mutex
	positions map[uint64]string
	order     []uint64 // all keys of positions, oldest at head
	head      int
	bytes     int
}

// Put remembers a position, the id behind which a scan goes on, and returns
// its cursor, which is never 0.
func (t *cursors) Put(position string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.positions == nil {
		t.positions = make(map[uint64]string)
	}
	cursor := t.draw()
	t.positions[cursor] = position
	t.order = append(t.order, cursor)
	t.bytes += len(position)
	for len(t.positions) > maxCursors || t.bytes > maxCursorBytes && len(t.positions) > 1 {
		t.forgetOldest()
	}
	return cursor
}

// draw finds a free number. It stays below 2^48 so that clients that keep
// cursors as signed integers or as floats keep it exactly.
func (t *cursors) draw() uint64 {
	for {
		cursor := rand.Uint64N(1<<48-1) + 1
		if _, taken := t.positions[cursor]; !taken {
			return cursor
		}
	}
}

func (t *cursors) forgetOldest() {
	oldest := t.order[t.head]
	t.bytes -= len(t.positions[oldest])
	delete(t.positions, oldest)
	t.head++
	if t.head > len(t.order)/2 {
		t.order = append(t.order[:0], t.order[t.head:]...)
		t.head = 0
	}
}

// Position is where the scan with this cursor stands; "" is the beginning,
// also for a cursor that is not known.
func (t *cursors) Position(cursor uint64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.positions[cursor]
}

package reader

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// A scan asks each source for a first chunk of firstChunk entries, or of as many
// as it needs if they are fewer, and doubles it up to maxChunk: small ranges
// cost little, long ones few calls.
const (
	firstChunk = 16
	maxChunk   = 512
)

// cursor walks one source of index entries: a run of the tail, or the file.
type cursor struct {
	fill  func(dst []schema.Entry, r schema.KeyRange, limit int) ([]schema.Entry, schema.KeyRange, bool, error)
	chunk []schema.Entry
	pos   int
	rest  schema.KeyRange
	done  bool
	size  int
}

// peek is the entry under the cursor; ok is false at the end.
func (c *cursor) peek() (e schema.Entry, ok bool, err error) {
	for c.pos == len(c.chunk) {
		if c.done {
			return e, false, nil
		}
		c.chunk, c.rest, c.done, err = c.fill(c.chunk[:0], c.rest, c.size)
		if err != nil {
			return e, false, err
		}
		c.pos, c.size = 0, min(2*c.size, maxChunk)
	}
	return c.chunk[c.pos], true, nil
}

// merge walks several sources in key order. Where more than one has a key the
// first source, which is the newest, wins.
type merge struct {
	cursors []cursor
	reverse bool
}

func runCursor(run *index.Run, r schema.KeyRange, at schema.Timestamp, size int) cursor {
	return cursor{rest: r, size: size, fill: func(dst []schema.Entry, r schema.KeyRange, limit int) ([]schema.Entry, schema.KeyRange, bool, error) {
		entries, rest, done := run.Scan(dst, r, at, limit)
		return entries, rest, done, nil
	}}
}

// next is the next key's newest entry that is not deleted.
func (m *merge) next() (e schema.Entry, ok bool, err error) {
	for {
		e, ok, err = m.pop()
		if err != nil || !ok || !e.Deleted {
			return e, ok, err
		}
	}
}

// pop takes the first key off all sources that have it.
func (m *merge) pop() (best schema.Entry, ok bool, err error) {
	for i := range m.cursors {
		e, has, err := m.cursors[i].peek()
		if err != nil {
			return best, false, err
		}
		if has && (!ok || m.before(e.Key, best.Key)) {
			best, ok = e, true
		}
	}
	for i := range m.cursors {
		c := &m.cursors[i]
		if c.pos < len(c.chunk) && c.chunk[c.pos].Key == best.Key {
			c.pos++
		}
	}
	return best, ok, nil
}

func (m *merge) before(a, b string) bool {
	if m.reverse {
		return a > b
	}
	return a < b
}

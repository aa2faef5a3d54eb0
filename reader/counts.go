package reader

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// maxCountChanges is how many changes of counts are remembered, so that a
// view that is a little older than the newest commit gets its own count. It
// is a few groups' worth.
const maxCountChanges = 8192

// counts is the number of live documents per prefix as of the newest
// published transaction, and the changes that led there.
type counts struct {
	now     index.Counts
	changes []countChange // a ring; next is the oldest once it is full
	next    int
	since   schema.Timestamp // every change after it is in the ring
}

type countChange struct {
	ts     schema.Timestamp
	table  schema.TableID
	prefix string
	delta  int64
}

func newCounts(now index.Counts) counts {
	if now == nil {
		now = index.Counts{}
	}
	return counts{now: now}
}

// add records that the live documents of a prefix became more or fewer at ts.
func (c *counts) add(ts schema.Timestamp, t schema.TableID, prefix string, delta int64) {
	c.now.Add(t, prefix, delta)
	change := countChange{ts, t, prefix, delta}
	if len(c.changes) < maxCountChanges {
		c.changes = append(c.changes, change)
		return
	}
	c.since = c.changes[c.next].ts
	c.changes[c.next] = change
	c.next = (c.next + 1) % maxCountChanges
}

// at is the count as of at; ok is false if that is too long ago to tell.
func (c *counts) at(at schema.Timestamp, t schema.TableID, prefix string) (n int64, ok bool) {
	if at < c.since {
		return 0, false
	}
	n = c.now[t][prefix]
	for i := range c.changes {
		change := &c.changes[(c.next+len(c.changes)-1-i)%len(c.changes)]
		if change.ts <= at {
			break
		}
		if change.table == t && change.prefix == prefix {
			n -= change.delta
		}
	}
	return n, true
}

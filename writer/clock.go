package writer

import (
	"sync"
	"time"

	"github.com/firndb/firn/schema"
)

// Clock stamps transactions: with the wall clock while that moves forward,
// one microsecond after the last stamp when it does not.
type Clock struct {
	now func() time.Time

	mu   sync.Mutex
	last schema.Timestamp // no transaction to come is at or before it
	wall schema.Timestamp // as of the last look
}

// NewClock makes a clock that only stamps after last.
func NewClock(now func() time.Time, last schema.Timestamp) *Clock {
	return &Clock{now: now, last: last}
}

// look reads the wall clock, once for a whole group.
func (c *Clock) look() {
	wall := schema.TimestampOf(c.now())
	c.mu.Lock()
	c.wall = wall
	c.mu.Unlock()
}

// next is the timestamp of the next transaction.
func (c *Clock) next() schema.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.wall, c.last+1)
	return c.last
}

// Now is the present moment: the wall clock, but never before a stamp that
// was given out.
func (c *Clock) Now() schema.Timestamp {
	wall := schema.TimestampOf(c.now())
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(wall, c.last)
}

// Pass makes sure that no transaction to come is stamped at or before ts,
// which must not be later than Now.
func (c *Clock) Pass(ts schema.Timestamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, ts)
}

package storefile

import (
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// buildFences counts all ranges of a file whose indexes are complete, in one
// transaction.
func buildFences(app schema.Appender, s schema.Session, tables map[schema.TableID]*index.Table) error {
	return Transact(app, func(a schema.Appender) error {
		b := index.FenceBuilder{Tables: tables}
		var fences []schema.Fence
		var page []schema.Entry
		var after schema.Entry
		for {
			var err error
			if page, err = s.Entries(page[:0], after, checkPage); err != nil {
				return err
			}
			if len(page) == 0 {
				return a.SetFences(b.End(nil))
			}
			fences = fences[:0]
			for i := range page {
				fences = b.Add(fences, &page[i])
			}
			if err := a.SetFences(fences); err != nil {
				return err
			}
			after = page[len(page)-1]
		}
	})
}

// fenceChecker holds the counts of an index's fences against its entries,
// which it is shown in the order of the index.
type fenceChecker struct {
	fences  []schema.Fence // of the index at hand, those that are behind excepted
	prefix  string         // of the range that the first of them is in
	live    int64          // in the interval of the first
	changed schema.Timestamp
	key     schema.Entry // the newest entry of the key at hand
	seen    bool         // there is a key at hand
	problem func(format string, args ...any)
}

// begin takes the fences of the next index.
func (c *fenceChecker) begin(fences []schema.Fence) {
	c.fences, c.prefix, c.live, c.changed, c.seen = fences, "", 0, 0, false
	if len(fences) > 0 {
		c.prefix = fences[0].Key
	}
}

// entry takes the next entry of the index.
func (c *fenceChecker) entry(e *schema.Entry) {
	if c.seen && c.key.Key == e.Key {
		if c.key.Deleted != e.Deleted && c.within(e.Key) {
			c.changed = max(c.changed, e.TS)
		}
		c.key = *e
		return
	}
	c.endKey()
	for len(c.fences) > 1 && c.fences[1].Key <= e.Key {
		c.endInterval()
	}
	c.key, c.seen = *e, true
}

func (c *fenceChecker) within(key string) bool {
	return len(c.fences) > 0 && key >= c.fences[0].Key && strings.HasPrefix(key, c.prefix)
}

func (c *fenceChecker) endKey() {
	if c.seen && !c.key.Deleted && c.within(c.key.Key) {
		c.live++
	}
	c.seen = false
}

// end is called behind the last entry of the index.
func (c *fenceChecker) end() {
	c.endKey()
	for len(c.fences) > 0 {
		c.endInterval()
	}
}

// endInterval compares the first fence, and goes on to the next.
func (c *fenceChecker) endInterval() {
	f := c.fences[0]
	switch {
	case f.Live == schema.Uncounted:
	case f.Live != c.live:
		c.problem("index %d: the fence at %q counts %d keys, there are %d; firn reindex counts anew", f.Index, f.Key, f.Live, c.live)
	case f.TS < c.changed:
		c.problem("index %d: the fence at %q is of %d, and a key changed at %d; firn reindex counts anew", f.Index, f.Key, f.TS, c.changed)
	}
	c.fences, c.live, c.changed = c.fences[1:], 0, 0
	if len(c.fences) > 0 && !strings.HasPrefix(c.fences[0].Key, c.prefix) {
		c.prefix = c.fences[0].Key
	}
}

package index

import (
	"strings"

	"github.com/firndb/firn/schema"
)

// FenceBuilder makes the fences of whole indexes from all their entries, where
// these are walked anyway. The zero value has no tables; set Tables.
type FenceBuilder struct {
	Tables map[schema.TableID]*Table

	fencing
	open  bool            // range r is at hand
	r     schema.KeyRange // the range at hand
	c     cutter
	live  int64          // in the range
	key   schema.Entry   // the newest entry of the key at hand; TS is that of its last change
	early []schema.Fence // of the range, as long as it may be too small for fences
}

// Add takes the next entry, in the order of (index, key, ts), and appends the
// fences that are complete with it to dst.
func (b *FenceBuilder) Add(dst []schema.Fence, e *schema.Entry) []schema.Fence {
	if b.open && b.key.Index == e.Index && b.key.Key == e.Key {
		if b.key.Deleted != e.Deleted {
			b.key.Deleted, b.key.TS = e.Deleted, e.TS
		}
		return dst
	}
	if b.open {
		dst = b.endKey(dst)
		if e.Index != b.r.Index || !strings.HasPrefix(e.Key, b.r.From) {
			dst = b.endRange(dst)
		}
	}
	if !b.open {
		b.tables = b.Tables
		if b.r, b.open = b.rangeOf(e); !b.open {
			return dst
		}
		b.c = cutter{fence: schema.Fence{Index: b.r.Index, Key: b.r.From}}
	}
	b.key = *e
	return dst
}

// End appends what is left when there are no more entries.
func (b *FenceBuilder) End(dst []schema.Fence) []schema.Fence {
	if !b.open {
		return dst
	}
	return b.endRange(b.endKey(dst))
}

func (b *FenceBuilder) endKey(dst []schema.Fence) []schema.Fence {
	if !b.key.Deleted {
		b.live++
	}
	if full, ok := b.c.add(&b.key); ok {
		b.early = append(b.early, full)
	}
	if b.live > fencedKeys {
		dst = append(dst, b.early...)
		b.early = b.early[:0]
	}
	return dst
}

func (b *FenceBuilder) endRange(dst []schema.Fence) []schema.Fence {
	if b.live > fencedKeys {
		dst = append(dst, b.c.fence)
	}
	b.open, b.live, b.early = false, 0, b.early[:0]
	return dst
}

package reader

import (
	"sync"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// Ranks and counts in large ranges that the head does not hold: those of views
// of the past, and of the present where memory is short. The file's fences say
// how many keys most intervals have at the view's moment; only those that have
// changed since are walked, and the one that a rank lies in.

const (
	// walkFirst is how many keys are walked or skipped before fences are asked
	// for: reading those of a range costs as much as walking a few thousand
	// keys, and small ranges have none.
	walkFirst = 512

	// countFirst is the size from which a range, if that is known, is not
	// walked first.
	countFirst = 8 * walkFirst

	// maxCounted bounds what is remembered: the intervals of two ranges of 10⁷
	// keys, or of twenty of 10⁶; some 8 MB.
	maxCounted = 1 << 17
)

// countedRange is the intervals of a range, and how many keys each has at a
// moment. What is known of a moment never changes.
type countedRange struct {
	whole schema.KeyRange
	at    schema.Timestamp

	mu     sync.Mutex
	fences []schema.Fence // Live is Uncounted until the interval has been walked
}

// countedRanges are those that views have asked for last, the latest at the
// end: a view of a moment is mostly asked more than once.
type countedRanges struct {
	mu     sync.Mutex
	recent []*countedRange
	fences int // of all
}

// find is a range at a moment, nil if it is not remembered.
func (c *countedRanges) find(whole schema.KeyRange, at schema.Timestamp) *countedRange {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.recent {
		if r.whole == whole && r.at == at {
			c.recent = append(append(c.recent[:i], c.recent[i+1:]...), r)
			return r
		}
	}
	return nil
}

// add remembers a range, and forgets those that nobody has asked for longest.
func (c *countedRanges) add(r *countedRange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent, c.fences = append(c.recent, r), c.fences+len(r.fences)
	for len(c.recent) > 1 && c.fences > maxCounted {
		c.fences -= len(c.recent[0].fences)
		c.recent = append(c.recent[:0], c.recent[1:]...)
	}
}

// open is the intervals of a whole range as they are at a moment; nil if it has
// none. lasting says that the moment can be asked for again.
func (c *countedRanges) open(in source, whole schema.KeyRange, at schema.Timestamp, lasting bool) (*counting, error) {
	r := (*countedRange)(nil)
	if lasting {
		r = c.find(whole, at)
	}
	if r == nil {
		fences, err := index.FencesAt(nil, in.s, in.runs, whole, at)
		if err != nil || len(fences) == 0 {
			return nil, err
		}
		if r = (&countedRange{whole: whole, at: at, fences: fences}); lasting {
			c.add(r)
		}
	}
	merged, err := index.ReadMerged(in.s)
	return &counting{r, in, merged}, err
}

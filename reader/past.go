package reader

import (
	"slices"
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
// none. s has a read transaction, which began after the runs were taken. lasting
// says that the moment can be asked for again.
func (c *countedRanges) open(s schema.Session, runs index.Runs, whole schema.KeyRange, at schema.Timestamp, lasting bool) (*counting, error) {
	r := (*countedRange)(nil)
	if lasting {
		r = c.find(whole, at)
	}
	if r == nil {
		fences, err := index.FencesAt(nil, s, runs, whole, at)
		if err != nil || len(fences) == 0 {
			return nil, err
		}
		if r = (&countedRange{whole: whole, at: at, fences: fences}); lasting {
			c.add(r)
		}
	}
	merged, err := index.ReadMerged(s)
	return &counting{r, s, runs, merged}, err
}

// A counting is a countedRange as one view uses it.
type counting struct {
	*countedRange
	s      schema.Session
	runs   index.Runs
	merged index.Merged // by what s sees
}

// end is where the i-th interval ends.
func (r *countedRange) end(i int) string {
	if i+1 < len(r.fences) {
		return r.fences[i+1].Key
	}
	return r.whole.To
}

// sum adds up the keys of the first n intervals, until enough says that it is,
// and returns the place of the interval at hand then.
func (c *counting) sum(n int, enough func(sum, live int) bool) (sum, i int, err error) {
	for i < n {
		c.mu.Lock()
		for i < n && c.fences[i].Live != schema.Uncounted {
			live := int(c.fences[i].Live)
			if enough(sum, live) {
				c.mu.Unlock()
				return sum, i, nil
			}
			sum += live
			i++
		}
		unknown := i
		for unknown < min(n, i+walkTogether) && c.fences[unknown].Live == schema.Uncounted {
			unknown++
		}
		walked := slices.Clone(c.fences[i:unknown])
		c.mu.Unlock()
		if err := c.walk(walked, i); err != nil {
			return 0, 0, err
		}
	}
	return sum, n, nil
}

// walkTogether is how many intervals that have changed are walked at once,
// where they are neighbours. That costs less than one by one.
const walkTogether = 64

// walk counts intervals of which the first is the i-th.
func (c *counting) walk(intervals []schema.Fence, i int) error {
	if len(intervals) == 0 {
		return nil
	}
	if err := index.CountAt(intervals, c.end(i+len(intervals)-1), c.s, c.runs, &c.merged, c.at); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for j := range intervals {
		c.fences[i+j].Live = intervals[j].Live
	}
	return nil
}

// rank is how many keys of the range come before key; the range's end has all
// before it.
func (c *counting) rank(key string) (int, error) {
	all := func(int, int) bool { return false }
	if key == c.end(len(c.fences)-1) {
		n, _, err := c.sum(len(c.fences), all)
		return n, err
	}
	last := index.FenceOf(c.fences, key)
	n, _, err := c.sum(last, all)
	if err != nil || key <= c.fences[last].Key {
		return n, err
	}
	part := []schema.Fence{{Index: c.whole.Index, Key: c.fences[last].Key}}
	err = index.CountAt(part, key, c.s, c.runs, &c.merged, c.at)
	return n + int(part[0].Live), err
}

// place is the interval that the key of a rank is in, and how many keys it has
// before that one and behind it; i is -1 if the range has not as many.
func (c *counting) place(rank int) (i, before, behind int, err error) {
	found := 0
	sum, i, err := c.sum(len(c.fences), func(sum, live int) bool {
		found = live
		return rank < sum+live
	})
	if err != nil || i == len(c.fences) {
		return -1, 0, 0, err
	}
	return i, rank - sum, found - 1 - (rank - sum), nil
}

// count is how many keys a part of the range has.
func (c *counting) count(part schema.KeyRange) (int, error) {
	from, err := c.rank(part.From)
	if err != nil {
		return 0, err
	}
	to, err := c.rank(part.To)
	return max(to-from, 0), err
}

// skip leaves out of a part of a range what lies before the interval that a
// walk of it comes to when it has passed n keys: rest is to be walked, and left
// keys of it to be passed. A walk that comes to the part's end has nothing left.
func (c *counting) skip(part schema.KeyRange, n int) (rest schema.KeyRange, left int, err error) {
	near := part.From
	if part.Reverse {
		near = part.To
	}
	rank, err := c.rank(near)
	if err != nil {
		return part, n, err
	}
	if part.Reverse {
		rank -= n + 1
	} else {
		rank += n
	}
	i, before, behind := -1, 0, 0
	if rank >= 0 {
		i, before, behind, err = c.place(rank)
	}
	switch {
	case err != nil:
		return part, n, err
	case i < 0:
		part.To = part.From
		return part, 0, nil
	case !part.Reverse && c.fences[i].Key > part.From:
		part.From, n = c.fences[i].Key, before
	case part.Reverse && c.end(i) < part.To:
		part.To, n = c.end(i), behind
	}
	return part, n, nil
}

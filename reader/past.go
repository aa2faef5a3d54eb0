package reader

import (
	"fmt"
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
	key rangeKey
	at  schema.Timestamp

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
func (c *countedRanges) find(k rangeKey, at schema.Timestamp) *countedRange {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.recent {
		if r.key == k && r.at == at {
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

// countedRange is the intervals of a range as the view sees it; nil if it has
// none.
func (v *View) countedRange(k rangeKey) (*countedRange, error) {
	whole := prefixRange(k.index, k.prefix)
	if k.prefix == "" || whole.To == "" {
		return nil, nil
	}
	if !v.tx {
		if r := v.head.counted.find(k, v.at); r != nil {
			return r, nil
		}
	}
	s, err := v.session()
	if err != nil {
		return nil, err
	}
	fences, err := index.FencesAt(nil, s, v.runs, whole, v.at)
	if err != nil || len(fences) == 0 {
		return nil, err
	}
	r := &countedRange{key: k, at: v.at, fences: fences}
	if !v.tx && v.head.budget > 0 {
		v.head.counted.add(r)
	}
	return r, nil
}

// interval is the i-th interval's keys.
func (r *countedRange) interval(i int) schema.KeyRange {
	whole := prefixRange(r.key.index, r.key.prefix)
	whole.From = r.fences[i].Key
	if i+1 < len(r.fences) {
		whole.To = r.fences[i+1].Key
	}
	return whole
}

// live is how many keys the i-th interval has.
func (r *countedRange) live(v *View, i int) (int, error) {
	r.mu.Lock()
	n := r.fences[i].Live
	r.mu.Unlock()
	if n != schema.Uncounted {
		return int(n), nil
	}
	walked, err := v.walk(r.interval(i))
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	r.fences[i].Live = int64(walked)
	r.mu.Unlock()
	return walked, nil
}

// rank is how many keys of the range come before key.
func (r *countedRange) rank(v *View, key string) (n int, err error) {
	last := index.FenceOf(r.fences, key)
	for i := range last {
		live, err := r.live(v, i)
		if err != nil {
			return 0, err
		}
		n += live
	}
	in := r.interval(last)
	if in.To = min(in.To, key); in.To <= in.From {
		return n, nil
	}
	walked, err := v.walk(in)
	return n + walked, err
}

// bounds is the ranks of the first key of a part of the range, and of the first
// one behind it.
func (r *countedRange) bounds(v *View, part schema.KeyRange) (from, to int, err error) {
	if part.From > r.key.prefix {
		if from, err = r.rank(v, part.From); err != nil {
			return 0, 0, err
		}
	}
	whole := prefixRange(r.key.index, r.key.prefix)
	if part.To != whole.To {
		to, err = r.rank(v, part.To)
		return from, max(to, from), err
	}
	for i := range r.fences {
		live, err := r.live(v, i)
		if err != nil {
			return 0, 0, err
		}
		to += live
	}
	return from, max(to, from), nil
}

// walk counts the keys of a range in tail and file.
func (v *View) walk(r schema.KeyRange) (int, error) {
	m := v.sources(r, maxChunk)
	for n := 0; ; n++ {
		if _, ok, err := m.next(); err != nil || !ok {
			return n, err
		}
	}
}

// countFenced counts a part of a range with the help of its fences; ok is false
// if it has none.
func (v *View) countFenced(k rangeKey, part schema.KeyRange) (n int, ok bool, err error) {
	r, err := v.countedRange(k)
	if r == nil || err != nil {
		return 0, false, err
	}
	from, to, err := r.bounds(v, part)
	return to - from, true, err
}

// skip leaves out of a part of a range what lies before the interval that a
// walk of it comes to when it has passed n keys: rest is to be walked, and left
// keys of it to be passed. A walk that comes to the part's end has nothing left.
func (v *View) skip(k rangeKey, part schema.KeyRange, n int) (rest schema.KeyRange, left int, err error) {
	if n < walkFirst {
		return part, n, nil
	}
	r, err := v.countedRange(k)
	if r == nil || err != nil {
		return part, n, err
	}
	if part.Reverse {
		return r.skipBack(v, part, n)
	}
	rank := 0
	if part.From > k.prefix {
		if rank, err = r.rank(v, part.From); err != nil {
			return part, n, err
		}
	}
	rank += n
	for i := range r.fences {
		live, err := r.live(v, i)
		if err != nil {
			return part, n, err
		}
		if rank < live {
			if from := r.fences[i].Key; from > part.From {
				part.From, n = from, rank
			}
			return part, n, nil
		}
		rank -= live
	}
	part.From = part.To
	return part, 0, nil
}

// skipBack is skip for a walk from the end: what comes before is found by rank,
// and n counts from the end of the part.
func (r *countedRange) skipBack(v *View, part schema.KeyRange, n int) (rest schema.KeyRange, left int, err error) {
	from, to, err := r.bounds(v, schema.KeyRange{Index: part.Index, From: r.key.prefix, To: part.To})
	if err != nil {
		return part, n, err
	}
	rank := to - from - 1 - n
	if rank < 0 {
		part.To = part.From
		return part, 0, nil
	}
	for i := range r.fences {
		live, err := r.live(v, i)
		if err != nil {
			return part, n, err
		}
		if rank < live {
			if end := r.interval(i).To; end < part.To {
				part.To, n = end, live-1-rank
			}
			return part, n, nil
		}
		rank -= live
	}
	return part, n, fmt.Errorf("%w: a range of index %d has no key of rank %d", schema.ErrCorrupt, part.Index, rank)
}

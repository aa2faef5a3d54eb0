package reader

import (
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// A counting is a countedRange as one view uses it. It walks an interval that
// has changed only if a question cannot be answered without it.
type counting struct {
	*countedRange
	source
	merged index.Merged // by what s sees
}

// source is where a view reads, and where it may borrow more sessions. s has a
// read transaction, which began after the runs were taken.
type source struct {
	s    schema.Session
	runs index.Runs
	more sessions
}

// end is where the i-th interval ends.
func (r *countedRange) end(i int) string {
	if i+1 < len(r.fences) {
		return r.fences[i+1].Key
	}
	return r.whole.To
}

// unknown is how many of the intervals from i up to to have to be walked.
func (r *countedRange) unknown(i, to int) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; i < to; i++ {
		if r.fences[i].Live == schema.Uncounted {
			n++
		}
	}
	return n
}

// Walks of many intervals.
const (
	// walkTogether is how many intervals that have changed are walked at once,
	// where they are neighbours. That costs less than one by one.
	walkTogether = 64

	// walkBeside is how many have to be walked for a second session to walk
	// half of them, so that a question about a large range has two processors:
	// some ten milliseconds' worth.
	walkBeside = 128
)

// sum is how many keys the intervals from i up to to have.
func (c *counting) sum(i, to int) (n int, err error) {
	if c.unknown(i, to) > walkBeside {
		err = c.walkBoth(i, to)
	} else {
		err = c.walkAll(i, to)
	}
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; i < to; i++ {
		n += int(c.fences[i].Live)
	}
	return n, nil
}

// walkBoth walks what has changed of the intervals from i up to to, half of it
// with a session of its own. That begins to read after the view has taken the
// runs, as the view's does.
func (c *counting) walkBoth(i, to int) error {
	half := i
	for left := c.unknown(i, to) / 2; left > 0; half++ {
		left -= c.unknown(half, half+1)
	}
	var both errgroup.Group
	both.Go(func() (err error) {
		s, err := c.more.take()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, endReading(c.more, s)) }()
		if err := s.Begin(); err != nil {
			return err
		}
		merged, err := index.ReadMerged(s)
		if err != nil {
			return err
		}
		return (&counting{c.countedRange, source{s, c.runs, c.more}, merged}).walkAll(half, to)
	})
	err := c.walkAll(i, half)
	return errors.Join(err, both.Wait())
}

// walkAll walks what has changed of the intervals from i up to to.
func (c *counting) walkAll(i, to int) error {
	for i < to {
		next, err := c.walkFrom(i, to)
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// walkFrom walks the first intervals from i up to to that have changed, and
// returns where it has come.
func (c *counting) walkFrom(i, to int) (next int, err error) {
	c.mu.Lock()
	for i < to && c.fences[i].Live != schema.Uncounted {
		i++
	}
	next = i
	for next < min(to, i+walkTogether) && c.fences[next].Live == schema.Uncounted {
		next++
	}
	walked := slices.Clone(c.fences[i:next])
	c.mu.Unlock()
	if len(walked) == 0 {
		return next, nil
	}
	if err := index.CountAt(walked, c.end(next-1), c.s, c.runs, &c.merged, c.at); err != nil {
		return next, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for j := range walked {
		c.fences[i+j].Live = walked[j].Live
	}
	return next, nil
}

// live is how many keys the i-th interval has. If it has to be walked, so are
// its neighbours up to to that have changed, on that side.
func (c *counting) live(i, to int) (int, error) {
	c.mu.Lock()
	n := c.fences[i].Live
	c.mu.Unlock()
	if n != schema.Uncounted {
		return int(n), nil
	}
	if to > i {
		_, err := c.walkFrom(i, to)
		return c.counted(i), err
	}
	first := i
	for first > max(to, i+1-walkTogether) && c.unknown(first-1, first) > 0 {
		first--
	}
	err := c.walkAll(first, i+1)
	return c.counted(i), err
}

// counted is what is known of the i-th interval.
func (c *counting) counted(i int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.fences[i].Live)
}

// part is how many keys there are between two places of one interval.
func (c *counting) part(from, to string) (int, error) {
	if from >= to {
		return 0, nil
	}
	part := []schema.Fence{{Index: c.whole.Index, Key: from}}
	err := index.CountAt(part, to, c.s, c.runs, &c.merged, c.at)
	return int(part[0].Live), err
}

// stretch is a part of the range: keys of one interval, intervals, and keys of
// another interval.
type stretch struct {
	head, tail schema.KeyRange // either may be empty
	from, to   int             // intervals, whole ones
}

func (c *counting) stretch(part schema.KeyRange) stretch {
	s := stretch{from: index.FenceOf(c.fences, part.From), to: index.FenceOf(c.fences, part.To)}
	if part.To == c.whole.To {
		s.to = len(c.fences)
	}
	if begin := c.fences[s.from].Key; part.From > begin {
		s.head = schema.KeyRange{From: part.From, To: min(c.end(s.from), part.To)}
		if s.from++; s.from > s.to {
			s.to = s.from
			return s
		}
	}
	if s.to < len(c.fences) {
		s.tail = schema.KeyRange{From: c.fences[s.to].Key, To: part.To}
	}
	return s
}

// count is how many keys a part of the range has. all is how many the range has,
// if that is known; then the keys before and behind the part may be counted.
func (c *counting) count(part schema.KeyRange, all int) (int, error) {
	if part.From >= part.To {
		return 0, nil
	}
	in := c.stretch(part)
	if n := len(c.fences); all > 0 && c.unknown(in.from, in.to) > c.unknown(0, in.from)+c.unknown(in.to, n)+2 {
		before, behind := c.whole, c.whole
		before.To, behind.From = part.From, part.To
		out, err := c.count(before, 0)
		if err != nil {
			return 0, err
		}
		more, err := c.count(behind, 0)
		return all - out - more, err
	}
	head, err := c.part(in.head.From, in.head.To)
	if err != nil {
		return 0, err
	}
	tail, err := c.part(in.tail.From, in.tail.To)
	if err != nil {
		return 0, err
	}
	n, err := c.sum(in.from, in.to)
	return head + n + tail, err
}

// skip leaves out of a part of a range what lies before the interval that a
// walk of it comes to when it has passed n keys: rest is to be walked, and left
// keys of it to be passed. A walk that comes to the part's end has nothing left.
func (c *counting) skip(part schema.KeyRange, n int) (rest schema.KeyRange, left int, err error) {
	if part.From >= part.To {
		return part, n, nil
	}
	if part.Reverse {
		return c.skipBack(part, n)
	}
	in := c.stretch(part)
	head, err := c.part(in.head.From, in.head.To)
	if err != nil || n < head {
		return part, n, err
	}
	n -= head
	for i := in.from; i < len(c.fences) && c.fences[i].Key < part.To; i++ {
		live, err := c.live(i, max(in.to, i+1))
		if err != nil {
			return part, n, err
		}
		if n < live {
			part.From = max(part.From, c.fences[i].Key)
			return part, n, nil
		}
		n -= live
	}
	part.To = part.From
	return part, 0, nil
}

// skipBack is skip for a walk down.
func (c *counting) skipBack(part schema.KeyRange, n int) (rest schema.KeyRange, left int, err error) {
	in := c.stretch(part)
	tail, err := c.part(in.tail.From, in.tail.To)
	if err != nil || n < tail {
		return part, n, err
	}
	n -= tail
	for i := in.to - 1; i >= 0 && c.end(i) > part.From; i-- {
		live, err := c.live(i, min(in.from, i))
		if err != nil {
			return part, n, err
		}
		if n < live {
			part.To = min(part.To, c.end(i))
			return part, n, nil
		}
		n -= live
	}
	part.To = part.From
	return part, 0, nil
}

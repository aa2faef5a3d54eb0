package index

import (
	"sort"

	"github.com/firndb/firn/schema"
)

// FencesAt appends the fences of an ordered range as they are at a moment: Live
// is how many keys of the interval lead somewhere then, and TS since when it is
// so many, or a later moment up to then. Live is Uncounted where that cannot be
// told without walking the interval, because it has changed since then, or was
// never counted. Nothing is appended for a range that has no fences.
//
// s is in a read transaction that began after the runs were taken, and
// everything up to at is committed.
func FencesAt(dst []schema.Fence, s schema.Session, runs Runs, r schema.KeyRange, at schema.Timestamp) ([]schema.Fence, error) {
	start := len(dst)
	dst, err := s.Fences(dst, r, "", 0)
	if err != nil || len(dst) == start {
		return dst, err
	}
	fences := dst[start:]
	if fences[0].Key != r.From {
		return dst[:start], nil // of a range that was declared in another way
	}
	merged, err := ReadMerged(s)
	if err != nil {
		return dst[:start], err
	}
	for i := range fences {
		if fences[i].TS > at {
			fences[i].Live = schema.Uncounted
		}
	}
	runs.addTo(fences, r, at, &merged)
	return dst, nil
}

// CountAt counts the keys of intervals that follow one another, up to the key
// to, as they are at a moment. s and runs are as in FencesAt, and merged is what
// s says is merged.
func CountAt(fences []schema.Fence, to string, s schema.Session, runs Runs, merged *Merged, at schema.Timestamp) error {
	for i := range fences {
		fences[i].Live = 0
	}
	if err := s.Tally(fences, to, at); err != nil {
		return err
	}
	kr := schema.KeyRange{Index: fences[0].Index, From: fences[0].Key, To: to}
	runs.addTo(fences, kr, at, merged)
	return nil
}

// addTo adds to the counts of a range's fences what the tail's entries up to at
// change that are not in the file: the oldest first, so that no count is less
// than 0, which would look like Uncounted, behind any part.
func (r Runs) addTo(fences []schema.Fence, kr schema.KeyRange, at schema.Timestamp, merged *Merged) {
	for _, run := range []*Run{r.Frozen, r.Active} {
		if run != nil {
			run.addTo(fences, kr, at, merged)
		}
	}
}

// addTo adds to the counts of a range's fences what the run's entries up to at
// change that are not in the file.
func (r *Run) addTo(fences []schema.Fence, kr schema.KeyRange, at schema.Timestamp, merged *Merged) {
	r.lockSorted(0)
	defer r.mu.RUnlock()
	for _, p := range r.parts() {
		r.slab.addTo(p, fences, kr, at, merged)
	}
}

// addTo is Run.addTo for a part. Keys are compared only to find where intervals
// begin.
func (s *slab) addTo(p part, fences []schema.Fence, kr schema.KeyRange, at schema.Timestamp, merged *Merged) {
	last := schema.Entry{Index: kr.Index, Key: kr.To, TS: -1}
	if kr.To == "" {
		last = schema.Entry{Index: kr.Index + 1, TS: -1}
	}
	pos, end := s.after(p, &schema.Entry{Index: kr.Index, Key: kr.From, TS: -1}), s.after(p, &last)
	written := make([]int, len(merged.Merging)) // how much of the part is in the file
	for i := range merged.Merging {
		written[i] = s.after(p, &merged.Merging[i].At)
	}
	for i := range fences {
		if pos == end {
			return
		}
		to := end
		if i+1 < len(fences) {
			to = pos + s.upTo(p[pos:end], &schema.Entry{Index: kr.Index, Key: fences[i+1].Key, TS: -1})
		}
		if fences[i].Live != schema.Uncounted {
			p.addChanges(&fences[i], pos, to, at, merged, written)
		}
		pos = to
	}
}

// addChanges adds to a fence what the records from from to to change up to at
// that are not in the file.
func (p part) addChanges(fence *schema.Fence, from, to int, at schema.Timestamp, merged *Merged, written []int) {
records:
	for i := from; i < to; i++ {
		r := &p[i]
		if !r.is(changesFlag) || r.ts > at || r.ts <= merged.Watermark {
			continue
		}
		for j, n := range written {
			if i < n && r.ts <= merged.Merging[j].UpTo {
				continue records
			}
		}
		fence.TS = max(fence.TS, r.ts)
		if r.is(deletedFlag) {
			fence.Live--
		} else {
			fence.Live++
		}
	}
}

// FenceOf is the place of the interval that a key is in, among the fences of its
// range.
func FenceOf(fences []schema.Fence, key string) int {
	return max(sort.Search(len(fences), func(i int) bool { return fences[i].Key > key })-1, 0)
}

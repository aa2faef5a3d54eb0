package index

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/firndb/firn/schema"
)

// Run is a set of entries, ordered by (index, key, ts).
//
// It is a small log-structured merge tree, because a run takes every write
// and is seldom read: the head answers for the present. What is inserted
// waits in recent, in no order. A full recent is sorted into a part; mergeParts
// parts of one level become one part of the next. So an insert costs about
// 0.2 µs instead of the 1.4 µs of a balanced tree of this size, most of which
// were cache misses, and a read searches at most some 2·mergeParts parts.
type Run struct {
	mu     sync.RWMutex
	recent []schema.Entry
	levels [][]part // by size: a part of level n has about maxRecent·mergePartsⁿ entries
	count  int
	bytes  int64

	filters []filter // of the parts of maxLevel, in their order
}

// part is sorted entries. No two parts of a run have an equal entry.
type part []schema.Entry

const (
	maxRecent  = 4096 // sorting so many takes about 0.3 ms
	mergeParts = 8    // merging so many parts of level 0 takes about 3 ms
	maxLevel   = 1    // parts of this level are not merged: that would take too long at once

	// maxUnsorted is how much of recent a point read looks through instead of
	// having it sorted first.
	maxUnsorted = 256

	// entryOverhead is what an entry costs beside the bytes of its key: the
	// Entry itself (48 bytes) in slices that have some room left.
	entryOverhead = 56
)

func newRun() *Run { return &Run{levels: make([][]part, maxLevel+1)} }

func compare(a, b schema.Entry) int {
	if a.Index != b.Index {
		return cmp.Compare(a.Index, b.Index)
	}
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return cmp.Compare(a.TS, b.TS)
}

// entryBytes counts a key once; by-id keys share their bytes with the row's
// id, but the row may be gone from memory before the entry is.
func entryBytes(e schema.Entry) int64 { return int64(len(e.Key) + len(e.ID) + entryOverhead) }

// insert adds entries. again says that their transaction may have inserted
// some of them before.
//
// In a declared index it may also have taken a key from one document and given
// it to another, in any order. Then two entries have the same index, key and
// ts, and the live one counts. The two together change whether the key leads
// anywhere if one of them does.
func (r *Run) insert(entries []schema.Entry, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recent)+len(entries) > maxRecent {
		r.settleLocked()
	}
	for _, e := range entries {
		if again || e.Index.Number() > 0 {
			if equal := r.equal(e); equal != nil {
				e.Changes = e.Changes != equal.Changes
				equal.Changes = e.Changes
				if !e.Deleted || equal.Deleted || equal.ID == e.ID {
					r.bytes += entryBytes(e) - entryBytes(*equal)
					*equal = e
				}
				continue
			}
		}
		r.bytes += entryBytes(e)
		r.count++
		r.recent = append(r.recent, e)
	}
}

// equal is the entry that equals one of the newest transaction's; nil if there
// is none. The entries of a transaction are neighbours until they are sorted.
func (r *Run) equal(e schema.Entry) *schema.Entry {
	i := len(r.recent) - 1
	for ; i >= 0 && r.recent[i].TS == e.TS; i-- {
		if compare(r.recent[i], e) == 0 {
			return &r.recent[i]
		}
	}
	if i >= 0 {
		return nil
	}
	if p, at := r.findSorted(e); p != nil {
		return &(*p)[at]
	}
	return nil
}

// findSorted is the part that has an equal entry, and its place there; nil if
// none has.
func (r *Run) findSorted(e schema.Entry) (p *part, at int) {
	for _, level := range r.levels {
		for i := range level {
			if at, ok := slices.BinarySearchFunc(level[i], e, compare); ok {
				return &level[i], at
			}
		}
	}
	return nil, 0
}

// remove takes entries out that are there, wherever they are: the last first,
// because that is where a transaction's entries are looked for.
func (r *Run) remove(entries []schema.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range slices.Backward(entries) {
		if r.removeRecent(e) || r.removeSorted(e) {
			r.count--
		}
	}
}

// removeRecent looks from the end, where a transaction's own entries are.
func (r *Run) removeRecent(e schema.Entry) bool {
	for i := len(r.recent) - 1; i >= 0; i-- {
		if compare(r.recent[i], e) == 0 {
			r.bytes -= entryBytes(r.recent[i])
			r.recent = slices.Delete(r.recent, i, i+1)
			return true
		}
	}
	return false
}

func (r *Run) removeSorted(e schema.Entry) bool {
	p, at := r.findSorted(e)
	if p == nil {
		return false
	}
	r.bytes -= entryBytes((*p)[at])
	*p = slices.Delete(*p, at, at+1)
	return true
}

// settleLocked sorts recent into a part: into the last one of level 0 while
// that is small, into one of its own otherwise.
func (r *Run) settleLocked() {
	if len(r.recent) == 0 {
		return
	}
	sorted := part(slices.Clone(r.recent))
	clear(r.recent)
	r.recent = r.recent[:0]
	sortEntries(sorted)
	level := r.levels[0]
	if n := len(level); n > 0 && len(level[n-1])+len(sorted) <= maxRecent {
		level[n-1] = mergeTwo(level[n-1], sorted)
		return
	}
	r.levels[0] = append(level, sorted)
	for n := 0; n < maxLevel && len(r.levels[n]) >= mergeParts; n++ {
		merged := mergeOf(r.levels[n])
		r.levels[n+1] = append(r.levels[n+1], merged)
		r.levels[n] = nil
		if n+1 == maxLevel {
			r.filters = append(r.filters, newFilter(merged))
		}
	}
}

// mergeTwo is the entries of two parts in one. It walks them: both are sorted,
// and one is mostly a few entries that a reader wanted to see in order.
func mergeTwo(a, b part) part {
	merged := make(part, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		n := a.upTo(b[0])
		merged = append(merged, a[:n]...)
		a, b = b, a[n:]
	}
	return append(append(merged, a...), b...)
}

// mergeOf is the entries of several parts in one.
func mergeOf(parts []part) part {
	total := 0
	for _, p := range parts {
		total += len(p)
	}
	merged := make(part, 0, total)
	for _, p := range parts {
		merged = append(merged, p...)
	}
	sortEntries(merged)
	return merged
}

// lockSorted takes the lock for reading, with everything sorted.
func (r *Run) lockSorted() {
	for {
		r.mu.RLock()
		if len(r.recent) == 0 {
			return
		}
		r.mu.RUnlock()
		r.mu.Lock()
		r.settleLocked()
		r.mu.Unlock()
	}
}

// parts are all sorted parts.
func (r *Run) parts() []part {
	var all []part
	for _, level := range r.levels {
		all = append(all, level...)
	}
	return all
}

// Len is the number of entries.
func (r *Run) Len() int { return r.Size().Entries }

// Size is the number of entries and their approximate memory.
func (r *Run) Size() Size {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Size{r.count, r.bytes}
}

// At is the newest entry of a key at or before at, deleted ones included.
func (r *Run) At(x schema.IndexID, key string, at schema.Timestamp) (found schema.Entry, ok bool) {
	r.mu.RLock()
	if len(r.recent) > maxUnsorted {
		r.mu.RUnlock()
		r.lockSorted()
	}
	defer r.mu.RUnlock()
	for i := range r.recent {
		e := &r.recent[i]
		if e.TS <= at && e.TS > found.TS && e.Index == x && e.Key == key {
			found, ok = *e, true
		}
	}
	hash := hashKey(x, key)
	for n, level := range r.levels {
		for i, p := range level {
			if n == maxLevel && !r.filters[i].mayHave(hash) {
				continue
			}
			if e, has := p.at(x, key, at); has && e.TS > found.TS {
				found, ok = e, true
			}
		}
	}
	return found, ok
}

// Newer says whether the key has an entry after ts.
func (r *Run) Newer(x schema.IndexID, key string, ts schema.Timestamp) bool {
	e, ok := r.At(x, key, schema.MaxTimestamp)
	return ok && e.TS > ts
}

// Earliest appends the oldest entries of one key with from < ts <= to, oldest
// first, at most n of them. What it costs does not depend on how many there
// are.
func (r *Run) Earliest(dst []schema.Entry, x schema.IndexID, key string, from, to schema.Timestamp, n int) []schema.Entry {
	r.lockSorted()
	defer r.mu.RUnlock()
	start := len(dst)
	for _, level := range slices.Backward(r.levels) {
		for _, p := range level { // mostly the next ones in time
			begin := p.after(schema.Entry{Index: x, Key: key, TS: from})
			had := len(dst)
			for _, e := range p[begin:min(begin+n, len(p))] {
				if e.Index != x || e.Key != key || e.TS > to {
					break
				}
				dst = append(dst, e)
			}
			if len(dst) == had {
				continue
			}
			slices.SortFunc(dst[start:], compare)
			if len(dst) >= start+n {
				dst = dst[:start+n]
				to = dst[start+n-1].TS - 1
			}
		}
	}
	return dst
}

// Latest appends the newest entries of one key with from < ts <= to, newest
// first, at most n of them. What it costs does not depend on how many there
// are.
func (r *Run) Latest(dst []schema.Entry, x schema.IndexID, key string, from, to schema.Timestamp, n int) []schema.Entry {
	r.lockSorted()
	defer r.mu.RUnlock()
	start := len(dst)
	for _, level := range r.levels {
		for _, p := range slices.Backward(level) { // mostly the ones before in time
			end := p.after(schema.Entry{Index: x, Key: key, TS: to})
			had := len(dst)
			for i := end - 1; i >= max(end-n, 0); i-- {
				if e := p[i]; e.Index != x || e.Key != key || e.TS <= from {
					break
				}
				dst = append(dst, p[i])
			}
			if len(dst) == had {
				continue
			}
			slices.SortFunc(dst[start:], func(a, b schema.Entry) int { return compare(b, a) })
			if len(dst) >= start+n {
				dst = dst[:start+n]
				from = dst[start+n-1].TS
			}
		}
	}
	return dst
}

// Slice appends up to n entries in order, all versions, behind after; the
// zero Entry is before all.
func (r *Run) Slice(dst []schema.Entry, after schema.Entry, n int) []schema.Entry {
	r.lockSorted()
	defer r.mu.RUnlock()
	heads := r.parts()
	for i, p := range heads {
		heads[i] = p[p.after(after):]
	}
	m := newMerging(heads)
	for range n {
		e, ok := m.next()
		if !ok {
			break
		}
		dst = append(dst, e)
	}
	return dst
}

// at is the newest entry of a key at or before at.
func (p part) at(x schema.IndexID, key string, at schema.Timestamp) (schema.Entry, bool) {
	i := p.after(schema.Entry{Index: x, Key: key, TS: at})
	if i == 0 || p[i-1].Index != x || p[i-1].Key != key {
		return schema.Entry{}, false
	}
	return p[i-1], true
}

// after is the position of the first entry greater than e.
func (p part) after(e schema.Entry) int {
	return sort.Search(len(p), func(i int) bool { return compare(p[i], e) > 0 })
}

// upTo is after for a place that is near the beginning.
func (p part) upTo(e schema.Entry) int {
	near := 1
	for near <= len(p) && compare(p[near-1], e) <= 0 {
		near *= 2
	}
	from := near / 2
	return from + p[from:min(near, len(p))].after(e)
}

package index

import (
	"slices"
	"sync"

	"github.com/firndb/firn/schema"
)

// Run is a set of entries, ordered by (index, key, ts).
//
// It is a small log-structured merge tree, because a run takes every write
// and is seldom read: the head answers for the present. What is inserted
// waits in recent, in no order. A full recent is sorted into a large part.
// What a reader wants to see in order before that becomes a small part, and
// the small ones become a large one when they are many, or as much as one.
//
// Entries are records without pointers, and the collector looks into nothing
// of a run. Entries that are handed out have strings of their own, except
// where it is said.
//
// Invariant: recent has nothing older than a part, and no part anything older
// than a part before it, small ones coming after large ones. So the versions
// of a key are in the order of time from part to part.
type Run struct {
	mu     sync.RWMutex
	slab   slab
	recent []record
	small  []part
	large  []part
	count  int
	waits  uint64           // a bit for each index that recent has entries of, see bitOf
	newest schema.Timestamp // of all entries that were ever inserted

	filters []filter         // of the large parts' keys, in their order
	known   growing          // of the keys of all of them
	settled schema.Timestamp // the newest in a part
	latest  transaction      // the newest one
}

const (
	maxRecent   = 32 << 10 // sorting so many takes about 1.5 ms
	fewInPart   = 4096     // a reader's parts of fewer are merged at once
	maxSmall    = 8
	maxUnsorted = 256 // how much of recent a point read looks through instead of having it sorted first
)

func newRun() *Run { return &Run{} }

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
	if n := len(r.recent); n > 0 && n+len(entries) > maxRecent && r.recent[n-1].ts < entries[0].TS {
		r.settleLocked()
	}
	for i := range entries {
		e := &entries[i]
		r.newest = max(r.newest, e.TS)
		if again || e.Index.Number() > 0 {
			if equal := r.equal(e); equal != nil {
				r.replace(equal, e)
				continue
			}
		}
		r.count++
		r.recent = append(r.recent, r.slab.record(e))
		r.waits |= bitOf(e.Index)
	}
}

// replace puts an entry in an equal one's place, or only what both change.
func (r *Run) replace(equal *record, e *schema.Entry) {
	changes := equal.is(changesFlag) != e.Changes
	if r.slab.idOf(equal) != e.ID && (!e.Deleted || equal.is(deletedFlag)) {
		*equal = r.slab.record(e)
	} else if r.slab.idOf(equal) == e.ID {
		equal.set(deletedFlag, e.Deleted)
	}
	equal.set(changesFlag, changes)
}

// equal is the record that equals an entry of the newest transaction; nil if
// there is none.
func (r *Run) equal(e *schema.Entry) *record {
	if found := r.latest.find(r, e); found != nil {
		return found
	}
	if e.TS > r.settled {
		return nil
	}
	if p, at := r.findSorted(e); p != nil {
		return &(*p)[at]
	}
	return nil
}

// findSorted is the part that has an equal record, and its place there; nil if
// none has.
func (r *Run) findSorted(e *schema.Entry) (p *part, at int) {
	for _, parts := range [...][]part{r.small, r.large} {
		for i := range parts {
			if at := r.slab.after(parts[i], e) - 1; at >= 0 && r.slab.compareTo(&parts[i][at], e) == 0 {
				return &parts[i], at
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
	r.latest = transaction{}
	if len(entries) > maxUnsorted { // those that were replaced are looked for in vain, each through all of recent
		r.settleLocked()
	}
	var sorted []*part
	for i := range slices.Backward(entries) {
		if r.removeRecent(&entries[i]) {
			r.count--
		} else if p, at := r.findSorted(&entries[i]); p != nil {
			(*p)[at].set(goneFlag, true)
			if !slices.Contains(sorted, p) {
				sorted = append(sorted, p)
			}
		}
	}
	for _, p := range sorted {
		before := len(*p)
		*p = slices.DeleteFunc(*p, func(e record) bool { return e.is(goneFlag) })
		r.count -= before - len(*p)
	}
	if r.count == 0 { // what only fails must not fill the memory
		r.slab = slab{}
	}
}

// removeRecent looks from the end, where a transaction's own entries are.
func (r *Run) removeRecent(e *schema.Entry) bool {
	for i := len(r.recent) - 1; i >= 0 && r.recent[i].ts >= e.TS; i-- {
		if r.slab.compareTo(&r.recent[i], e) == 0 {
			r.recent = slices.Delete(r.recent, i, i+1)
			return true
		}
	}
	return false
}

// settleLocked sorts recent into a part.
func (r *Run) settleLocked() {
	n := len(r.recent)
	if n == 0 {
		return
	}
	r.latest, r.settled = transaction{}, r.recent[n-1].ts
	sorted := r.slab.sorted(r.recent)
	r.recent, r.waits = r.recent[:0], 0
	if last := len(r.small) - 1; last >= 0 && len(r.small[last])+n <= fewInPart {
		r.small[last] = r.slab.mergeTwo(r.small[last], sorted)
	} else {
		r.small = append(r.small, sorted)
	}
	if len(r.small) > maxSmall || lenOf(r.small) >= maxRecent {
		r.enlarge()
	}
}

// enlarge makes one large part of the small ones.
func (r *Run) enlarge() {
	p := r.small[0]
	if len(r.small) > 1 {
		p = r.slab.sorted(slices.Concat(r.small...))
	}
	clear(r.small)
	r.small = r.small[:0]
	r.large = append(r.large, p)
	f := newFilter(len(p))
	for i := range p {
		if key := r.slab.keyOf(&p[i]); i == 0 || !r.slab.has(&p[i-1], p[i].index, key) {
			hash := hashKey(p[i].index, key)
			f.add(hash)
			r.known.add(hash)
		}
	}
	r.filters = append(r.filters, f)
}

func lenOf(parts []part) (n int) {
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// mergeTwo is the records of two parts in one. It walks them: both are sorted,
// and one is mostly a few that a reader wanted to see in order.
func (s *slab) mergeTwo(a, b part) part {
	merged := make(part, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		first := s.entry(&b[0])
		n := s.upTo(a, &first)
		merged = append(merged, a[:n]...)
		a, b = b, a[n:]
	}
	return append(append(merged, a...), b...)
}

// upTo is after for a place that is near the beginning.
func (s *slab) upTo(p part, e *schema.Entry) int {
	near := 1
	for near <= len(p) && s.compareTo(&p[near-1], e) <= 0 {
		near *= 2
	}
	from := near / 2
	return from + s.after(p[from:min(near, len(p))], e)
}

// bitOf is the bit of an index, which others may share.
func bitOf(x schema.IndexID) uint64 { return 1 << ((x>>6 ^ x&3) % 64) }

// lockSortedIn is lockSorted for who reads one index. Nothing is sorted if
// recent has nothing of that: whoever looks now and then for what expires is
// no reason to sort all that was written since.
func (r *Run) lockSortedIn(x schema.IndexID, unsorted int) {
	r.mu.RLock()
	if r.waits&bitOf(x) != 0 {
		r.mu.RUnlock()
		r.lockSorted(unsorted)
	}
}

// lockSorted takes the lock for reading, with no more than so many records not
// sorted.
func (r *Run) lockSorted(unsorted int) {
	for {
		r.mu.RLock()
		if len(r.recent) <= unsorted {
			return
		}
		r.mu.RUnlock()
		r.mu.Lock()
		r.settleLocked()
		r.mu.Unlock()
	}
}

// merging walks all entries, of a run that nothing comes into any more.
func (r *Run) merging() *merging {
	r.lockSorted(0)
	defer r.mu.RUnlock()
	return newMerging(&r.slab, r.parts(), false)
}

// parts are all sorted parts, the oldest first.
func (r *Run) parts() []part { return slices.Concat(r.large, r.small) }

// Newest is the newest timestamp of what was inserted, also of what was taken
// back: no entry is newer, and none of a later transaction is as old.
func (r *Run) Newest() schema.Timestamp {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.newest
}

// Len is the number of entries.
func (r *Run) Len() int { return r.Size().Entries }

// Size is the number of entries and their approximate memory.
func (r *Run) Size() Size {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Size{r.count, r.slab.bytes + int64(r.count)*recordOverhead}
}

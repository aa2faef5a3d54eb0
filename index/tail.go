package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/firndb/firn/schema"
)

// entryOverhead is what an entry costs beside the bytes of its key: the Entry
// itself (48 bytes) in tree nodes that are about two thirds full.
const entryOverhead = 72

// Tail is the index entries that are not merged into the file yet: an active
// run that grows and, while a merge is under way, a frozen one. It may hold
// entries of transactions that are not committed: a reader asks at a
// timestamp of a commit and so never sees them.
//
// One goroutine, the writer, calls Insert, Remove, Freeze and Drop. Any number
// read.
type Tail struct {
	mu     sync.RWMutex
	active *Run
	frozen *Run // nil when no merge is under way
	merged atomic.Int64
}

// NewTail makes a tail for a store whose indexes hold everything up to the
// watermark.
func NewTail(watermark schema.Timestamp) *Tail {
	t := &Tail{active: newRun()}
	t.merged.Store(int64(watermark))
	return t
}

// Runs are the tail's runs at one time, newest first. Holding them keeps what
// they contain readable, also after a merge has dropped them from the tail;
// so take them before beginning to read the file.
type Runs struct {
	Active, Frozen *Run // Frozen may be nil
}

// Runs takes the present runs.
func (t *Tail) Runs() Runs {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return Runs{t.active, t.frozen}
}

// Watermark is the timestamp up to which the file's indexes hold everything.
func (t *Tail) Watermark() schema.Timestamp { return schema.Timestamp(t.merged.Load()) }

// Insert adds entries to the active run.
func (t *Tail) Insert(entries []schema.Entry) { t.active.insert(entries) }

// Remove takes entries back that were inserted since the last Freeze: their
// transaction failed.
func (t *Tail) Remove(entries []schema.Entry) { t.active.remove(entries) }

// Freeze begins a merge: the active run becomes the frozen one. It says false
// and does nothing if there is nothing to merge or a merge is under way.
func (t *Tail) Freeze() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frozen != nil || t.active.Len() == 0 {
		return false
	}
	t.frozen, t.active = t.active, newRun()
	return true
}

// Drop ends a merge whose entries are all in the file, committed.
func (t *Tail) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.merged.Store(int64(t.frozen.maxTS))
	t.frozen = nil
}

// Size is the number of entries and the approximate bytes of memory in the
// active run, and in both.
func (t *Tail) Size() (active, total Size) {
	r := t.Runs()
	active = r.Active.Size()
	total = active
	if r.Frozen != nil {
		total.Entries += r.Frozen.Size().Entries
		total.Bytes += r.Frozen.Size().Bytes
	}
	return active, total
}

// Size is how much a run holds.
type Size struct {
	Entries int
	Bytes   int64
}

// Run is an ordered set of entries, by (index, key, ts).
//
// What is inserted waits in recent, in no order, until somebody reads or it is
// full; then it goes into the tree sorted, which costs half of inserting each
// by itself, because neighbours share the way down. Present reads are
// answered by the head, so mostly nobody reads.
type Run struct {
	mu     sync.RWMutex
	tree   *btree.BTreeG[schema.Entry]
	recent []schema.Entry
	bytes  int64
	maxTS  schema.Timestamp
}

// maxRecent bounds what a reader may have to wait for: sorting and inserting
// so many entries takes about 2 ms.
const maxRecent = 4096

func newRun() *Run {
	return &Run{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

func compare(a, b schema.Entry) int {
	if a.Index != b.Index {
		return cmp.Compare(a.Index, b.Index)
	}
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return cmp.Compare(a.TS, b.TS)
}

func less(a, b schema.Entry) bool { return compare(a, b) < 0 }

func (r *Run) insert(entries []schema.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recent)+len(entries) > maxRecent {
		r.settleLocked()
	}
	for i := range entries {
		r.bytes += entryBytes(entries[i])
		r.maxTS = max(r.maxTS, entries[i].TS)
	}
	r.recent = append(r.recent, entries...)
}

// settleLocked moves recent into the tree. Of two equal entries the later
// replaces the earlier.
func (r *Run) settleLocked() {
	slices.SortStableFunc(r.recent, compare)
	var hint btree.PathHint
	for _, e := range r.recent {
		if old, replaced := r.tree.SetHint(e, &hint); replaced {
			r.bytes -= entryBytes(old)
		}
	}
	clear(r.recent)
	r.recent = r.recent[:0]
}

// rlock takes the lock for reading, with everything in the tree.
func (r *Run) rlock() {
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

func (r *Run) remove(entries []schema.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settleLocked()
	for _, e := range entries {
		if old, ok := r.tree.Delete(e); ok {
			r.bytes -= entryBytes(old)
		}
	}
}

// entryBytes counts a key once; by-id keys share their bytes with the row's
// id, but the row may be gone from memory before the entry is.
func entryBytes(e schema.Entry) int64 { return int64(len(e.Key) + len(e.ID) + entryOverhead) }

// Len is the number of entries.
func (r *Run) Len() int { return r.Size().Entries }

// Size is the number of entries and their approximate memory.
func (r *Run) Size() Size {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return Size{r.tree.Len() + len(r.recent), r.bytes}
}

// At is the newest entry of a key at or before at, deleted ones included.
func (r *Run) At(x schema.IndexID, key string, at schema.Timestamp) (schema.Entry, bool) {
	r.rlock()
	defer r.mu.RUnlock()
	return r.at(x, key, at)
}

func (r *Run) at(x schema.IndexID, key string, at schema.Timestamp) (found schema.Entry, ok bool) {
	r.tree.Descend(schema.Entry{Index: x, Key: key, TS: at}, func(e schema.Entry) bool {
		found, ok = e, e.Index == x && e.Key == key
		return false
	})
	return found, ok
}

// maxVersionsWalked is how many versions of one key a scan steps over before
// it seeks instead. A seek costs about as much as 8 steps.
const maxVersionsWalked = 8

// Scan appends, for each key of the range, its newest entry at or before at,
// deleted ones included, at most limit of them, in the range's direction. A
// key without such an entry is passed over. rest is what is still to scan;
// done says that nothing is.
func (r *Run) Scan(dst []schema.Entry, kr schema.KeyRange, at schema.Timestamp, limit int) (entries []schema.Entry, rest schema.KeyRange, done bool) {
	r.rlock()
	defer r.mu.RUnlock()
	if kr.Reverse {
		return r.scanDown(dst, kr, at, limit)
	}
	return r.scanUp(dst, kr, at, limit)
}

func (r *Run) scanUp(dst []schema.Entry, kr schema.KeyRange, at schema.Timestamp, limit int) ([]schema.Entry, schema.KeyRange, bool) {
	it := r.tree.Iter()
	defer it.Release()
	ok := it.Seek(schema.Entry{Index: kr.Index, Key: kr.From})
	for ok && limit > 0 {
		first := it.Item()
		if !inRange(kr, first) {
			break
		}
		best, found := first, first.TS <= at
		for steps := 0; ; steps++ {
			if ok = it.Next(); !ok || it.Item().Key != first.Key || it.Item().Index != first.Index {
				break
			}
			if it.Item().TS <= at {
				best, found = it.Item(), true
			}
			if steps == maxVersionsWalked {
				best, found = r.at(kr.Index, first.Key, at)
				ok = it.Seek(schema.Entry{Index: kr.Index, Key: first.Key, TS: schema.MaxTimestamp})
				break
			}
		}
		if found {
			dst = append(dst, best)
			limit--
		}
		kr.From = first.Key + "\x00"
	}
	return dst, kr, limit > 0
}

func (r *Run) scanDown(dst []schema.Entry, kr schema.KeyRange, at schema.Timestamp, limit int) ([]schema.Entry, schema.KeyRange, bool) {
	for limit > 0 {
		last, ok := r.below(kr)
		if !ok || !inRange(kr, last) {
			return dst, kr, true
		}
		kr.To = last.Key
		if last.TS > at {
			last, ok = r.at(kr.Index, last.Key, at)
		}
		if ok {
			dst = append(dst, last)
			limit--
		}
	}
	return dst, kr, false
}

// below is the newest entry of the greatest key before the range's end.
func (r *Run) below(kr schema.KeyRange) (found schema.Entry, ok bool) {
	pivot := schema.Entry{Index: kr.Index, Key: kr.To, TS: -1}
	if kr.To == "" {
		pivot = schema.Entry{Index: kr.Index + 1, TS: -1}
	}
	r.tree.Descend(pivot, func(e schema.Entry) bool {
		found, ok = e, true
		return false
	})
	return found, ok
}

func inRange(kr schema.KeyRange, e schema.Entry) bool {
	return e.Index == kr.Index && e.Key >= kr.From && (kr.To == "" || e.Key < kr.To)
}

// Versions appends the entries of one key with from < ts <= to, oldest first.
func (r *Run) Versions(dst []schema.Entry, x schema.IndexID, key string, from, to schema.Timestamp) []schema.Entry {
	r.rlock()
	defer r.mu.RUnlock()
	r.tree.Ascend(schema.Entry{Index: x, Key: key, TS: from + 1}, func(e schema.Entry) bool {
		if e.Index != x || e.Key != key || e.TS > to {
			return false
		}
		dst = append(dst, e)
		return true
	})
	return dst
}

// Newer says whether the key has an entry after ts.
func (r *Run) Newer(x schema.IndexID, key string, ts schema.Timestamp) bool {
	e, ok := r.At(x, key, schema.MaxTimestamp)
	return ok && e.TS > ts
}

// Slice appends up to n entries in order, all versions, behind after; the
// zero Entry is before all.
func (r *Run) Slice(dst []schema.Entry, after schema.Entry, n int) []schema.Entry {
	r.rlock()
	defer r.mu.RUnlock()
	r.tree.Ascend(after, func(e schema.Entry) bool {
		if n == 0 {
			return false
		}
		if less(after, e) {
			dst = append(dst, e)
			n--
		}
		return true
	})
	return dst
}

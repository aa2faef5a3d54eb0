package reader

import (
	"context"
	"hash/maphash"
	"sync"
	"unsafe"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// Head is the present state of what is hot, and the state that transactions
// run on.
//
// Invariants:
//
//   - What views see is published: rows of committed transactions only, all
//     rows of one timestamp at once. It changes under mu.
//   - What is staged (stage.go) belongs to the goroutine that holds Lock: the
//     writer, from before it runs a group until nothing is staged any more.
//   - A published row is never older than the row of the same document in the
//     tail or in the file, counted up to newest.
type Head struct {
	engine schema.Engine
	tail   *index.Tail
	budget int64 // bytes; 0 keeps nothing

	pageBytes int // of a range's leaves; 0 unless a test says otherwise

	published func(before schema.Timestamp, rows []*schema.Row, entries []schema.Entry) // Options.Published

	group sync.Mutex // held while groups are run and committed

	mu     sync.RWMutex
	closed bool
	newest schema.Timestamp // of the last published transaction
	docs   docs
	ranges ranges
	counts counts

	learning learning      // which ids there ever were
	counted  countedRanges // of views, mostly of the past
	briefs   briefs        // short questions to leaves that are absent

	staged staged
	adopts chan adoption // ranges that readers have loaded; see adopt.go
	idle   chan schema.Session
}

// Options configure a Head.
type Options struct {
	Engine schema.Engine
	Tail   *index.Tail
	Budget int64 // bytes of memory for documents and ranges; 0 keeps none

	// Published is told of each group once views see it: the newest commit
	// before it, its rows and what was derived from them, in the order of their
	// timestamps. The slices are lent until it returns, and what they point to is
	// immutable. It keeps the writer waiting. nil: nobody is told.
	Published func(before schema.Timestamp, rows []*schema.Row, entries []schema.Entry)
}

// Limits of what the head keeps beside the budget.
const (
	maxIdleSessions = 8  // read sessions kept open between views
	maxAdoptions    = 16 // ranges waiting for the writer to take them over
)

// NewHead makes a head. Close it when no view is open any more.
func NewHead(o Options) *Head {
	h := &Head{
		engine: o.Engine,
		tail:   o.Tail,
		budget: max(o.Budget, 0),
		docs:   newDocs(max(o.Budget, 0)),
		ranges: newRanges(),
		counts: newCounts(nil),
		briefs: briefs{seed: maphash.MakeSeed()},
		adopts: make(chan adoption, maxAdoptions), // a full channel drops the offer
		idle:   make(chan schema.Session, maxIdleSessions),

		published: o.Published,
	}
	h.learning.init(o.Tail, h.budget)
	return h
}

// Assume says that a table has no documents at all yet, so that what the head
// does not have was never written.
func (h *Head) Assume(t schema.TableID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.docs.setComplete(t, h.budget > 0)
}

// Warm puts a row of the log into the head while the store opens; rows come
// in the log's order.
// The value of one that is too large to keep is not read.
func (h *Head) Warm(v *schema.Visit) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.budget == 0 {
		return nil
	}
	if int64(len(v.ID)+v.ValueBytes)+entryHeader+slotBytes > h.budget/largestShare {
		h.docs.forget(h.docs.hash(v.Table, v.ID), &v.Row)
		return nil
	}
	row, err := v.Copy()
	if err != nil {
		return err
	}
	h.keepLocked(h.docs.hash(row.Table, row.ID), row)
	h.docs.shrink(h.budget)
	return nil
}

// keepLocked keeps the newest version of a document, unless it is too large.
func (h *Head) keepLocked(hash uint32, row *schema.Row) {
	if docBytes(row) > h.budget/largestShare {
		h.docs.forget(hash, row)
		return
	}
	h.docs.put(hash, row)
}

// Opened says that the log has been replayed: up to newest, with these live
// documents, which the head takes over. No view is made before.
func (h *Head) Opened(newest schema.Timestamp, counts index.Counts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = newest
	h.counts = newCounts(counts)
}

// Newest is the timestamp of the last published transaction.
func (h *Head) Newest() schema.Timestamp {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.newest
}

// Size is what the head holds.
type Size struct {
	Documents int
	Ranges    int
	Bytes     int64
	OffHeap   int64 // bytes that the head has taken which are not on the heap
}

// Size is what the head holds now.
func (h *Head) Size() Size {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return Size{h.docs.number, len(h.ranges.byKey), h.docs.bytes() + h.ranges.bytes, h.docs.offHeap()}
}

// Counts is the live documents per prefix as of the newest published
// transaction. It may be used while Lock is held.
func (h *Head) Counts() index.Counts {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.counts.now
}

// Learn lets views and transactions know which ids were never written, from
// when that is worth it, until ctx ends. It reads the file with long pauses.
func (h *Head) Learn(ctx context.Context) error { return h.learning.run(ctx, h) }

// Close closes the idle read sessions, and from now on those that views
// return, and gives the memory of the documents back.
func (h *Head) Close() error {
	h.mu.Lock()
	h.closed = true
	h.docs.release()
	h.mu.Unlock()
	var first error
	for {
		select {
		case s := <-h.idle:
			if err := s.Close(); err != nil && first == nil {
				first = err
			}
		default:
			return first
		}
	}
}

// find is the version of a document that a view at at sees, if the head can
// tell: ok says that it can, and then a nil row means that there is none. live
// says that a tombstone is not asked for: ranges do not have them. into is
// what docs.row says.
func (h *Head) find(t *index.Table, id []byte, at schema.Timestamp, live bool, into *schema.Row) (row *schema.Row, ok bool) {
	hash := h.docs.hash(t.ID, textOf(id))
	h.mu.RLock()
	defer h.mu.RUnlock()
	slot, absent := h.docs.find(hash, t.ID, textOf(id))
	if slot == 0 {
		return h.findInRange(t, textOf(id), at, live, absent, into)
	}
	switch ts := h.docs.ts(slot); {
	case ts == 0:
		return nil, true
	case ts > at:
		return nil, false
	}
	return h.docs.row(slot, into), true
}

// touch is docs.touch for at most touchMost documents, if it is worth it.
func (h *Head) touch(t schema.TableID, ids [][]byte) {
	var hashes [touchMost]uint32
	for i, id := range ids {
		hashes[i] = h.docs.hash(t, textOf(id))
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.docs.number >= touchLeast {
		h.docs.touch(hashes[:len(ids)])
	}
}

// findVersion is the version of a document of exactly ts; nil if the head does
// not have it.
func (h *Head) findVersion(t *index.Table, id string, ts schema.Timestamp) *schema.Row {
	hash := h.docs.hash(t.ID, id)
	h.mu.RLock()
	defer h.mu.RUnlock()
	if slot, _ := h.docs.find(hash, t.ID, id); slot != 0 {
		if h.docs.ts(slot) == ts {
			return h.docs.row(slot, nil)
		}
		return nil
	}
	if row, ok := h.findInRange(t, id, ts, false, false, nil); ok && row != nil && row.TS == ts {
		return row
	}
	return nil
}

// findInRange is find for what is not among the documents. complete says that
// what is in no range either was never written.
func (h *Head) findInRange(t *index.Table, id string, at schema.Timestamp, live, complete bool, into *schema.Row) (row *schema.Row, ok bool) {
	if t.Prefix == 0 {
		return nil, complete
	}
	k, ok := rangeOf(t, schema.ByID(t.ID), id)
	if !ok {
		return nil, complete
	}
	s := h.ranges.byKey[k]
	if at == schema.MaxTimestamp { // a transaction, which sees what is staged
		s = h.staged.rangeOf(h, k)
	}
	if s == nil {
		return nil, complete
	}
	tree, pristine := h.ranges.published(k, at), false
	switch {
	case at == schema.MaxTimestamp:
		s.touch()
		tree, pristine = s.work, s.pristine
	case tree == nil: // what is as old in a later edition was there before it
		row, ok = findIn(s.editions[0].tree, t, id, into)
		return row, ok && row != nil && row.TS <= at
	}
	row, ok = findIn(tree, t, id, into)
	if row == nil && complete && at != schema.MaxTimestamp {
		complete = neverIn(s, t, id)
	}
	return row, ok && (row != nil || live || complete || pristine)
}

// neverIn says that a range does not have a document now. One that has ended
// and come again is in the newest edition alone, and not among the documents.
func neverIn(s *warmRange, t *index.Table, id string) bool {
	row, ok := findIn(s.editions[0].tree, t, id, nil)
	return ok && row == nil
}

// textOf is id as a string, without a copy: for what is only looked at.
func textOf(id []byte) string { return unsafe.String(unsafe.SliceData(id), len(id)) }

// fill offers what a view at at read from the file as the newest version of a
// document; a row with no timestamp says that there is none, see absent. It is
// taken unless a newer one may exist: the tail knows of every version since
// at, as long as it was not merged since.
func (h *Head) fill(row *schema.Row, at schema.Timestamp) {
	if h.budget == 0 || docBytes(row) > h.budget/largestShare {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if at == schema.MaxTimestamp { // a transaction: nobody else writes
		h.docs.fill(row)
		h.shrinkDocsLocked()
		return
	}
	runs := h.tail.Runs() // before the watermark: a merge may end between the two
	x := schema.ByID(row.Table)
	if h.tail.Watermark() > at || runs.Active.Newer(x, row.ID, row.TS) ||
		runs.Frozen != nil && runs.Frozen.Newer(x, row.ID, row.TS) {
		return
	}
	h.docs.fill(row)
	h.shrinkDocsLocked()
}

// absent stands in the head for a document that has no version, so that it
// need not be looked for again. It holds for every view: a first version
// would replace it.
func absent(t *index.Table, id string) *schema.Row {
	return &schema.Row{Table: t.ID, ID: id, Deleted: true}
}

// largestShare: no single document may take more than this part of the budget,
// or it would push out everything else, nor what is read of a range at once.
const largestShare = 4

// Parts of the budget: what ranges may always take, and what is never theirs.
// Between the two they take what documents leave.
const (
	rangesShare = 2
	docsShare   = 8
)

// rangesMost is how much ranges may take now. The caller holds mu.
func rangesMost(h *Head) int64 {
	spare := h.budget - max(h.docs.bytes(), h.budget/docsShare)
	return max(h.budget/rangesShare, spare)
}

// shrinkLocked evicts until the head fits its budget: ranges first down to
// their share, then documents. The caller holds the group lock, too: ranges are
// evicted from what transactions see.
func (h *Head) shrinkLocked() {
	h.ranges.shrink(rangesMost(h))
	admitLost(h)
	h.shrinkDocsLocked()
}

// shrinkDocsLocked evicts documents until the head fits its budget. Ranges have
// more than their share only while a transaction loads them.
func (h *Head) shrinkDocsLocked() {
	h.docs.shrink(max(h.budget-h.ranges.bytes, h.budget/docsShare))
}

// take borrows an idle read session, or opens one; give returns it.
func (h *Head) take() (schema.Session, error) {
	select {
	case s := <-h.idle:
		return s, nil
	default:
		return h.engine.Session()
	}
}

func (h *Head) give(s schema.Session) {
	if !h.keep(s) {
		s.Close()
	}
}

// keep makes a session idle; false if there are enough, or the head is closed.
func (h *Head) keep(s schema.Session) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return false
	}
	select {
	case h.idle <- s:
		return true
	default:
		return false
	}
}

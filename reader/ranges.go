package reader

import (
	"sync/atomic"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// rangeKey names an ordered range: all keys of an index with one prefix.
type rangeKey struct {
	index  schema.IndexID
	prefix string
}

// warmRange is one ordered range in the head: at least how many entries there
// are in each part of it, see package pages. A leaf that is absent is read from
// tail and file.
//
//   - work includes what is staged and belongs to whoever holds the head's
//     group lock. Its counts are right for whoever reads as a transaction, and
//     those of an edition for a view of its moments.
//   - editions are guarded by the head's mu. What they lead to is never
//     written to.
type warmRange struct {
	key      rangeKey
	work     *pages.Tree
	editions [maxEditions]edition // newest first
	bytes    int64                // at the last publication
	touched  bool                 // work differs from its newest picture in what it holds
	pending  bool                 // that picture is not published yet
	loaded   bool                 // work has leaves that the newest edition has not
	pristine bool                 // no entry of it ever was in the file, or ended
	grown    string               // a key of an absent leaf that has become large
	hand     string               // where the clock's hand stands in it
	used     atomic.Bool
}

// edition is a range as it was from a moment on, until another. Between the end
// of one and the beginning of the next are the moments of a group, of which
// there is no edition.
type edition struct {
	tree    *pages.Tree
	changed schema.Timestamp // no view before this one may use the tree
	until   schema.Timestamp // nor one of this moment or later; 0 is open
}

func (e *edition) shows(at schema.Timestamp) bool {
	return e.tree != nil && e.changed <= at && (e.until == 0 || at < e.until)
}

// maxEditions is how many published states of a range are kept, so that a view
// that is a few groups old need not look elsewhere.
const maxEditions = 3

// warmRangeOverhead is what a range costs beside its elements: the warmRange
// (240 bytes), the trees of work and of its editions (112 each), and its places
// in the ring and in the map. An empty range costs that too, and there may be
// any number of empty ones.
const warmRangeOverhead = 512

func newWarmRange(k rangeKey, work *pages.Tree) *warmRange {
	return &warmRange{key: k, work: work}
}

func (s *warmRange) size() int64 {
	return s.work.Bytes() + int64(len(s.key.prefix)) + warmRangeOverhead
}

// ranges is the ordered ranges of the head, evicted by CLOCK like docs.
type ranges struct {
	byKey    map[rangeKey]*warmRange
	building map[rangeKey]*building
	ring     []*warmRange // every range, in no order
	hand     int          // where the clock's hand stands in ring
	bytes    int64
	lost     []schema.TableID // of documents that are here no more, and may be nowhere else in memory
}

func newRanges() ranges {
	return ranges{byKey: map[rangeKey]*warmRange{}, building: map[rangeKey]*building{}}
}

// rangeOf is the ordered range that a key belongs to.
func rangeOf(t *index.Table, x schema.IndexID, key string) (k rangeKey, ok bool) {
	elements := t.PrefixOf(x)
	if elements == 0 {
		return k, false
	}
	n, ok := tuple.PrefixLen(key, elements)
	if !ok {
		return k, false
	}
	return rangeKey{x, key[:n]}, true
}

// findIn looks a document up in a tree; ok is false if the tree cannot tell.
// into is what docs.row says.
func findIn(tree *pages.Tree, t *index.Table, id string, into *schema.Row) (row *schema.Row, ok bool) {
	v, found, gap := tree.Get(id)
	switch {
	case gap != nil:
		return nil, false
	case !found:
		return nil, true
	}
	row = elementInto(t.ID, id, v, into)
	return row, row != nil
}

// published is the tree of a range for a view at at, nil if there is none.
func (r *ranges) published(k rangeKey, at schema.Timestamp) *pages.Tree {
	s := r.byKey[k]
	if s == nil {
		return nil
	}
	for i := range s.editions {
		if e := &s.editions[i]; e.shows(at) {
			s.touch()
			return e.tree
		}
	}
	return nil
}

func (s *warmRange) touch() {
	if !s.used.Load() {
		s.used.Store(true)
	}
}

func (r *ranges) add(s *warmRange) {
	r.byKey[s.key] = s
	r.ring = append(r.ring, s)
	r.bytes += s.bytes
}

// drop takes a range out, if it is here.
func (r *ranges) drop(s *warmRange) {
	for i := range r.ring {
		if r.ring[i] == s {
			r.dropAt(i)
			return
		}
	}
}

// dropAt takes a range out; the ring's last takes its place.
func (r *ranges) dropAt(i int) {
	s := r.ring[i]
	r.lose(s)
	delete(r.byKey, s.key)
	r.bytes -= s.bytes
	end := len(r.ring) - 1
	r.ring[i] = r.ring[end]
	r.ring[end] = nil
	r.ring = r.ring[:end]
}

// fewLeaves: a range of at most so many is evicted as a whole. It is read again
// at once, and not worth its index meanwhile.
const fewLeaves = 4

// shrink evicts leaves and ranges until the rest fits in budget bytes. Nothing
// is staged. The hand goes round at most three times: it may only clear marks
// of leaves, then of ranges.
func (r *ranges) shrink(budget int64) {
	for steps := 3*len(r.ring) + 3; r.bytes > budget && len(r.ring) > 0 && steps > 0; steps-- {
		if r.hand >= len(r.ring) {
			r.hand = 0
		}
		s := r.ring[r.hand]
		switch {
		case s.work.Pages() > fewLeaves:
			if r.evictLeaves(s, r.bytes-budget) {
				r.hand++
			}
		case s.used.Load() && budget > 0:
			s.used.Store(false)
			r.hand++
		default:
			r.dropAt(r.hand)
			r.hand++ // past what took its place: that is the newest, and its turn is a round later
		}
	}
}

// evictLeaves evicts leaves of a range, from work and from what is published,
// and says whether it has been through.
func (r *ranges) evictLeaves(s *warmRange, bytes int64) (end bool) {
	var gone []string
	s.hand, end = s.work.Evict(s.hand, bytes, func(key string) { gone = append(gone, key) })
	for i := range s.editions {
		if e := &s.editions[i]; e.tree != nil && len(gone) > 0 {
			e.tree = e.tree.Fork()
			for _, key := range gone {
				e.tree.EvictAt(key)
			}
		}
	}
	if len(gone) > 0 {
		r.lose(s)
	}
	r.account(s)
	return end
}

// lose notes that documents of a range are lost.
func (r *ranges) lose(s *warmRange) {
	t := s.key.index.Table()
	if s.key.index.Number() == 0 && (len(r.lost) == 0 || r.lost[len(r.lost)-1] != t) {
		r.lost = append(r.lost, t)
	}
}

// admitLost tells the documents what ranges have lost: a table is not complete
// any more.
func admitLost(h *Head) {
	for _, t := range h.ranges.lost {
		h.docs.setComplete(t, false)
	}
	h.ranges.lost = h.ranges.lost[:0]
}

// account counts what a range takes now.
func (r *ranges) account(s *warmRange) {
	size := s.editions[0].tree.Bytes() + int64(len(s.key.prefix)) + warmRangeOverhead
	if r.byKey[s.key] == s {
		r.bytes += size - s.bytes
	}
	s.bytes = size
}

// picture is a range as it was at one time. It shares pages with the range's
// work, which copies what it changes.
type picture struct {
	of   *warmRange
	tree *pages.Tree
}

// picture is the range as it is now, with what is staged.
func (s *warmRange) picture() picture {
	s.touched, s.loaded = false, false
	return picture{s, s.work.Snapshot()}
}

// pend is picture for what will be published later, or not at all.
func (s *warmRange) pend() picture {
	s.pending = true
	return s.picture()
}

// publish makes a picture of a range visible to views from last on. first is the
// moment of the first change since the edition before.
func (r *ranges) publish(p picture, first, last schema.Timestamp) {
	s := p.of
	copy(s.editions[1:], s.editions[:])
	s.editions[1].until = first
	s.editions[0] = edition{changed: last}
	s.pending = false
	r.renew(p)
}

// renew puts a picture in the place of the newest edition, which holds the same
// and may have other leaves.
func (r *ranges) renew(p picture) {
	p.of.editions[0].tree = p.tree
	r.account(p.of)
}

// showLoaded shares the leaves with views that transactions have loaded, of
// ranges of which nothing is staged. Those of others come with what is staged.
func showLoaded(h *Head) {
	for _, l := range []*layer{h.staged.running(), h.staged.sealed()} {
		if len(l.loaded) == 0 {
			continue
		}
		h.mu.Lock()
		for _, s := range l.loaded {
			if s.loaded && !s.touched && !s.pending && s.editions[0].tree != nil {
				h.ranges.renew(s.picture())
			}
		}
		h.shrinkLocked()
		h.mu.Unlock()
		clear(l.loaded)
		l.loaded = l.loaded[:0]
	}
}

// stage applies a staged entry to work, and returns how to undo it. row is the
// document's newest version, and old the one before the entry, which may be
// nil where the leaf is here. The element is made in room.
func (s *warmRange) stage(room []byte, e schema.Entry, row, old *schema.Row) undo {
	s.touched = true
	s.work.Stamp(int64(e.TS))
	if e.Deleted {
		return s.remove(e, old)
	}
	before, had, ok := s.work.Set(e.Key, elementOf(room[:0], e, row))
	if !ok {
		return s.adjust(e, old)
	}
	u := undo{in: s, key: e.Key, before: before, had: had}
	if !had {
		u.by = 1
	}
	return u
}

// elementOf is the element that an entry makes.
func elementOf(dst []byte, e schema.Entry, row *schema.Row) pages.Value {
	if e.Index.Number() > 0 {
		return idElement(dst, e.Key, e.ID)
	}
	return rowElement(dst, row)
}

// remove takes an element out of work. A key that another document has taken
// over by now stays.
func (s *warmRange) remove(e schema.Entry, old *schema.Row) undo {
	s.pristine = false
	before, had, ok := s.work.Delete(e.Key)
	u := undo{in: s, key: e.Key, before: before, had: had}
	switch {
	case !ok:
		return s.adjust(e, old)
	case had && e.Index.Number() > 0 && !leadsTo(e.Key, before, e.ID):
		s.work.Set(e.Key, before)
	case had:
		u.by = -1
	}
	return u
}

// adjust counts an entry whose leaf is absent.
func (s *warmRange) adjust(e schema.Entry, old *schema.Row) undo {
	u := undo{in: s, key: e.Key, by: int(e.Delta()), blind: true}
	if u.had = u.by < 0 || u.by == 0 && !e.Deleted; u.had && e.Index.Number() > 0 {
		u.before = idElement(nil, e.Key, e.ID)
	} else if u.had && old != nil {
		u.before = bareElement(nil, old.TS)
	}
	if u.by != 0 {
		if n, _ := s.work.Adjust(e.Key, u.by); n > maxAbsent {
			s.grown = e.Key
		}
	}
	return u
}

// undo is what a key of a range was before a staged change.
type undo struct {
	in     *warmRange
	key    string
	before pages.Value
	had    bool
	by     int  // how many entries more there were
	blind  bool // the leaf was absent
}

func (u undo) apply() {
	u.in.touched = true
	switch {
	case u.in.work.AbsentAt(u.key) != nil: // it was then, or has been evicted since
		if u.by != 0 {
			u.in.work.Adjust(u.key, -u.by)
		}
	case u.had:
		u.in.work.Set(u.key, u.before)
	default:
		u.in.work.Delete(u.key)
	}
}

package reader

import (
	"sync/atomic"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// rangeKey names an ordered range: all keys of an index with one prefix.
type rangeKey struct {
	index  schema.IndexID
	prefix string
}

// warmRange is one ordered range in the head.
//
//   - work includes what is staged and belongs to whoever holds the head's
//     group lock.
//   - published and changed are guarded by the head's mu. published is never
//     written to: it shares nodes with work, which copies what it changes.
type warmRange struct {
	key       rangeKey
	work      *tree
	published *tree            // nil until the first publication
	changed   schema.Timestamp // no view before this one may use published
	bytes     int64            // of published, at the last publication
	workBytes int64
	touched   bool // work differs from its newest picture
	used      atomic.Bool
}

// warmRangeOverhead is what a range costs beside its elements: the warmRange (96
// bytes), its two trees (24 each), and its places in the ring and in the map.
// An empty range costs that too, and there may be any number of empty ones.
const warmRangeOverhead = 256

func newWarmRange(k rangeKey, work *tree, elements int64) *warmRange {
	return &warmRange{key: k, work: work, workBytes: elements + int64(len(k.prefix)) + warmRangeOverhead}
}

// ranges is the ordered ranges of the head, evicted by CLOCK like docs.
type ranges struct {
	byKey map[rangeKey]*warmRange
	ring  []*warmRange // every range, in no order
	hand  int          // where the clock's hand stands in ring
	bytes int64
}

func newRanges() ranges { return ranges{byKey: map[rangeKey]*warmRange{}} }

// find looks a document up in the range of its id: what is not in a range
// that is here does not exist.
func (r *ranges) find(t *index.Table, id []byte, at schema.Timestamp) (row *schema.Row, ok bool) {
	n, ok := tuple.PrefixLen(string(id), t.Prefix)
	if !ok {
		return nil, false
	}
	s := r.published(rangeKey{schema.ByID(t.ID), string(id[:n])}, at)
	if s == nil {
		return nil, false
	}
	e, _ := s.Get(string(id))
	return e.row, true
}

// published is the tree of a range for a view at at, nil if there is none.
func (r *ranges) published(k rangeKey, at schema.Timestamp) *tree {
	s := r.byKey[k]
	if s == nil || s.published == nil || s.changed > at {
		return nil
	}
	if !s.used.Load() {
		s.used.Store(true)
	}
	return s.published
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
	delete(r.byKey, s.key)
	r.bytes -= s.bytes
	end := len(r.ring) - 1
	r.ring[i] = r.ring[end]
	r.ring[end] = nil
	r.ring = r.ring[:end]
}

// shrink evicts ranges until the rest fits in budget bytes.
func (r *ranges) shrink(budget int64) {
	for r.bytes > budget && len(r.ring) > 0 {
		if r.hand >= len(r.ring) {
			r.hand = 0
		}
		if s := r.ring[r.hand]; s.used.Load() && budget > 0 {
			s.used.Store(false)
			r.hand++
			continue
		}
		r.dropAt(r.hand)
		r.hand++ // past what took its place: that is the newest, and its turn is a round later
	}
}

// picture is a range as it was at one time. It shares nodes with the range's
// work, which copies what it changes.
type picture struct {
	of    *warmRange
	tree  *tree
	bytes int64
}

// picture is the range as it is now, with what is staged.
func (s *warmRange) picture() picture {
	s.touched = false
	return picture{s, s.work.IsoCopy(), s.workBytes}
}

// publish makes a picture of a range visible to views from ts on.
func (r *ranges) publish(p picture, ts schema.Timestamp) {
	s := p.of
	if r.byKey[s.key] == s {
		r.bytes += p.bytes - s.bytes
	}
	s.published, s.changed, s.bytes = p.tree, ts, p.bytes
}

// set puts an element into work and returns how to undo it.
func (s *warmRange) set(key string, e element) undo {
	old, had := s.work.Set(key, e)
	s.workBytes += elementBytes(key, e)
	if had {
		s.workBytes -= elementBytes(key, old)
	}
	s.touched = true
	return undo{s, key, old, had}
}

// remove takes a document's element out of work and returns how to undo it.
// A key that another document has taken over by now stays.
func (s *warmRange) remove(key, id string) undo {
	old, had := s.work.Get(key)
	if had && old.id == id {
		s.work.Delete(key)
		s.workBytes -= elementBytes(key, old)
		s.touched = true
	}
	return undo{s, key, old, had}
}

// drop takes an element out of work, whichever document it is of.
func (s *warmRange) drop(key string) {
	if old, had := s.work.Delete(key); had {
		s.workBytes -= elementBytes(key, old)
		s.touched = true
	}
}

// undo is what a key of a range was before a staged change.
type undo struct {
	in  *warmRange
	key string
	old element
	had bool
}

func (u undo) apply() {
	if u.had {
		u.in.set(u.key, u.old)
	} else {
		u.in.drop(u.key)
	}
}

package redis

import (
	"fmt"
	"iter"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Where the items of a list are.
//
// An item is a document (uid.TS, uid.N, position) in elements, and its value
// is the document's. Positions are integers in the order of the list. The
// first item of a list has position 0; one that is pushed goes itemGap before
// the first or behind the last, and one that is inserted halfway between its
// neighbours.
//
// The key document's note tells where the list begins and ends, so that
// nothing is looked for when an item is pushed or popped. It is a key tuple of
// integers, see package schema, and there are three forms of it:
//
//	(first)           even: every item is itemGap behind the one before, so
//	                  the last one's position follows from the length
//	(first, last)     aligned: every position is a multiple of itemGap behind
//	                  the first, and some of them are free
//	(first, last, holes, from, to)
//	                  loose: between from and to, items stand anywhere; up to
//	                  from they are aligned with the first, and as of to with
//	                  the last. holes is at least the number of items that
//	                  were removed between first and last
//
// For example 28 is the note of a list that was made by RPUSH. A list of one
// item is even.
//
// Pushing and popping keep a list as it is, or make it simpler. So a queue is
// even for ever: an item is found by arithmetic, and the tombstones of popped
// ones are never met. LREM makes a list aligned, until the free positions have
// come to an end of the list and are gone; LINSERT makes it loose around the
// place, until that has come to an end. When more items than there are left
// were removed from the middle, the list is written anew, even, in a
// collection of its own: so a walk over a list never meets more than about as
// many tombstones as items, and the removals have paid for it.
const (
	itemGap = 1_000_000

	// maxPosition bounds positions on both sides. Coming here takes four
	// million million pushes in one direction; the list is written anew then.
	maxPosition = 1 << 62

	// minHoles is how many removed items in the middle are not worth writing
	// a list anew, however short it is: a chunk or two of a scan.
	minHoles = 32

	// nearEnd is how far from an end an item is looked for by walking from
	// there. Farther in, the whole list is loaded to find an item by its rank.
	nearEnd = 512

	// maxLookUps is how many items of an even list are looked up one by one.
	// That finds what is in memory without any order, and costs from the file
	// what a walk costs; but a walk does not push other documents out of
	// memory.
	maxLookUps = 1024
)

// sequence is a list, as its key document describes it.
type sequence struct {
	uid         uid
	length      int64
	first, last int64 // positions; without meaning when length is 0
	loose       bool
	holes       int64 // of a loose list, as are
	from, to    int64 // the bounds of where it is loose, which may lie beyond its ends
}

// sequenceOf reads the note of a list's key document. A damaged one is
// errDamaged.
func sequenceOf(k *keyDoc) (sequence, error) {
	q := sequence{uid: k.UID, length: k.Length}
	first, rest, err := tuple.TakeInt(k.Value)
	q.first, q.last = first, first+(k.Length-1)*itemGap
	if err == nil && len(rest) > 0 {
		q.last, rest, err = tuple.TakeInt(rest)
	}
	if err == nil && len(rest) > 0 {
		q.loose = true
		for _, n := range []*int64{&q.holes, &q.from, &q.to} {
			if err == nil {
				*n, rest, err = tuple.TakeInt(rest)
			}
		}
	}
	if err != nil || len(rest) > 0 || q.length < 1 || q.first > q.last || q.holes < 0 || q.from > q.to {
		return sequence{}, q.damaged("has a bad note")
	}
	return q, nil
}

// appendNote appends the note that describes the list, which is not empty.
func (q *sequence) appendNote(dst []byte) []byte {
	dst = tuple.AppendInt(dst, q.first)
	if q.even() {
		return dst
	}
	dst = tuple.AppendInt(dst, q.last)
	if q.loose {
		dst = tuple.AppendInt(tuple.AppendInt(tuple.AppendInt(dst, q.holes), q.from), q.to)
	}
	return dst
}

// even says that the position of every item follows from its rank.
func (q *sequence) even() bool {
	return !q.loose && q.last-q.first == (q.length-1)*itemGap
}

// removed is at least the number of items that were removed between first and
// last.
func (q *sequence) removed() int64 {
	if q.loose {
		return q.holes
	}
	return (q.last-q.first)/itemGap + 1 - q.length
}

// shrink takes n items off the length, when the ends are as they will be.
// What is left of a list may be simpler than the list was.
func (q *sequence) shrink(n int64) {
	q.length -= n
	if q.length == 1 || q.first >= q.to || q.last <= q.from {
		q.loose, q.holes, q.from, q.to = false, 0, 0, 0
	}
}

// loosen says that from now on items between two positions stand anywhere.
func (q *sequence) loosen(from, to int64) {
	if q.loose {
		q.from, q.to = min(q.from, from), max(q.to, to)
		return
	}
	q.holes = q.removed()
	q.loose, q.from, q.to = true, from, to
}

// stepsOn says that no item is nearer to an end than a position itemGap away
// from it.
func (q *sequence) stepsOn(right bool) bool {
	if right {
		return !q.loose || q.last-itemGap >= q.to
	}
	return !q.loose || q.first+itemGap <= q.from
}

// end is the position of the last item, or of the first.
func (q *sequence) end(right bool) int64 {
	if right {
		return q.last
	}
	return q.first
}

func (q *sequence) setEnd(right bool, position int64) {
	if right {
		q.last = position
	} else {
		q.first = position
	}
}

// outwards is the step from an end to where the next item is pushed.
func outwards(right bool) int64 {
	if right {
		return itemGap
	}
	return -itemGap
}

// damaged is errDamaged with the list's name.
func (q *sequence) damaged(how string) error {
	return fmt.Errorf("list %d/%d of %d items %s: %w", q.uid.TS, q.uid.N, q.length, how, errDamaged)
}

// itemID is the id of an item, in scratch memory.
func (q *sequence) itemID(v *View, position int64) []byte {
	return v.keep(tuple.AppendInt(appendUID(v.room(), q.uid), position))
}

// item is one item of a list. The value is immutable.
type item struct {
	position int64
	value    []byte
}

// lookUp is the item at a position that must have one.
func (q *sequence) lookUp(v *View, position int64) (item, error) {
	doc, err := v.R.Get(v.elements, q.itemID(v, position))
	if err == firn.ErrNotFound {
		return item{}, q.damaged(fmt.Sprintf("has none at %d", position))
	}
	if err != nil {
		return item{}, err
	}
	return item{position, doc.Value}, nil
}

// walkItems is up to limit items from a position on, which need not have one,
// towards the end or towards the beginning.
func (q *sequence) walkItems(v *View, position, limit int64, backwards bool) iter.Seq2[item, error] {
	from, to := position, q.last+1
	if backwards {
		from, to = q.first, position+1
	}
	ids := appendUID(v.room(), q.uid)
	prefix := len(ids)
	ids = tuple.AppendInt(ids, from)
	n := len(ids)
	ids = tuple.AppendInt(appendUID(ids, q.uid), to)
	ids = v.keep(ids)
	documents := v.R.Scan(firn.Range{
		Index: v.elements.ByID(), From: ids[:n], To: ids[n:], Reverse: backwards, Limit: int(limit),
	})
	return func(yield func(item, error) bool) {
		for found, err := range documents {
			var it item
			if err == nil {
				it.position, _, err = tuple.TakeInt(found.Key[prefix:])
				it.value = found.Doc.Value
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// items is n items from a rank on, towards the end; or, backwards, towards
// the beginning, and then ranks count from the end too. There must be as many:
// otherwise the iteration ends with errDamaged.
func (q *sequence) items(v *View, rank, n int64, backwards bool) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		if q.even() && n <= maxLookUps {
			q.lookUpItems(v, rank, n, backwards, yield)
			return
		}
		from, err := q.positionOf(v, rank, backwards)
		if err != nil {
			yield(item{}, err)
			return
		}
		left := n
		for it, err := range q.walkItems(v, from, n, backwards) {
			if !yield(it, err) || err != nil {
				return
			}
			left--
		}
		if left > 0 {
			yield(item{}, q.damaged(fmt.Sprintf("ends %d too early", left)))
		}
	}
}

// lookUpItems is items of an even list.
func (q *sequence) lookUpItems(v *View, rank, n int64, backwards bool, yield func(item, error) bool) {
	inwards := -outwards(backwards)
	for position := q.end(backwards) + rank*inwards; n > 0; n-- {
		it, err := q.lookUp(v, position)
		if !yield(it, err) || err != nil {
			return
		}
		position += inwards
	}
}

// positionOf is the position of the item of a rank, which counts from the
// end if backwards.
func (q *sequence) positionOf(v *View, rank int64, backwards bool) (int64, error) {
	other := q.length - 1 - rank
	switch {
	case q.even():
		return q.end(backwards) - rank*outwards(backwards), nil
	case rank == 0:
		return q.end(backwards), nil
	case rank <= nearEnd:
		return q.countTo(v, q.end(backwards), rank, backwards)
	case other <= nearEnd:
		return q.countTo(v, q.end(!backwards), other, !backwards)
	case backwards:
		rank = other
	}
	all, err := v.R.Ordered(v.elements.ByID(), v.prefixOf(q.uid))
	if err != nil {
		return 0, err
	}
	if int64(all.Len()) != q.length {
		return 0, q.damaged(fmt.Sprintf("has %d", all.Len()))
	}
	found, err := all.At(int(rank))
	if err != nil {
		return 0, err
	}
	position, _, err := tuple.TakeInt(found.Key[len(v.prefixOf(q.uid)):])
	return position, err
}

// countTo is the position of the item that comes when rank items have been
// passed, from a position on.
func (q *sequence) countTo(v *View, position, rank int64, backwards bool) (int64, error) {
	for it, err := range q.walkItems(v, position, rank+1, backwards) {
		if err != nil {
			return 0, err
		}
		if rank == 0 {
			return it.position, nil
		}
		rank--
	}
	return 0, q.damaged("ends too early")
}

// itemAt is the item of a rank, which is below the length.
func (q *sequence) itemAt(v *View, rank int64) (item, error) {
	position, err := q.positionOf(v, rank, false)
	if err != nil {
		return item{}, err
	}
	return q.lookUp(v, position)
}

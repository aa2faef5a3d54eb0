package keyspace

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
// first item of a list has position 0; one that is pushed goes ItemGap before
// the first or behind the last, and one that is inserted halfway between its
// neighbours.
//
// The key document's note tells where the list begins and ends, so that
// nothing is looked for when an item is pushed or popped. It is a key tuple of
// integers, see package schema, and there are three forms of it:
//
//	(first)           even: every item is ItemGap behind the one before, so
//	                  the last one's position follows from the length
//	(first, last)     aligned: every position is a multiple of ItemGap behind
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
	ItemGap = 1_000_000

	// MaxPosition bounds positions on both sides. Coming here takes four
	// million million pushes in one direction; the list is written anew then.
	MaxPosition = 1 << 62

	// MinHoles is how many removed items in the middle are not worth writing
	// a list anew, however short it is: a chunk or two of a scan.
	MinHoles = 32

	// nearEnd is how far from an end an item is looked for by walking from
	// there. Farther in, the whole list is loaded to find an item by its rank,
	// if it fits; otherwise the items before are skipped.
	nearEnd = 512

	// maxLookUps is how many items of an even list are looked up one by one, if
	// they are few or not held in their order. That finds what is in memory
	// without any order, and costs from the file what a walk costs; but a walk
	// does not push other documents out of memory. Where they are held a walk
	// costs a third for each.
	maxLookUps = 1024
	fewLookUps = 4
)

// Sequence is a list, as its key document describes it.
type Sequence struct {
	UID         UID
	Length      int64
	First, Last int64 // positions; without meaning when length is 0
	Loose       bool
	holes       int64 // of a loose list, as are
	From, To    int64 // the bounds of where it is loose, which may lie beyond its ends
}

// SequenceOf reads the note of a list's key document. A damaged one is
// ErrDamaged.
func SequenceOf(k *KeyDoc) (Sequence, error) {
	q := Sequence{UID: k.UID, Length: k.Length}
	first, rest, err := tuple.TakeInt(k.Value)
	q.First, q.Last = first, first+(k.Length-1)*ItemGap
	if err == nil && len(rest) > 0 {
		q.Last, rest, err = tuple.TakeInt(rest)
	}
	if err == nil && len(rest) > 0 {
		q.Loose = true
		for _, n := range []*int64{&q.holes, &q.From, &q.To} {
			if err == nil {
				*n, rest, err = tuple.TakeInt(rest)
			}
		}
	}
	if err != nil || len(rest) > 0 || q.Length < 1 || q.First > q.Last || q.holes < 0 || q.From > q.To {
		return Sequence{}, q.damaged("has a bad note")
	}
	return q, nil
}

// appendNote appends the note that describes the list, which is not empty.
func (q *Sequence) appendNote(dst []byte) []byte {
	dst = tuple.AppendInt(dst, q.First)
	if q.Even() {
		return dst
	}
	dst = tuple.AppendInt(dst, q.Last)
	if q.Loose {
		dst = tuple.AppendInt(tuple.AppendInt(tuple.AppendInt(dst, q.holes), q.From), q.To)
	}
	return dst
}

// Even says that the position of every item follows from its rank.
func (q *Sequence) Even() bool {
	return !q.Loose && q.Last-q.First == (q.Length-1)*ItemGap
}

// Removed is at least the number of items that were removed between first and
// last.
func (q *Sequence) Removed() int64 {
	if q.Loose {
		return q.holes
	}
	return (q.Last-q.First)/ItemGap + 1 - q.Length
}

// Shrink takes n items off the length, when the ends are as they will be.
// What is left of a list may be simpler than the list was.
func (q *Sequence) Shrink(n int64) {
	q.Length -= n
	if q.Length == 1 || q.First >= q.To || q.Last <= q.From {
		q.Loose, q.holes, q.From, q.To = false, 0, 0, 0
	}
}

// loosen says that from now on items between two positions stand anywhere.
func (q *Sequence) loosen(from, to int64) {
	if q.Loose {
		q.From, q.To = min(q.From, from), max(q.To, to)
		return
	}
	q.holes = q.Removed()
	q.Loose, q.From, q.To = true, from, to
}

// stepsOn says that no item is nearer to an end than a position ItemGap away
// from it.
func (q *Sequence) stepsOn(right bool) bool {
	if right {
		return !q.Loose || q.Last-ItemGap >= q.To
	}
	return !q.Loose || q.First+ItemGap <= q.From
}

// End is the position of the last item, or of the first.
func (q *Sequence) End(right bool) int64 {
	if right {
		return q.Last
	}
	return q.First
}

func (q *Sequence) setEnd(right bool, position int64) {
	if right {
		q.Last = position
	} else {
		q.First = position
	}
}

// outwards is the step from an end to where the next item is pushed.
func outwards(right bool) int64 {
	if right {
		return ItemGap
	}
	return -ItemGap
}

// damaged is ErrDamaged with the list's name.
func (q *Sequence) damaged(how string) error {
	return fmt.Errorf("list %d/%d of %d items %s: %w", q.UID.TS, q.UID.N, q.Length, how, ErrDamaged)
}

// ItemID is the id of an item. It is valid until the command ends.
func (q *Sequence) ItemID(v *View, position int64) []byte {
	return v.Keep(tuple.AppendInt(AppendUID(v.Room(), q.UID), position))
}

// item is one item of a list. The value is good until the command ends, see
// Lasting.
type item struct {
	Position int64
	Value    []byte
}

// LookUp is the item at a position that must have one.
func (q *Sequence) LookUp(v *View, position int64) (item, error) {
	doc, err := readDoc(v, v.Elements, tuple.AppendInt(AppendUID(v.Room(), q.UID), position)) // the id is read at once, so not kept
	if err == firn.ErrNotFound {
		return item{}, q.damaged(fmt.Sprintf("has none at %d", position))
	}
	if err != nil {
		return item{}, err
	}
	return item{position, doc.Value}, nil
}

// lent says of a walk that its values are good until the loop's body has ended.
const lent = true

// walkItems is up to limit items from a position on, which need not have one,
// towards the end or towards the beginning.
func (q *Sequence) walkItems(v *View, position, limit int64, backwards, lent bool) iter.Seq2[item, error] {
	r, prefix := q.rangeFrom(v, position, limit, backwards)
	r.Lent = lent
	return func(yield func(item, error) bool) {
		for found, err := range v.R.Scan(r) {
			var it item
			if err == nil {
				it.Position, _, err = tuple.TakeInt(found.Key[prefix:])
				it.Value = found.Doc.Value
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// rangeFrom is the range of up to limit items from a position on, and how long the
// uid in its keys is.
func (q *Sequence) rangeFrom(v *View, position, limit int64, backwards bool) (r firn.Range, prefix int) {
	from, to := position, q.Last+1
	if backwards {
		from, to = q.First, position+1
	}
	ids := AppendUID(v.Room(), q.UID)
	prefix = len(ids)
	ids = tuple.AppendInt(ids, from)
	n := len(ids)
	ids = v.Keep(tuple.AppendInt(AppendUID(ids, q.UID), to))
	return firn.Range{Index: v.Elements.ByID(), From: ids[:n], To: ids[n:], Reverse: backwards, Limit: int(limit)}, prefix
}

// WalkValues is Lent for values alone, of items that it would walk over. A visit
// for each is cheaper than a loop, but for few of them.
func (q *Sequence) WalkValues(v *View, rank, n int64, visit func(value []byte)) error {
	from, err := q.PositionOf(v, rank, false)
	if err != nil {
		return err
	}
	r, _ := q.rangeFrom(v, from, n, false)
	r.Lent = lent
	for found, err := range v.R.Scan(r) {
		if err != nil {
			return err
		}
		visit(found.Doc.Value)
		n--
	}
	if n > 0 {
		return q.endsEarly(n)
	}
	return nil
}

// LooksUp says that n items are looked up one by one.
func (q *Sequence) LooksUp(v *View, n int64) bool {
	return q.Even() && n <= maxLookUps &&
		(n <= fewLookUps || v.Tx != nil || !v.R.InMemory(v.Elements.ByID(), v.PrefixOf(q.UID)))
}

// endsEarly is ErrDamaged of a list that has fewer items than it should.
func (q *Sequence) endsEarly(missing int64) error {
	return q.damaged(fmt.Sprintf("ends %d too early", missing))
}

// Items is n items from a rank on, towards the end; or, backwards, towards
// the beginning, and then ranks count from the end too. There must be as many:
// otherwise the iteration ends with ErrDamaged.
func (q *Sequence) Items(v *View, rank, n int64, backwards bool) iter.Seq2[item, error] {
	return q.items(v, rank, n, backwards, !lent)
}

// Lent is Items for who keeps nothing: a value is good until the loop's body
// has ended.
func (q *Sequence) Lent(v *View, rank, n int64, backwards bool) iter.Seq2[item, error] {
	return q.items(v, rank, n, backwards, lent)
}

func (q *Sequence) items(v *View, rank, n int64, backwards, lent bool) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		if q.LooksUp(v, n) {
			q.lookUpItems(v, rank, n, backwards, yield)
			return
		}
		from, err := q.PositionOf(v, rank, backwards)
		if err != nil {
			yield(item{}, err)
			return
		}
		left := n
		for it, err := range q.walkItems(v, from, n, backwards, lent) {
			if !yield(it, err) || err != nil {
				return
			}
			left--
		}
		if left > 0 {
			yield(item{}, q.endsEarly(left))
		}
	}
}

// lookUpItems is items of an even list.
func (q *Sequence) lookUpItems(v *View, rank, n int64, backwards bool, yield func(item, error) bool) {
	inwards := -outwards(backwards)
	for position := q.End(backwards) + rank*inwards; n > 0; n-- {
		it, err := q.LookUp(v, position)
		if !yield(it, err) || err != nil {
			return
		}
		position += inwards
	}
}

// PositionOf is the position of the item of a rank, which counts from the
// end if backwards.
func (q *Sequence) PositionOf(v *View, rank int64, backwards bool) (int64, error) {
	other := q.Length - 1 - rank
	switch {
	case q.Even():
		return q.End(backwards) - rank*outwards(backwards), nil
	case rank == 0:
		return q.End(backwards), nil
	case rank <= nearEnd:
		return q.countTo(v, q.End(backwards), rank, backwards)
	case other <= nearEnd:
		return q.countTo(v, q.End(!backwards), other, !backwards)
	case backwards:
		rank = other
	}
	if v.Tx == nil {
		held, err := v.R.Warm(v.Elements.ByID(), v.PrefixOf(q.UID), int(q.Length))
		if err != nil {
			return 0, err
		}
		if !held {
			return q.positionSkipping(v, rank)
		}
	}
	all, err := v.R.Ordered(v.Elements.ByID(), v.PrefixOf(q.UID))
	if err != nil {
		return 0, err
	}
	if int64(all.Len()) != q.Length {
		return 0, q.damaged(fmt.Sprintf("has %d", all.Len()))
	}
	found, err := all.KeyAt(int(rank))
	if err != nil {
		return 0, err
	}
	position, _, err := tuple.TakeInt(found[len(v.PrefixOf(q.UID)):])
	return position, err
}

// positionSkipping is PositionOf, from the front, for a list that is not loaded:
// at a past moment it cannot be.
func (q *Sequence) positionSkipping(v *View, rank int64) (int64, error) {
	prefix := v.PrefixOf(q.UID)
	for key, err := range v.R.Keys(firn.Range{Index: v.Elements.ByID(), Prefix: prefix, Limit: 1}, int(rank)) {
		if err != nil {
			return 0, err
		}
		position, _, err := tuple.TakeInt(key[len(prefix):])
		return position, err
	}
	return 0, q.damaged("ends too early")
}

// countTo is the position of the item that comes when rank items have been
// passed, from a position on.
func (q *Sequence) countTo(v *View, position, rank int64, backwards bool) (int64, error) {
	for it, err := range q.walkItems(v, position, rank+1, backwards, lent) {
		if err != nil {
			return 0, err
		}
		if rank == 0 {
			return it.Position, nil
		}
		rank--
	}
	return 0, q.damaged("ends too early")
}

// ItemAt is the item of a rank, which is below the length.
func (q *Sequence) ItemAt(v *View, rank int64) (item, error) {
	position, err := q.PositionOf(v, rank, false)
	if err != nil {
		return item{}, err
	}
	return q.LookUp(v, position)
}

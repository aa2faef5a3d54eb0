package redis

import (
	"github.com/firndb/firn"
)

// How a list changes: at its ends here, in its middle in listinsert.go. None
// of these writes the key document; that is writeList, at the end.

// openList opens a key to push to it. A key that is not there becomes a list
// without items, which the command must not leave so.
func openList(v *View, s *slot) (sequence, error) {
	if s.live {
		return sequenceOf(&s.key)
	}
	s.key = keyDoc{Kind: kindList}
	return sequence{uid: v.newUID()}, nil
}

// openItems opens a key to change the list there. It may not be
// there.
func openItems(v *View, key []byte) (s slot, q sequence, err error) {
	if s, err = v.openKind(key, kindList); err == nil && s.live {
		q, err = sequenceOf(&s.key)
	}
	return s, q, err
}

// writeList writes the key document of a list that has changed; one without
// items is gone, and what is left of them belongs to the past.
func writeList(v *View, s *slot, q *sequence) error {
	if q.length == 0 {
		return v.delete(s)
	}
	s.key.UID, s.key.Length = q.uid, q.length
	s.key.Value = v.keep(q.appendNote(v.room()))
	return v.write(s, s.key)
}

// reserve makes sure that n more items find positions at an end.
func (q *sequence) reserve(v *View, n int64, right bool) error {
	if q.length == 0 || right && q.last <= maxPosition-n*itemGap || !right && q.first >= n*itemGap-maxPosition {
		return nil
	}
	return q.rewrite(v, 0, q.length, nil)
}

// push adds an item at an end, for which reserve has made sure of a position.
// The value is kept.
func (q *sequence) push(v *View, value []byte, right bool) error {
	position := q.end(right) + outwards(right)
	if q.length == 0 {
		position = 0
		q.setEnd(!right, position)
	}
	q.setEnd(right, position)
	q.length++
	return v.Tx.Put(v.elements, q.itemID(v, position), value)
}

// popItem takes the item at an end off a list that is not empty. The last one of
// a list stays where it is: the list goes.
func (q *sequence) popItem(v *View, right bool) ([]byte, error) {
	it, err := q.lookUp(v, q.end(right))
	if err != nil {
		return nil, err
	}
	if q.length == 1 {
		q.shrink(1)
		return it.value, nil
	}
	even := q.even()
	if err := v.Tx.Delete(v.elements, q.itemID(v, it.position), nil); err != nil {
		return nil, err
	}
	next := it.position - outwards(right)
	if !even {
		if next, err = q.behind(v, right); err != nil {
			return nil, err
		}
	}
	q.setEnd(right, next)
	q.shrink(1)
	return it.value, nil
}

// behind is the position of the item next to the one at an end. It is looked
// for from there inwards: what was popped before lies on the other side.
func (q *sequence) behind(v *View, right bool) (int64, error) {
	if q.stepsOn(right) {
		next := q.end(right) - outwards(right)
		switch _, err := v.R.Get(v.elements, q.itemID(v, next)); err {
		case nil:
			return next, nil
		case firn.ErrNotFound:
		default:
			return 0, err
		}
	}
	if right {
		return q.countTo(v, q.last-1, 0, right)
	}
	return q.countTo(v, q.first+1, 0, right)
}

// take is pop of n items, with a visit to each value if visit is not nil.
func (q *sequence) take(v *View, n int64, right bool, visit func(value []byte)) error {
	if n == 0 {
		return nil
	}
	if n == q.length && visit == nil {
		q.shrink(n)
		return nil
	}
	if n < q.length && q.even() {
		for ; n > 0; n-- {
			value, err := q.popItem(v, right)
			if err != nil {
				return err
			}
			if visit != nil {
				visit(value)
			}
		}
		return nil
	}
	return q.takeWalking(v, n, right, visit)
}

// takeWalking is take of a list that is not even, or of all items: those stay
// where they are, and the list goes.
func (q *sequence) takeWalking(v *View, n int64, right bool, visit func(value []byte)) error {
	all := n == q.length
	left := n
	for it, err := range q.items(v, 0, min(n+1, q.length), right) {
		if err != nil {
			return err
		}
		if left == 0 {
			q.setEnd(right, it.position)
			break
		}
		left--
		if visit != nil {
			visit(it.value)
		}
		if all {
			continue
		}
		if err := v.Tx.Delete(v.elements, q.itemID(v, it.position), nil); err != nil {
			return err
		}
	}
	q.shrink(n)
	return nil
}

// rewrite copies n items from a rank on, but for those at the positions
// without, which are in order, into a collection of their own, and makes that
// the list. It costs a document for each item that is copied; the others are
// left alone.
func (q *sequence) rewrite(v *View, rank, n int64, without []int64) error {
	fresh := sequence{uid: v.newUID()}
	for it, err := range q.items(v, rank, n, false) {
		if err != nil {
			return err
		}
		if len(without) > 0 && without[0] == it.position {
			without = without[1:]
			continue
		}
		if err := fresh.push(v, it.value, true); err != nil {
			return err
		}
	}
	*q = fresh
	return nil
}

// trimItems keeps n items from a rank on.
func (q *sequence) trimItems(v *View, rank, n int64) error {
	if n < q.length-n {
		return q.rewrite(v, rank, n, nil)
	}
	right := q.length - rank - n
	if err := q.take(v, rank, false, nil); err != nil {
		return err
	}
	return q.take(v, right, true, nil)
}

// cut removes the items at positions, which are in order. first and last are
// the ends of what is left, of which there is something.
func (q *sequence) cut(v *View, positions []int64, first, last int64) error {
	n := int64(len(positions))
	if n > q.length-n {
		return q.rewrite(v, 0, q.length, positions)
	}
	for _, position := range positions {
		if err := v.Tx.Delete(v.elements, q.itemID(v, position), nil); err != nil {
			return err
		}
	}
	if q.loose {
		q.holes += n
	}
	q.first, q.last = first, last
	q.shrink(n)
	if q.removed() > q.length+minHoles {
		return q.rewrite(v, 0, q.length, nil)
	}
	return nil
}

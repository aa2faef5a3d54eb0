package redis

import (
	"github.com/firndb/firn"
)

// How a list changes: at its ends here, in its middle in listinsert.go. None
// of these writes the key document; that is writeList, at the end.

// openList opens a key to push to it. A key that is not there becomes a list
// without items, which the command must not leave so.
func (v *View) openList(s *slot) (sequence, error) {
	if s.live {
		return sequenceOf(&s.key)
	}
	s.key = keyDoc{Kind: kindList}
	return sequence{uid: v.newUID()}, nil
}

// openItems opens a key to change the list there. It may not be
// there.
func (v *View) openItems(key []byte) (s slot, q sequence, err error) {
	if s, err = v.openKind(key, kindList); err == nil && s.live {
		q, err = sequenceOf(&s.key)
	}
	return s, q, err
}

// writeList writes the key document of a list that has changed; one without
// items is gone, and what is left of them belongs to the past.
func (v *View) writeList(s *slot, q *sequence) error {
	if q.length == 0 {
		return v.delete(s)
	}
	s.key.UID, s.key.Length = q.uid, q.length
	s.key.Value = v.keep(q.appendNote(v.room()))
	return v.write(s, s.key)
}

// reserve makes sure that n more items find positions at an end.
func (v *View) reserve(q *sequence, n int64, right bool) error {
	if q.length == 0 || right && q.last <= maxPosition-n*itemGap || !right && q.first >= n*itemGap-maxPosition {
		return nil
	}
	return v.rewrite(q, 0, q.length, nil)
}

// push adds an item at an end, for which reserve has made sure of a position.
// The value is kept.
func (v *View) push(q *sequence, value []byte, right bool) error {
	position := q.end(right) + outwards(right)
	if q.length == 0 {
		position = 0
		q.setEnd(!right, position)
	}
	q.setEnd(right, position)
	q.length++
	return v.Tx.Put(v.elements, v.itemID(q, position), value)
}

// popItem takes the item at an end off a list that is not empty. The last one of
// a list stays where it is: the list goes.
func (v *View) popItem(q *sequence, right bool) ([]byte, error) {
	it, err := v.lookUp(q, q.end(right))
	if err != nil {
		return nil, err
	}
	if q.length == 1 {
		q.shrink(1)
		return it.value, nil
	}
	even := q.even()
	if err := v.Tx.Delete(v.elements, v.itemID(q, it.position), nil); err != nil {
		return nil, err
	}
	next := it.position - outwards(right)
	if !even {
		if next, err = v.behind(q, right); err != nil {
			return nil, err
		}
	}
	q.setEnd(right, next)
	q.shrink(1)
	return it.value, nil
}

// behind is the position of the item next to the one at an end. It is looked
// for from there inwards: what was popped before lies on the other side.
func (v *View) behind(q *sequence, right bool) (int64, error) {
	if q.stepsOn(right) {
		next := q.end(right) - outwards(right)
		switch _, err := v.R.Get(v.elements, v.itemID(q, next)); err {
		case nil:
			return next, nil
		case firn.ErrNotFound:
		default:
			return 0, err
		}
	}
	if right {
		return v.countTo(q, q.last-1, 0, right)
	}
	return v.countTo(q, q.first+1, 0, right)
}

// take is pop of n items, with a visit to each value if visit is not nil.
func (v *View) take(q *sequence, n int64, right bool, visit func(value []byte)) error {
	if n == 0 {
		return nil
	}
	if n == q.length && visit == nil {
		q.shrink(n)
		return nil
	}
	if n < q.length && q.even() {
		for ; n > 0; n-- {
			value, err := v.popItem(q, right)
			if err != nil {
				return err
			}
			if visit != nil {
				visit(value)
			}
		}
		return nil
	}
	return v.takeWalking(q, n, right, visit)
}

// takeWalking is take of a list that is not even, or of all items: those stay
// where they are, and the list goes.
func (v *View) takeWalking(q *sequence, n int64, right bool, visit func(value []byte)) error {
	all := n == q.length
	left := n
	for it, err := range v.items(q, 0, min(n+1, q.length), right) {
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
		if err := v.Tx.Delete(v.elements, v.itemID(q, it.position), nil); err != nil {
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
func (v *View) rewrite(q *sequence, rank, n int64, without []int64) error {
	fresh := sequence{uid: v.newUID()}
	for it, err := range v.items(q, rank, n, false) {
		if err != nil {
			return err
		}
		if len(without) > 0 && without[0] == it.position {
			without = without[1:]
			continue
		}
		if err := v.push(&fresh, it.value, true); err != nil {
			return err
		}
	}
	*q = fresh
	return nil
}

// trimItems keeps n items from a rank on.
func (v *View) trimItems(q *sequence, rank, n int64) error {
	if n < q.length-n {
		return v.rewrite(q, rank, n, nil)
	}
	right := q.length - rank - n
	if err := v.take(q, rank, false, nil); err != nil {
		return err
	}
	return v.take(q, right, true, nil)
}

// cut removes the items at positions, which are in order. first and last are
// the ends of what is left, of which there is something.
func (v *View) cut(q *sequence, positions []int64, first, last int64) error {
	n := int64(len(positions))
	if n > q.length-n {
		return v.rewrite(q, 0, q.length, positions)
	}
	for _, position := range positions {
		if err := v.Tx.Delete(v.elements, v.itemID(q, position), nil); err != nil {
			return err
		}
	}
	if q.loose {
		q.holes += n
	}
	q.first, q.last = first, last
	q.shrink(n)
	if q.removed() > q.length+minHoles {
		return v.rewrite(q, 0, q.length, nil)
	}
	return nil
}

package keyspace

// How a list changes: at its ends here, in its middle in listinsert.go. None
// of these writes the key document; that is WriteList, at the end.

// OpenList opens a key to push to it. A key that is not there becomes a list
// without items, which the command must not leave so.
func OpenList(v *View, s *Slot) (Sequence, error) {
	if s.Live {
		return SequenceOf(&s.Key)
	}
	s.Key = KeyDoc{Kind: KindList}
	return Sequence{UID: v.NewUID()}, nil
}

// OpenItems opens a key to change the list there. It may not be
// there.
func OpenItems(v *View, key []byte) (s Slot, q Sequence, err error) {
	if s, err = v.OpenKind(key, KindList); err == nil && s.Live {
		q, err = SequenceOf(&s.Key)
	}
	return s, q, err
}

// WriteList writes the key document of a list that has changed; one without
// items is gone, and what is left of them belongs to the past.
func WriteList(v *View, s *Slot, q *Sequence) error {
	if q.Length == 0 {
		return v.Delete(s)
	}
	s.Key.UID, s.Key.Length = q.UID, q.Length
	s.Key.Value = v.Keep(q.appendNote(v.Room()))
	return v.Write(s, s.Key)
}

// Reserve makes sure that n more items find positions at an end.
func (q *Sequence) Reserve(v *View, n int64, right bool) error {
	if q.Length == 0 || right && q.Last <= MaxPosition-n*ItemGap || !right && q.First >= n*ItemGap-MaxPosition {
		return nil
	}
	return q.rewrite(v, 0, q.Length, nil)
}

// Push adds an item at an end, for which reserve has made sure of a position.
// The value is kept.
func (q *Sequence) Push(v *View, value []byte, right bool) error {
	position := q.End(right) + outwards(right)
	if q.Length == 0 {
		position = 0
		q.setEnd(!right, position)
	}
	q.setEnd(right, position)
	q.Length++
	return v.Tx.Put(v.Elements, q.ItemID(v, position), value)
}

// PopItem takes the item at an end off a list that is not empty. The last one of
// a list stays where it is: the list goes.
func (q *Sequence) PopItem(v *View, right bool) ([]byte, error) {
	it, err := q.LookUp(v, q.End(right))
	if err != nil {
		return nil, err
	}
	if q.Length == 1 {
		q.Shrink(1)
		return it.Value, nil
	}
	even := q.Even()
	if err := v.Tx.Delete(v.Elements, q.ItemID(v, it.Position), nil); err != nil {
		return nil, err
	}
	next := it.Position - outwards(right)
	if !even {
		if next, err = q.behind(v, right); err != nil {
			return nil, err
		}
	}
	q.setEnd(right, next)
	q.Shrink(1)
	return it.Value, nil
}

// behind is the position of the item next to the one at an end. It is looked
// for from there inwards: what was popped before lies on the other side.
func (q *Sequence) behind(v *View, right bool) (int64, error) {
	if q.stepsOn(right) {
		next := q.End(right) - outwards(right)
		if there, err := hasDoc(v, v.Elements, q.ItemID(v, next)); there || err != nil {
			return next, err
		}
	}
	if right {
		return q.countTo(v, q.Last-1, 0, right)
	}
	return q.countTo(v, q.First+1, 0, right)
}

// Take is pop of n items, with a visit to each value if visit is not nil.
func (q *Sequence) Take(v *View, n int64, right bool, visit func(value []byte)) error {
	if n == 0 {
		return nil
	}
	if n == q.Length && visit == nil {
		q.Shrink(n)
		return nil
	}
	if n < q.Length && q.Even() {
		for ; n > 0; n-- {
			value, err := q.PopItem(v, right)
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
func (q *Sequence) takeWalking(v *View, n int64, right bool, visit func(value []byte)) error {
	all := n == q.Length
	left := n
	for it, err := range q.Items(v, 0, min(n+1, q.Length), right) {
		if err != nil {
			return err
		}
		if left == 0 {
			q.setEnd(right, it.Position)
			break
		}
		left--
		if visit != nil {
			visit(it.Value)
		}
		if all {
			continue
		}
		if err := v.Tx.Delete(v.Elements, q.ItemID(v, it.Position), nil); err != nil {
			return err
		}
	}
	q.Shrink(n)
	return nil
}

// rewrite copies n items from a rank on, but for those at the positions
// without, which are in order, into a collection of their own, and makes that
// the list. It costs a document for each item that is copied; the others are
// left alone.
func (q *Sequence) rewrite(v *View, rank, n int64, without []int64) error {
	fresh := Sequence{UID: v.NewUID()}
	for it, err := range q.Items(v, rank, n, false) {
		if err != nil {
			return err
		}
		if len(without) > 0 && without[0] == it.Position {
			without = without[1:]
			continue
		}
		if err := fresh.Push(v, Lasting(v, it.Value), true); err != nil {
			return err
		}
	}
	*q = fresh
	return nil
}

// TrimItems keeps n items from a rank on.
func (q *Sequence) TrimItems(v *View, rank, n int64) error {
	if n < q.Length-n {
		return q.rewrite(v, rank, n, nil)
	}
	right := q.Length - rank - n
	if err := q.Take(v, rank, false, nil); err != nil {
		return err
	}
	return q.Take(v, right, true, nil)
}

// Cut removes the items at positions, which are in order. first and last are
// the ends of what is left, of which there is something.
func (q *Sequence) Cut(v *View, positions []int64, first, last int64) error {
	n := int64(len(positions))
	if n > q.Length-n {
		return q.rewrite(v, 0, q.Length, positions)
	}
	for _, position := range positions {
		if err := v.Tx.Delete(v.Elements, q.ItemID(v, position), nil); err != nil {
			return err
		}
	}
	if q.Loose {
		q.holes += n
	}
	q.First, q.Last = first, last
	q.Shrink(n)
	if q.Removed() > q.Length+MinHoles {
		return q.rewrite(v, 0, q.Length, nil)
	}
	return nil
}

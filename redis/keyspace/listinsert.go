package keyspace

import "slices"

// Inserting between two items, and making room for that.
//
// Halving a gap of ItemGap leaves room for 20 items at one place. When there
// is none left, the items around it are spread evenly over the room that they
// have together: as few as give each of them enough. A window of firstWindow
// items must give minSpacing, and one twice as large a quarter more, so that
// the windows inside one that was spread take many insertions to be full
// again. Mostly that is no document but the new one; and at the worst place two
// more on average, as TestInsertingAtOnePlaceMovesFewItems measures.
const (
	firstWindow = 32
	minSpacing  = 1 << 10
)

// Insert puts an item between two neighbours. The value is kept.
func (q *Sequence) Insert(v *View, before, behind int64, value []byte) error {
	position, aligned := between(before, behind)
	if position == before {
		return q.makeRoom(v, before, behind, value)
	}
	if !aligned || q.Loose && before < q.To && behind > q.From {
		q.loosen(before, behind)
	}
	q.Length++
	return v.Tx.Put(v.Elements, q.ItemID(v, position), value)
}

// between is a position halfway between two, or before itself if there is
// none. aligned says that it is a multiple of ItemGap behind before.
func between(before, behind int64) (position int64, aligned bool) {
	if gaps := (behind - before) / ItemGap; gaps >= 2 {
		return before + gaps/2*ItemGap, true
	}
	return before + (behind-before)/2, false
}

// makeRoom inserts an item where there is no position left between its
// neighbours.
func (q *Sequence) makeRoom(v *View, before, behind int64, value []byte) error {
	least := int64(minSpacing)
	for half := int64(firstWindow / 2); ; half *= 2 {
		w, err := q.windowAround(v, before, behind, half)
		if err != nil {
			return err
		}
		w.values = slices.Insert(w.values, w.middle, value)
		if w.fromStart && w.toEnd {
			return q.replace(v, &w)
		}
		if w.spread() >= least {
			return q.moveItems(v, &w)
		}
		least += least / 4
	}
}

// window is items next to each other in a list.
type window struct {
	positions          []int64
	values             [][]byte
	middle             int   // rank in the window of the item that is inserted
	fromStart, toEnd   bool  // nothing is before it, or behind it
	before, behind     int64 // the positions next to it, where there is something
	newFirst, newSpace int64 // where its items go: the first, and from one to the next
}

// windowAround is up to half items on either side of a place between two.
func (q *Sequence) windowAround(v *View, before, behind, half int64) (w window, err error) {
	if w.before, w.fromStart, err = q.lookAround(v, &w, before, half, true); err != nil {
		return w, err
	}
	slices.Reverse(w.positions)
	slices.Reverse(w.values)
	w.middle = len(w.positions)
	w.behind, w.toEnd, err = q.lookAround(v, &w, behind, half, false)
	return w, err
}

// lookAround adds up to n items to a window, and says which position comes next, or
// that none does.
func (q *Sequence) lookAround(v *View, w *window, position, n int64, backwards bool) (next int64, end bool, err error) {
	for it, err := range q.walkItems(v, position, n+1, backwards, !lent) {
		if err != nil {
			return 0, false, err
		}
		if n == 0 {
			return it.Position, false, nil
		}
		w.positions = append(w.positions, it.Position)
		w.values = append(w.values, Lasting(v, it.Value))
		n--
	}
	return 0, true, nil
}

// spread gives the window's items new positions, and says how far apart. At
// an end of the list there is all the room that one likes.
func (w *window) spread() int64 {
	n := int64(len(w.values))
	switch {
	case w.fromStart:
		w.newSpace, w.newFirst = ItemGap, w.behind-n*ItemGap
	case w.toEnd:
		w.newSpace, w.newFirst = ItemGap, w.before+ItemGap
	default:
		w.newSpace = (w.behind - w.before) / (n + 1)
		w.newFirst = w.before + w.newSpace
	}
	return w.newSpace
}

// has says that an item goes to a position.
func (w *window) has(position int64) bool {
	away := position - w.newFirst
	return away >= 0 && away%w.newSpace == 0 && away/w.newSpace < int64(len(w.values))
}

// moveItems puts a window's items where spread has put them.
func (q *Sequence) moveItems(v *View, w *window) error {
	from, to := w.before, w.behind
	if w.fromStart {
		from = w.newFirst
		q.First = from
	}
	if w.toEnd {
		to = w.newFirst + int64(len(w.values)-1)*w.newSpace
		q.Last = to
	}
	q.loosen(from, to)
	for _, position := range w.positions {
		if w.has(position) {
			continue
		}
		if err := v.Tx.Delete(v.Elements, q.ItemID(v, position), nil); err != nil {
			return err
		}
		q.holes++
	}
	for i, value := range w.values {
		if err := v.Tx.Put(v.Elements, q.ItemID(v, w.newFirst+int64(i)*w.newSpace), value); err != nil {
			return err
		}
	}
	q.Length++
	return nil
}

// replace makes a window the list, in a collection of its own.
func (q *Sequence) replace(v *View, w *window) error {
	*q = Sequence{UID: v.NewUID()}
	for _, value := range w.values {
		if err := q.Push(v, value, true); err != nil {
			return err
		}
	}
	return nil
}

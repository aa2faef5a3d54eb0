package reader

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// held is an ordered range of which the head has the counts, or a view the
// whole, as that view sees it. Leaves that are absent are read when they are
// asked for: by a transaction into the head, by a view for itself, and what it
// has read it offers to the head.
type held struct {
	view  *View
	t     *index.Table
	key   rangeKey
	tree  *pages.Tree
	warm  *warmRange // the head's; nil if the view holds the range alone
	apart bool       // tree is a snapshot, though the view is a transaction's

	gap  *pages.Gap // what the view has read last
	last *pages.Tree
}

// alone says of a transaction's use of a range that it does not write until
// that has ended.
const alone = true

// full says of what is read from tail and file that the documents are wanted,
// too, and not only the keys.
const full = true

// errRetry says that the tree has the leaf now.
var errRetry = errors.New("retry")

// leaf is the entries of a gap. errRetry, bare, says that they are in the tree
// now.
func (r *held) leaf(g *pages.Gap, rows bool) (*pages.Tree, error) {
	if r.view.hot {
		return nil, ErrCold
	}
	if r.view.tx && r.warm != nil {
		return nil, r.bring(g, rows)
	}
	if r.gap != nil && *r.gap == *g {
		return r.last, nil
	}
	leaf, err := readLeaf(r.view, r.t, r.key, g, rows)
	if err != nil {
		return nil, r.checked(err)
	}
	r.gap, r.last = g, leaf
	if r.warm != nil && r.view.present {
		offer(r.view.head, adoption{key: r.key, table: r.t, tree: leaf, at: r.view.at, gap: g})
	}
	return leaf, nil
}

// bring reads the leaf of a gap into the head, for a transaction.
func (r *held) bring(g *pages.Gap, rows bool) error {
	work := r.warm.work
	if now := work.AbsentAt(g.From); now != nil {
		leaf, err := readLeaf(r.view, r.t, r.key, now, rows)
		if err == nil {
			err = work.Install(now.From, leaf)
		}
		if err != nil {
			return r.checked(err)
		}
		h := r.view.head
		if over := work.Bytes() - h.budget/2; over > 0 {
			r.warm.hand, _ = work.Evict(r.warm.hand, over+over/8, nil)
			h.mu.Lock()
			h.ranges.lose(r.warm)
			admitLost(h)
			h.mu.Unlock()
		}
		if !r.warm.loaded {
			r.warm.loaded = true
			l := h.staged.running()
			l.loaded = append(l.loaded, r.warm)
		}
	}
	if r.apart {
		r.tree = work.Snapshot()
	}
	return errRetry
}

// checked takes a range out of the head that has counted wrongly.
func (r *held) checked(err error) error {
	if err != pages.ErrCount {
		return err
	}
	h := r.view.head
	if r.warm != nil {
		h.mu.Lock()
		h.ranges.drop(r.warm)
		admitLost(h)
		h.mu.Unlock()
	}
	return fmt.Errorf("%w: a range of %s has not as many entries as were counted", schema.ErrCorrupt, r.t.Name)
}

// rangesFull says that a leaf that is read now takes the place of another one.
func (h *Head) rangesFull() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	most := rangesMost(h)
	return h.ranges.bytes > most-most/rangesFullShare
}

// rangesFullShare: of their part of the budget, ranges that are full leave at
// most one part in so many. They are evicted by whole leaves.
const rangesFullShare = 16

// atCold is the i-th entry of a gap, and nothing else of it: where memory is
// full and one entry is wanted of each of many leaves, to read them whole would
// push out others as good.
func (r *held) atCold(g *pages.Gap, i int) (key []byte, v pages.Value, err error) {
	if r.view.hot {
		return nil, v, ErrCold
	}
	e, err := r.atIn(g, i)
	switch {
	case err != nil:
		return nil, v, err
	case e.Index.Number() > 0:
		return []byte(e.Key), idElement(nil, e.Key, e.ID), nil
	}
	return []byte(e.Key), bareElement(nil, e.TS), nil
}

// readLeaf reads the entries of a gap; ErrCount, bare, if they are not as many
// as were counted.
func readLeaf(v *View, t *index.Table, k rangeKey, g *pages.Gap, rows bool) (*pages.Tree, error) {
	b := pages.Builder{Page: v.head.pageBytes}
	m := walking(v, k.keysOf(g), chunkFor(g.Count))
	for {
		e, ok, err := m.next()
		if err != nil {
			return nil, fmt.Errorf("load a part of a range of %s at %d: %w", t.Name, v.at, err)
		}
		if !ok {
			break
		}
		if err := build(v, &b, t, e, rows); err != nil {
			return nil, err
		}
	}
	if b.Len() != g.Count {
		return nil, pages.ErrCount
	}
	return b.Tree(), nil
}

// build appends the element of an entry.
func build(v *View, b *pages.Builder, t *index.Table, e schema.Entry, rows bool) error {
	var room [64]byte
	switch {
	case e.Index.Number() > 0:
		b.Add(e.Key, idElement(room[:0], e.Key, e.ID))
	case rows:
		row, err := v.version(t, e.Key, e.TS)
		if err != nil {
			return err
		}
		b.Add(e.Key, rowElement(room[:0], row))
	default:
		b.Add(e.Key, bareElement(room[:0], e.TS))
	}
	return nil
}

// rank is how many keys come before key, and whether key itself is there.
func (r *held) rank(key string) (rank int, found bool, err error) {
	for {
		rank, found, gap := r.tree.Rank(key)
		if gap == nil {
			return rank, found, nil
		}
		leaf, err := r.leaf(gap, !full)
		if err == errRetry {
			continue
		}
		if err != nil {
			return 0, false, err
		}
		rank, found, _ = leaf.Rank(key)
		return gap.Before + rank, found, nil
	}
}

// before is rank for who does not ask whether the key is there.
func (r *held) before(key string) (rank int, err error) {
	rank, _, gap := r.tree.Rank(key)
	switch {
	case gap == nil:
		return rank, nil
	case r.brief(gap):
		rank, err = r.rankIn(gap, key)
		return gap.Before + rank, err
	}
	rank, _, err = r.rank(key)
	return rank, err
}

// at is the entry of a rank, which is below the length.
func (r *held) at(rank int) (key []byte, v pages.Value, err error) {
	for {
		key, v, gap := r.tree.At(rank)
		if gap == nil {
			return key, v, nil
		}
		if r.view.tx && r.warm != nil && r.view.head.rangesFull() {
			return r.atCold(gap, rank-gap.Before)
		}
		leaf, err := r.leaf(gap, !full)
		if err == errRetry {
			continue
		}
		if err != nil {
			return nil, v, err
		}
		key, v, _ = leaf.At(rank - gap.Before)
		return key, v, nil
	}
}

// visitor sees an element of a walk; false ends it.
type visitor func(key []byte, v pages.Value) bool

// ascend visits what is at or after from. rows says that the documents will be
// asked for.
func (r *held) ascend(from string, rows bool, visit visitor) error {
	more := true
	each := func(key []byte, v pages.Value) bool {
		more = visit(key, v)
		return more
	}
	for {
		gap := r.tree.Ascend(from, each)
		if gap == nil || !more {
			return nil
		}
		from = max(from, gap.From)
		leaf, err := r.leaf(gap, rows)
		if err == errRetry {
			continue
		}
		if err != nil {
			return err
		}
		leaf.Ascend(from, each)
		if from = gap.To; !more || from == "" {
			return nil
		}
	}
}

// descend visits what is within a bound, the greatest key first.
func (r *held) descend(from pages.Bound, rows bool, visit visitor) error {
	more := true
	each := func(key []byte, v pages.Value) bool {
		more = visit(key, v)
		return more
	}
	for {
		gap := r.tree.Descend(from, each)
		if gap == nil || !more {
			return nil
		}
		if gap.To != "" && (from.Kind == pages.Last || from.Key >= gap.To) {
			from = pages.Bound{Key: gap.To, Kind: pages.Before}
		}
		leaf, err := r.leaf(gap, rows)
		if err == errRetry {
			continue
		}
		if err != nil {
			return err
		}
		leaf.Descend(from, each)
		if !more || gap.From == "" {
			return nil
		}
		from = pages.Bound{Key: gap.From, Kind: pages.Before}
	}
}

// bounds is the ranks of a range of keys: from, inclusive, to, exclusive.
func (r *held) bounds(keys schema.KeyRange) (from, to int, err error) {
	all := index.PrefixRange(r.key.index, r.key.prefix)
	to = r.tree.Len()
	if keys.From > all.From {
		if from, err = r.before(keys.From); err != nil {
			return 0, 0, err
		}
	}
	if keys.To != "" && (all.To == "" || keys.To < all.To) {
		to, err = r.before(keys.To)
	}
	return from, to, err
}

// item is an element with its document.
func (r *held) item(key string, v pages.Value) (Item, error) {
	if r.key.index.Number() > 0 {
		row, err := r.view.resolve(r.t, string(appendElementID(nil, []byte(key), v)))
		return Item{key, row}, err
	}
	if row := elementRow(r.t.ID, key, v, r.view.tx); row != nil {
		return Item{key, row}, nil
	}
	row, err := r.view.version(r.t, key, elementTS(v))
	if err == nil && r.view.tx && row.Deleted {
		err = ErrNotFound
	}
	return Item{key, row}, err
}

// holds says that heldRange would be a range.
func (v *View) holds(k rangeKey) bool {
	if k.prefix == "" {
		return false
	}
	v.head.mu.RLock()
	defer v.head.mu.RUnlock()
	if v.tx {
		return v.head.staged.rangeOf(v.head, k) != nil
	}
	return v.head.ranges.published(k, v.at) != nil
}

// heldRange is a range as the view sees it, if the head has it; nil if the view
// must look elsewhere. To a transaction that does not say that it is alone it
// is a snapshot that its writes leave alone.
func (v *View) heldRange(t *index.Table, k rangeKey, alone bool) *held {
	if k.prefix == "" {
		return nil
	}
	v.head.mu.RLock()
	defer v.head.mu.RUnlock()
	s := v.head.ranges.byKey[k]
	if s == nil && v.tx {
		s = v.head.staged.born.ranges[k]
	}
	if s == nil {
		return nil
	}
	r := &held{view: v, t: t, key: k, warm: s}
	if !v.tx {
		r.tree = v.head.ranges.published(k, v.at)
	} else {
		s.touch()
		if r.tree = s.work; !alone {
			r.tree, r.apart = s.work.Snapshot(), true
		}
	}
	if r.tree == nil {
		return nil
	}
	return r
}

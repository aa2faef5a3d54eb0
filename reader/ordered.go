package reader

import (
	"fmt"
	"iter"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// Ordered is a whole range in key order, with the operations that a sorted
// list offers. It costs a logarithm of the length to get at any rank, and a
// part of the range, some hundred elements, to be read if it is not in memory.
//
// An Ordered of a view does not change, and is valid as long as the view. One
// of a transaction is valid until the transaction's next write.
type Ordered struct {
	in    *held
	noter Noter // nil: nobody wants to know
}

// Ordered is the whole range of keys with a prefix, which must be of the
// length that the table declares for the index. In a view of the present it
// stays in the head, if it fits.
func (v *View) Ordered(t *index.Table, x schema.IndexID, prefix string) (*Ordered, error) {
	k := rangeKey{x, prefix}
	if n, ok := tuple.PrefixLen(prefix, t.PrefixOf(x)); !ok || n != len(prefix) || n == 0 {
		return nil, fmt.Errorf("%w: %q is not a prefix of %d elements", index.ErrDeclaration, prefix, t.PrefixOf(x))
	}
	if v.tx {
		s, err := warmRangeFor(v, t, k)
		if err != nil {
			return nil, err
		}
		return &Ordered{in: &held{view: v, t: t, key: k, tree: s.work, warm: s}}, nil
	}
	if in := v.heldRange(t, k, !alone); in != nil {
		return &Ordered{in: in}, nil
	}
	if v.hot {
		return nil, ErrCold
	}
	tree, err := loadAndOffer(v, t, k, false)
	if err != nil {
		return nil, err
	}
	return &Ordered{in: &held{view: v, t: t, key: k, tree: tree}}, nil
}

// loadAndOffer is load for a view that is not a transaction's.
func loadAndOffer(v *View, t *index.Table, k rangeKey, counted bool) (*pages.Tree, error) {
	log := beginBuilding(v, k)
	tree, err := v.load(t, k, counted)
	if tree == nil || err != nil {
		endBuilding(v.head, k, log)
		return nil, err
	}
	if v.present && v.head.budget > 0 {
		offer(v.head, adoption{key: k, table: t, tree: tree, at: v.at, log: log})
	}
	return tree, nil
}

// InMemory reports whether the range of a prefix is in memory, at least its
// counts, as the view sees it.
func (v *View) InMemory(x schema.IndexID, prefix string) bool {
	return v.holds(rangeKey{x, prefix})
}

// Len is the number of elements.
func (o *Ordered) Len() int {
	o.passed("", "")
	return o.in.tree.Len()
}

// At is the element at rank i, from 0; ErrNotFound, bare, if there is none.
func (o *Ordered) At(i int) (Item, error) {
	key, v, err := o.placed(i)
	if err != nil {
		return Item{}, err
	}
	item, err := o.in.item(key, v)
	o.read(item, err)
	return item, err
}

// KeyAt is the key at rank i, from 0; ErrNotFound, bare, if there is none.
func (o *Ordered) KeyAt(i int) (string, error) {
	key, _, err := o.placed(i)
	return key, err
}

// placed is the key at rank i, and what is there.
func (o *Ordered) placed(i int) (string, pages.Value, error) {
	if i < 0 || i >= o.in.tree.Len() {
		o.passed("", "")
		return "", pages.Value{}, ErrNotFound
	}
	key, v, err := o.in.at(i)
	if err != nil {
		return "", v, err
	}
	o.passed("", string(key)+"\x00")
	return string(key), v, nil
}

// Rank is how many keys come before key, and whether key itself is there.
func (o *Ordered) Rank(key []byte) (rank int, found bool, err error) {
	o.passed("", string(key)+"\x00")
	return o.in.rank(string(key))
}

// Ascend walks up from the first key at or after from.
func (o *Ordered) Ascend(from []byte) iter.Seq2[Item, error] {
	return o.noted(string(from), false, o.walk(func(visit visitor) error { return o.in.ascend(string(from), full, visit) }))
}

// Descend walks down from the last key at or before from; nil is the end.
func (o *Ordered) Descend(from []byte) iter.Seq2[Item, error] {
	bound := pages.Bound{Key: string(from), Kind: pages.AtOrBefore}
	end := string(from) + "\x00"
	if from == nil {
		bound.Kind, end = pages.Last, ""
	}
	return o.noted(end, true, o.walk(func(visit visitor) error { return o.in.descend(bound, full, visit) }))
}

func (o *Ordered) walk(each func(visitor) error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var names names
		err := each(func(key []byte, v pages.Value) bool {
			item, err := o.in.item(names.of(key), v)
			return yield(item, err) && err == nil
		})
		if err != nil {
			yield(Item{}, err)
		}
	}
}

// Warm brings the range of a prefix into the head, as Ordered does, if it is
// of about n keys and their counts would fit, and says whether it is there. If n
// is 0 it does so only if the file has counted the range. In a view of the
// past, which could not leave it there, it only says so.
func (v *View) Warm(t *index.Table, x schema.IndexID, prefix string, n int) (held bool, err error) {
	k := rangeKey{x, prefix}
	if v.holds(k) {
		return true, nil
	}
	if !v.present && !v.tx || v.head.budget == 0 || int64(n)/leastLeaf*indexBytes > v.head.budget/largestShare {
		return false, nil
	}
	switch counted := n == 0; {
	case v.hot:
		return false, ErrCold
	case v.tx:
		_, err = loadRange(v.head, t, k, counted)
	case v.at == v.head.Newest():
		_, err = loadAndOffer(v, t, k, counted)
	default: // what was committed since would have to be made up for
		fresh := new(View)
		fresh.Reset(v.head, false)
		defer fresh.Close()
		_, err = loadAndOffer(fresh, t, k, counted)
	}
	if err != nil {
		return false, err
	}
	return v.holds(k), nil
}

// What Warm takes the counts of a range to need: so many bytes for a leaf of
// so many keys. A wrong guess costs reading a range that then does not stay.
const (
	leastLeaf  = 32
	indexBytes = 100
)

package reader

import (
	"iter"

	"github.com/tidwall/btree"

	"github.com/firndb/firn/schema"
)

// element is what an ordered range keeps under a key: the id of the document,
// and in a range of an index by id the document itself.
type element struct {
	id  string
	row *schema.Row
}

type tree = btree.Map[string, element]

// elementOverhead is what an element costs beside its key: key and element
// (40 bytes) in nodes about two thirds full, and the row that it may keep.
const elementOverhead = 160

func elementBytes(key string, e element) int64 {
	n := int64(len(key)) + elementOverhead
	if e.row != nil {
		n += int64(cap(e.row.Value))
	}
	return n
}

// Ordered is a whole range in key order, with the operations that a sorted
// list offers. It costs a logarithm of the length to get at any rank.
//
// An Ordered of a view does not change. One of a transaction is valid until
// the transaction's next write.
type Ordered struct {
	tree *tree
	get  func(id string) (*schema.Row, error) // resolves elements without a row
}

// Len is the number of elements.
func (o *Ordered) Len() int { return o.tree.Len() }

// At is the element at rank i, from 0; ErrNotFound, bare, if there is none.
func (o *Ordered) At(i int) (Item, error) {
	key, e, ok := o.tree.GetAt(i)
	if !ok {
		return Item{}, ErrNotFound
	}
	return o.item(key, e)
}

// Rank is how many keys come before key, and whether key itself is there.
func (o *Ordered) Rank(key []byte) (rank int, found bool) {
	k := string(key)
	_, found = o.tree.Get(k)
	return rankIn(o.tree, k), found
}

// Ascend walks up from the first key at or after from.
func (o *Ordered) Ascend(from []byte) iter.Seq2[Item, error] {
	return o.walk(func(visit func(string, element) bool) { o.tree.Ascend(string(from), visit) })
}

// Descend walks down from the last key at or before from; nil is the end.
func (o *Ordered) Descend(from []byte) iter.Seq2[Item, error] {
	return o.walk(func(visit func(string, element) bool) {
		if from == nil {
			o.tree.Reverse(visit)
			return
		}
		o.tree.Descend(string(from), visit)
	})
}

func (o *Ordered) walk(each func(func(string, element) bool)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		each(func(key string, e element) bool {
			item, err := o.item(key, e)
			return yield(item, err) && err == nil
		})
	}
}

func (o *Ordered) item(key string, e element) (Item, error) {
	if e.row != nil {
		return Item{key, e.row}, nil
	}
	row, err := o.get(e.id)
	return Item{key, row}, err
}

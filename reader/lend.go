package reader

import (
	"bytes"
	"iter"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// What a walk lends.
//
// A scan gives its items away: a key and a row on the heap for each. One that
// lends them has one row for all, whose key is in the walk's buffer and whose
// value is in the page, which does not change while the view holds it. So a
// reply of a hundred items is encoded straight from the pages.

// Lend is Scan for who keeps nothing: an item, its key and its document are
// good until the loop's body has ended, and must not be modified.
func (v *View) Lend(t *index.Table, r schema.KeyRange, limit int) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if overwritesLent.Load() {
			yield = overwriting(yield)
		}
		key, _ := rangeFor(t, r)
		in := v.heldRange(t, key, !alone)
		if in == nil || key.index.Number() > 0 {
			v.Scan(t, r, limit)(yield)
			return
		}
		if limit <= 0 {
			limit = int(^uint(0) >> 1)
		}
		in.lend(r, limit, yield)
	}
}

// lend is scan in a range by id, with items that are lent.
func (r *held) lend(keys schema.KeyRange, limit int, yield func(Item, error) bool) {
	row := new(schema.Row)
	r.walk(keys, func(found []byte, value pages.Value) bool {
		key := unsafe.String(unsafe.SliceData(found), len(found))
		if beyond(keys, key) {
			return false
		}
		item := Item{key, row}
		if decodeElement(row, value) {
			row.Table, row.ID = r.t.ID, key
		} else {
			var err error
			switch item, err = r.item(strings.Clone(key), value); {
			case err == ErrNotFound:
				return true
			case err != nil:
				yield(item, err)
				return false
			}
		}
		limit--
		return yield(item, nil) && limit > 0
	}, yield)
}

// overwritesLent says that nobody finds what was lent where it was.
var overwritesLent atomic.Bool

// OverwriteLent is for tests: what is lent from now on is overwritten when the
// loop's body has ended, so that who has kept it is found out, or is not.
func OverwriteLent(on bool) { overwritesLent.Store(on) }

// overwriting yields items in memory of their own, and overwrites that.
func overwriting(yield func(Item, error) bool) func(Item, error) bool {
	return func(item Item, err error) bool {
		if err != nil {
			return yield(item, err)
		}
		key, row := []byte(item.Key), *item.Doc
		if row.Value != nil {
			row.Value = append(make([]byte, 0, len(row.Value)), row.Value...)
		}
		item = Item{unsafe.String(unsafe.SliceData(key), len(key)), &row}
		if row.ID == item.Key {
			row.ID = item.Key
		}
		more := yield(item, nil)
		for _, lent := range [][]byte{key, row.Value} {
			copy(lent, bytes.Repeat([]byte{0xdb}, len(lent)))
		}
		row = schema.Row{}
		return more
	}
}

package reader

import (
	"fmt"
	"iter"
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// Scan walks the live documents of a range in key order, at most limit of
// them; 0 is no limit. In a view of the present a range that is read whole
// stays in the head, if it fits.
//
// A transaction may write while it scans; whether the scan sees that is not
// said, except that what the transaction wrote before is seen.
func (v *View) Scan(t *index.Table, r schema.KeyRange, limit int) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if limit <= 0 {
			limit = int(^uint(0) >> 1)
		}
		key, whole := rangeFor(t, r)
		if in := v.heldRange(t, key, !alone); in != nil {
			in.scan(r, limit, yield)
			return
		}
		collect := whole && v.present && !v.hot && v.head.budget > 0
		v.scanSources(t, key, r, limit, collect, yield)
	}
}

// rangeFor is the ordered range that r lies in, if any, and whether r is all of
// it.
func rangeFor(t *index.Table, r schema.KeyRange) (k rangeKey, whole bool) {
	elements := t.PrefixOf(r.Index)
	if elements == 0 {
		return rangeKey{}, false
	}
	n, ok := tuple.PrefixLen(r.From, elements)
	if !ok {
		return rangeKey{}, false
	}
	all := index.PrefixRange(r.Index, r.From[:n])
	if r.To == "" && all.To != "" || all.To != "" && r.To > all.To {
		return rangeKey{}, false
	}
	return rangeKey{r.Index, r.From[:n]}, r.From == all.From && r.To == all.To
}

// scan is Scan in a range that is held.
func (r *held) scan(keys schema.KeyRange, limit int, yield func(Item, error) bool) {
	var names names
	r.walk(keys, func(found []byte, value pages.Value) bool {
		key := names.of(found)
		if beyond(keys, key) {
			return false
		}
		item, err := r.item(key, value)
		if err == ErrNotFound {
			return true
		}
		limit--
		return yield(item, err) && err == nil && limit > 0
	}, yield)
}

// walk visits the elements from one end of a range of keys on, to its other end
// or beyond. An error is yielded.
func (r *held) walk(keys schema.KeyRange, visit visitor, yield func(Item, error) bool) {
	var err error
	if keys.Reverse {
		err = r.descend(endOf(keys), full, visit)
	} else {
		err = r.ascend(keys.From, full, visit)
	}
	if err != nil {
		yield(Item{}, err)
	}
}

// beyond says that a walk, which has begun within a range, is past its end.
func beyond(r schema.KeyRange, key string) bool {
	if r.Reverse {
		return key < r.From
	}
	return r.To != "" && key >= r.To
}

// scanSources merges tail and file. collect offers what was read to the head.
func (v *View) scanSources(t *index.Table, k rangeKey, r schema.KeyRange, limit int, collect bool, yield func(Item, error) bool) {
	if v.hot {
		yield(Item{}, ErrCold)
		return
	}
	found := pages.New(v.head.pageBytes)
	m := v.sources(r, limit)
	for ; limit > 0; limit-- {
		e, ok, err := m.next()
		if err != nil {
			yield(Item{}, fmt.Errorf("scan %s at %d: %w", t.Name, v.at, err))
			return
		}
		if !ok {
			if collect {
				offer(v.head, adoption{key: k, table: t, tree: found, at: v.at})
			}
			return
		}
		item, err := v.item(t, e)
		if err == ErrNotFound {
			limit++
			continue
		}
		if collect && err == nil {
			collect = gather(found, item, e, v.head.budget)
		}
		if !yield(item, err) || err != nil {
			return
		}
	}
}

// gather collects an item; false when the range is too large to keep.
// Items come in either order.
func gather(found *pages.Tree, item Item, e schema.Entry, budget int64) bool {
	var room [64]byte
	found.Set(e.Key, elementOf(room[:0], e, item.Doc))
	return found.Bytes() <= budget/largestShare
}

// sources are the tail and the file, to read about limit entries from.
func (v *View) sources(r schema.KeyRange, limit int) merge {
	return walking(v, r, min(limit, firstChunk))
}

// walking is sources whose first chunks have so many entries.
func walking(v *View, r schema.KeyRange, size int) merge {
	m := merge{reverse: r.Reverse, cursors: make([]cursor, 0, 3)}
	m.cursors = append(m.cursors, runCursor(v.runs.Active, r, v.at, size))
	if v.runs.Frozen != nil {
		m.cursors = append(m.cursors, runCursor(v.runs.Frozen, r, v.at, size))
	}
	m.cursors = append(m.cursors, fileCursor(v, r, size))
	return m
}

// item resolves an index entry to the document that it leads to; ErrNotFound,
// bare, if the transaction has deleted that since it began to scan.
func (v *View) item(t *index.Table, e schema.Entry) (Item, error) {
	if e.Index.Number() == 0 {
		row, err := v.version(t, e.Key, e.TS)
		if v.tx && err == nil && row.Deleted {
			err = ErrNotFound
		}
		return Item{e.Key, row}, err
	}
	row, err := v.resolve(t, e.ID)
	return Item{e.Key, row}, err
}

// resolve is the live document that an entry of a declared index leads to;
// ErrNotFound, bare, if the transaction has deleted it since it read the
// entry.
func (v *View) resolve(t *index.Table, id string) (*schema.Row, error) {
	row, err := v.Get(t, []byte(id))
	if err == ErrNotFound && !v.tx {
		err = fmt.Errorf("%w: an index of %s leads to %q, which is deleted at %d", schema.ErrCorrupt, t.Name, id, v.at)
	}
	return row, err
}

// warmRangeFor is the range as the running transaction sees it, loaded if need be.
func warmRangeFor(v *View, t *index.Table, k rangeKey) (*warmRange, error) {
	v.head.mu.RLock()
	s := v.head.staged.rangeOf(v.head, k)
	v.head.mu.RUnlock()
	if s != nil {
		s.touch()
		return s, nil
	}
	return loadRange(v.head, t, k, false)
}

// maxRead is how many documents are read to have them in a range that is
// loaded. The others are read when they are asked for.
const maxRead = 1024

// readTree reads a whole range from tail and file. What would take too much of
// the head is only counted.
func (v *View) readTree(t *index.Table, k rangeKey) (*pages.Tree, error) {
	b := pages.Builder{Page: v.head.pageBytes}
	m := v.sources(index.PrefixRange(k.index, k.prefix), maxChunk)
	for {
		e, ok, err := m.next()
		if err != nil {
			return nil, fmt.Errorf("load a range of %s at %d: %w", t.Name, v.at, err)
		}
		if !ok {
			return b.Tree(), nil
		}
		if err := build(v, &b, t, e, b.Len() < maxRead); err != nil {
			return nil, err
		}
		if v.head.budget > 0 && b.Bytes() > v.head.budget/largestShare {
			b.Thin()
		}
	}
}

// Count is the number of live documents whose id has a prefix. In the present
// it is known for prefixes that the table counts; otherwise it is counted.
func (v *View) Count(t *index.Table, prefix string) (int, error) {
	if n, ok := tuple.PrefixLen(prefix, t.Prefix); t.Counted && ok && n == len(prefix) {
		if n, ok := v.counted(t, prefix); ok {
			return int(n), nil
		}
	}
	return v.countSources(t, index.PrefixRange(schema.ByID(t.ID), prefix), 0)
}

// counted is the count that the head keeps.
func (v *View) counted(t *index.Table, prefix string) (int64, bool) {
	if !v.present && !v.tx {
		return 0, false
	}
	v.head.mu.RLock()
	n, ok := v.head.counts.at(v.at, t.ID, prefix)
	v.head.mu.RUnlock()
	if !v.tx {
		return n, ok
	}
	for l := range v.head.staged.layers {
		for i := range v.head.staged.layers[l].changes {
			c := &v.head.staged.layers[l].changes[i]
			if c.table == t && strings.HasPrefix(c.row.ID, prefix) {
				n += t.Delta(c.old, c.row)
			}
		}
	}
	return n, ok
}

// endOf is where a walk down a range of keys begins.
func endOf(keys schema.KeyRange) pages.Bound {
	if keys.To == "" {
		return pages.Bound{}
	}
	return pages.Bound{Key: keys.To, Kind: pages.Before}
}

func fileCursor(v *View, r schema.KeyRange, size int) cursor {
	return cursor{rest: r, size: size, fill: func(dst []schema.Entry, r schema.KeyRange, limit int) ([]schema.Entry, schema.KeyRange, bool, error) {
		s, err := v.session()
		if err != nil {
			return nil, r, false, err
		}
		return s.Scan(dst, r, v.at, limit)
	}}
}

// countSources counts the entries of a range in tail and file. all is what
// CountRange says.
func (v *View) countSources(t *index.Table, r schema.KeyRange, all int) (int, error) {
	if v.hot {
		return 0, ErrCold
	}
	if all >= countFirst {
		if n, ok, err := countFences(v, t, r, all); ok || err != nil {
			return n, err
		}
	}
	m := v.sources(r, firstChunk)
	for n := 0; ; n++ {
		if n == walkFirst && all < countFirst {
			if n, ok, err := countFences(v, t, r, all); ok || err != nil {
				return n, err
			}
		}
		_, ok, err := m.next()
		if err != nil {
			return 0, fmt.Errorf("count %s at %d: %w", t.Name, v.at, err)
		}
		if !ok {
			return n, nil
		}
	}
}

// countFences is countSources by the file's fences; ok is false if the range has
// none.
func countFences(v *View, t *index.Table, r schema.KeyRange, all int) (n int, ok bool, err error) {
	key, _ := rangeFor(t, r)
	c, err := v.counting(key)
	if c != nil && err == nil {
		n, err = c.count(r, all)
	}
	if err != nil {
		return 0, false, fmt.Errorf("count %s at %d: %w", t.Name, v.at, err)
	}
	return n, c != nil, nil
}

// counting is how a range that the head does not hold is counted by its fences;
// nil if it has none.
func (v *View) counting(k rangeKey) (*counting, error) {
	whole := index.PrefixRange(k.index, k.prefix)
	if k.prefix == "" || whole.To == "" {
		return nil, nil
	}
	s, err := v.session()
	if err != nil {
		return nil, err
	}
	return v.head.counted.open(source{s, v.runs, v.head}, whole, v.at, !v.tx && v.head.budget > 0)
}

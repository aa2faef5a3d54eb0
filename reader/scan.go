package reader

import (
	"fmt"
	"iter"
	"strings"

	"github.com/firndb/firn/index"
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
		if tr := v.treeFor(key); tr != nil {
			v.scanTree(t, tr, r, limit, yield)
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
	all := prefixRange(r.Index, r.From[:n])
	if r.To == "" && all.To != "" || all.To != "" && r.To > all.To {
		return rangeKey{}, false
	}
	return rangeKey{r.Index, r.From[:n]}, r.From == all.From && r.To == all.To
}

// treeFor is a range that the head has, as the view sees it; nil if the view
// must look elsewhere. To a transaction it is a copy that its writes leave
// alone.
func (v *View) treeFor(k rangeKey) *tree {
	tr := v.sharedTree(k)
	if tr != nil && v.tx {
		return tr.IsoCopy()
	}
	return tr
}

// sharedTree is treeFor without the copy: a transaction must not write while
// it walks.
func (v *View) sharedTree(k rangeKey) *tree {
	if k.prefix == "" {
		return nil
	}
	v.head.mu.RLock()
	defer v.head.mu.RUnlock()
	if !v.tx {
		return v.head.ranges.published(k, v.at)
	}
	if s := v.head.ranges.byKey[k]; s != nil {
		s.used.Store(true)
		return s.work
	}
	return nil
}

func (v *View) scanTree(t *index.Table, tr *tree, r schema.KeyRange, limit int, yield func(Item, error) bool) {
	visit := func(key string, e element) bool {
		if limit == 0 || !contains(r, key) {
			return false
		}
		limit--
		if e.row != nil {
			return yield(Item{key, e.row}, nil)
		}
		row, err := v.resolve(t, e.id)
		if err == ErrNotFound {
			limit++
			return true
		}
		return yield(Item{key, row}, err) && err == nil
	}
	switch {
	case !r.Reverse:
		tr.Ascend(r.From, visit)
	case r.To == "":
		tr.Reverse(visit)
	default:
		tr.Descend(r.To, func(key string, e element) bool {
			return key == r.To || visit(key, e)
		})
	}
}

func contains(r schema.KeyRange, key string) bool {
	return key >= r.From && (r.To == "" || key < r.To)
}

// scanSources merges tail and file. collect offers what was read to the head.
func (v *View) scanSources(t *index.Table, k rangeKey, r schema.KeyRange, limit int, collect bool, yield func(Item, error) bool) {
	if v.hot {
		yield(Item{}, ErrCold)
		return
	}
	found := adoption{key: k, table: t, tree: new(tree), at: v.at}
	m := v.sources(r, limit)
	for ; limit > 0; limit-- {
		e, ok, err := m.next()
		if err != nil {
			yield(Item{}, fmt.Errorf("scan %s at %d: %w", t.Name, v.at, err))
			return
		}
		if !ok {
			if collect {
				offer(v.head, found)
			}
			return
		}
		item, err := v.item(t, e)
		if err == ErrNotFound {
			limit++
			continue
		}
		if collect && err == nil {
			collect = found.add(item, e, v.head.budget)
		}
		if !yield(item, err) || err != nil {
			return
		}
	}
}

// add collects an item; false when the range is too large to keep.
func (a *adoption) add(item Item, e schema.Entry, budget int64) bool {
	el := element{id: e.Document()}
	if e.Index.Number() == 0 {
		el.row = item.Doc
	}
	a.tree.Set(item.Key, el)
	a.bytes += elementBytes(item.Key, el)
	if a.bytes > budget/largestShare {
		a.tree = nil
		return false
	}
	return true
}

// sources are the tail and the file, to read about limit entries from.
func (v *View) sources(r schema.KeyRange, limit int) merge {
	size := min(limit, firstChunk)
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

// Ordered is the whole range of keys with a prefix, which must be of the
// length that the table declares for the index. In a view of the present it
// stays in the head, if it fits.
func (v *View) Ordered(t *index.Table, x schema.IndexID, prefix string) (*Ordered, error) {
	k := rangeKey{x, prefix}
	if n, ok := tuple.PrefixLen(prefix, t.PrefixOf(x)); !ok || n != len(prefix) || n == 0 {
		return nil, fmt.Errorf("%w: %q is not a prefix of %d elements", index.ErrDeclaration, prefix, t.PrefixOf(x))
	}
	get := func(id string) (*schema.Row, error) { return v.resolve(t, id) }
	if v.tx {
		s, err := v.warmRange(t, k)
		if err != nil {
			return nil, err
		}
		return &Ordered{s.work, get}, nil
	}
	if tr := v.treeFor(k); tr != nil {
		return &Ordered{tr, get}, nil
	}
	if v.hot {
		return nil, ErrCold
	}
	tr, bytes, err := v.readTree(t, k)
	if err != nil {
		return nil, err
	}
	if v.present && v.head.budget > 0 {
		offer(v.head, adoption{k, t, tr.IsoCopy(), v.at, bytes})
	}
	return &Ordered{tr, get}, nil
}

// InMemory reports whether the range of a prefix is in memory, as the view
// sees it.
func (v *View) InMemory(x schema.IndexID, prefix string) bool {
	return v.sharedTree(rangeKey{x, prefix}) != nil
}

// warmRange is the range as the running transaction sees it, loaded if need be.
func (v *View) warmRange(t *index.Table, k rangeKey) (*warmRange, error) {
	v.head.mu.RLock()
	s := v.head.ranges.byKey[k]
	v.head.mu.RUnlock()
	if s != nil {
		s.used.Store(true)
		return s, nil
	}
	return loadRange(v.head, t, k)
}

// readTree reads a whole range from tail and file.
func (v *View) readTree(t *index.Table, k rangeKey) (*tree, int64, error) {
	found := adoption{tree: new(tree)}
	m := v.sources(prefixRange(k.index, k.prefix), maxChunk)
	for {
		e, ok, err := m.next()
		if err != nil {
			return nil, 0, fmt.Errorf("load a range of %s at %d: %w", t.Name, v.at, err)
		}
		if !ok {
			return found.tree, found.bytes, nil
		}
		el := element{id: e.Document()}
		if k.index.Number() == 0 {
			if el.row, err = v.version(t, e.Key, e.TS); err != nil {
				return nil, 0, err
			}
		}
		found.tree.Set(e.Key, el)
		found.bytes += elementBytes(e.Key, el)
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
	return v.countSources(t, prefixRange(schema.ByID(t.ID), prefix))
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

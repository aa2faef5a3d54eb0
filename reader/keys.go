package reader

import (
	"fmt"
	"iter"
	"sort"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// Keys walks the keys of a range in order, without reading the documents that
// they lead to: all but the first skip, and at most limit; 0 is no limit. In a
// range that the head has, skipping costs a logarithm; elsewhere the skipped
// entries are read, as far as the file does not know how many they are.
//
// In a transaction it is valid until the next write.
func (v *View) Keys(t *index.Table, r schema.KeyRange, skip, limit int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if limit <= 0 {
			limit = int(^uint(0) >> 1)
		}
		key, _ := rangeFor(t, r)
		if tr := v.sharedTree(key); tr != nil {
			walkTree(tr, r, skip, limit, yield)
			return
		}
		if v.hot {
			yield("", ErrCold)
			return
		}
		if skip >= walkFirst {
			c, err := v.counting(key)
			if c != nil && err == nil {
				r, skip, err = c.skip(r, skip)
			}
			if err != nil {
				yield("", fmt.Errorf("count keys of %s at %d: %w", t.Name, v.at, err))
				return
			}
		}
		m := v.sources(r, max(skip, limit))
		for n := 0; n < limit; {
			e, ok, err := m.next()
			if err != nil {
				yield("", fmt.Errorf("scan keys of %s at %d: %w", t.Name, v.at, err))
				return
			}
			if !ok {
				return
			}
			if skip > 0 {
				skip--
				continue
			}
			n++
			if !yield(e.Key, nil) {
				return
			}
		}
	}
}

// CountRange is the number of entries of a range: at once if the head has it,
// else they are counted, as far as the file does not know, and the documents not
// read.
func (v *View) CountRange(t *index.Table, r schema.KeyRange) (int, error) {
	key, _ := rangeFor(t, r)
	if tr := v.sharedTree(key); tr != nil {
		from, to := bounds(tr, r)
		return max(to-from, 0), nil
	}
	return v.countSources(t, r)
}

// countSources counts the entries of a range in tail and file.
func (v *View) countSources(t *index.Table, r schema.KeyRange) (int, error) {
	if v.hot {
		return 0, ErrCold
	}
	m := v.sources(r, firstChunk)
	for n := 0; ; n++ {
		if n == walkFirst {
			key, _ := rangeFor(t, r)
			c, err := v.counting(key)
			all := 0
			if c != nil && err == nil {
				all, err = c.count(r)
			}
			if err != nil {
				return 0, fmt.Errorf("count %s at %d: %w", t.Name, v.at, err)
			}
			if c != nil {
				return all, nil
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

// counting is how a range that the head does not hold is counted by its fences;
// nil if it has none.
func (v *View) counting(k rangeKey) (*counting, error) {
	whole := prefixRange(k.index, k.prefix)
	if k.prefix == "" || whole.To == "" {
		return nil, nil
	}
	s, err := v.session()
	if err != nil {
		return nil, err
	}
	return v.head.counted.open(s, v.runs, whole, v.at, !v.tx && v.head.budget > 0)
}

// Warm brings the range of a prefix into the head, as Ordered does, if it is
// of about n keys and they would fit, and says whether it is there. In a view
// of the past, which could not leave it there, it only says so.
func (v *View) Warm(t *index.Table, x schema.IndexID, prefix string, n int) (held bool, err error) {
	k := rangeKey{x, prefix}
	if v.sharedTree(k) != nil {
		return true, nil
	}
	each := int64(len(prefix) + elementOverhead + typicalKeyBytes)
	if !v.present && !v.tx || int64(n) > v.head.budget/largestShare/each {
		return false, nil
	}
	if _, err := v.Ordered(t, x, prefix); err != nil {
		return false, err
	}
	return v.sharedTree(k) != nil, nil
}

// typicalKeyBytes is what Warm takes a key to be long behind its prefix. A
// wrong guess costs reading a range that then does not stay.
const typicalKeyBytes = 32

// rankIn is how many keys of a tree come before key.
func rankIn(tr *tree, key string) int {
	return sort.Search(tr.Len(), func(i int) bool {
		at, _, _ := tr.GetAt(i)
		return at >= key
	})
}

// bounds is the ranks of a range in a tree: from, inclusive, to, exclusive.
func bounds(tr *tree, r schema.KeyRange) (from, to int) {
	from, to = rankIn(tr, r.From), tr.Len()
	if r.To != "" {
		to = rankIn(tr, r.To)
	}
	return from, to
}

// walkTree is Keys in a tree. Ranks are looked up only where keys are skipped.
func walkTree(tr *tree, r schema.KeyRange, skip, limit int, yield func(string, error) bool) {
	visit := func(key string, _ element) bool {
		if !contains(r, key) {
			return false
		}
		limit--
		return yield(key, nil) && limit > 0
	}
	start := r.From
	if skip != 0 {
		from, to := bounds(tr, r)
		if skip < 0 || skip >= to-from {
			return
		}
		rank := from + skip
		if r.Reverse {
			rank = to - 1 - skip
		}
		start, _, _ = tr.GetAt(rank)
	}
	switch {
	case !r.Reverse:
		tr.Ascend(start, visit)
	case skip != 0:
		tr.Descend(start, visit)
	case r.To == "":
		tr.Reverse(visit)
	default:
		tr.Descend(r.To, func(key string, e element) bool { return key == r.To || visit(key, e) })
	}
}

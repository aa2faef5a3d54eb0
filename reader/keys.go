package reader

import (
	"fmt"
	"iter"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
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
		if in := v.heldRange(t, key, alone); in != nil {
			in.keys(r, skip, limit, yield)
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
// read. all is how many entries the ordered range has that r lies in, if the
// caller knows it, and 0 otherwise: then those that are not in r may be counted.
func (v *View) CountRange(t *index.Table, r schema.KeyRange, all int) (int, error) {
	key, _ := rangeFor(t, r)
	if in := v.heldRange(t, key, alone); in != nil {
		from, to, err := in.bounds(r)
		return max(to-from, 0), err
	}
	return v.countSources(t, r, all)
}

// keys is Keys in a range that is held. Ranks are looked up only where keys are
// skipped.
func (r *held) keys(keys schema.KeyRange, skip, limit int, yield func(string, error) bool) {
	var names names
	visit := func(found []byte, _ pages.Value) bool {
		key := names.of(found)
		if beyond(keys, key) {
			return false
		}
		limit--
		return yield(key, nil) && limit > 0
	}
	start, any, away := keys.From, true, false
	var err error
	if skip != 0 {
		start, any, away, err = r.skipped(keys, skip, limit)
	}
	switch {
	case err != nil || !any:
	case away:
		err = r.walkFew(keys, start, limit, visit)
	case !keys.Reverse:
		err = r.ascend(start, !full, visit)
	case skip != 0:
		err = r.descend(pages.Bound{Key: start, Kind: pages.AtOrBefore}, !full, visit)
	default:
		err = r.descend(endOf(keys), !full, visit)
	}
	if err != nil {
		yield("", err)
	}
}

// skipped is the key where a walk of at most limit keys begins that leaves some
// out; ok is false if there are not so many, and away says that the leaf is
// absent and not worth being read for that.
func (r *held) skipped(keys schema.KeyRange, skip, limit int) (start string, ok, away bool, err error) {
	from, to, err := r.bounds(keys)
	if err != nil || skip < 0 || skip >= to-from {
		return "", false, false, err
	}
	rank := from + skip
	if keys.Reverse {
		rank = to - 1 - skip
	}
	if _, _, gap := r.tree.At(rank); gap != nil && limit <= fewKeys && r.brief(gap) {
		e, err := r.atIn(gap, rank-gap.Before)
		return e.Key, err == nil, true, err
	}
	key, _, err := r.at(rank)
	return string(key), true, false, err
}

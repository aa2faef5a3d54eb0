package reader

import (
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// load is a whole range as the view sees it: from what the file has counted, if
// it is a large one, and else by a walk, unless counted is all that is asked
// for; then there may be none.
func (v *View) load(t *index.Table, k rangeKey, counted bool) (*pages.Tree, error) {
	if v.head.budget > 0 {
		tree, err := countedTree(v, t, k)
		if tree != nil || err != nil || counted {
			return tree, err
		}
	}
	return v.readTree(t, k)
}

// countedTree is a range of which the file has the counts; nil if it has none.
// Intervals that it could not count are walked, and those that have become
// large.
func countedTree(v *View, t *index.Table, k rangeKey) (*pages.Tree, error) {
	s, err := v.session()
	if err != nil {
		return nil, err
	}
	all := index.PrefixRange(k.index, k.prefix)
	fences, err := index.FencesAt(nil, s, v.runs, all, v.at)
	if err != nil {
		return nil, fmt.Errorf("count a range of %s at %d: %w", t.Name, v.at, err)
	}
	if len(fences) == 0 {
		return nil, nil
	}
	b := pages.Builder{Page: v.head.pageBytes}
	for i, f := range fences {
		part := all
		if i > 0 {
			part.From = f.Key
			b.Cut(f.Key)
		}
		if i+1 < len(fences) {
			part.To = fences[i+1].Key
		}
		if err := addInterval(v, &b, t, part, f); err != nil {
			return nil, err
		}
	}
	return b.Tree(), nil
}

// addInterval appends what a fence is about.
func addInterval(v *View, b *pages.Builder, t *index.Table, r schema.KeyRange, f schema.Fence) error {
	switch {
	case f.Live == 0:
		return nil
	case f.Live > 0 && f.Live <= 2*maxAbsent:
		b.Absent(int(f.Live), int64(min(f.TS, v.at)))
		return nil
	}
	m := v.sources(r, maxChunk)
	for {
		e, ok, err := m.next()
		if err != nil {
			return fmt.Errorf("load a part of a range of %s at %d: %w", t.Name, v.at, err)
		}
		if !ok {
			return nil
		}
		if err := build(v, b, t, e, !full); err != nil {
			return err
		}
	}
}

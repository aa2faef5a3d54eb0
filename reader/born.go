package reader

import (
	"slices"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// born is the ordered ranges that begin in transactions that are not published
// yet. What a transaction has named itself nobody wrote before, so such a range
// is complete from its first entry on, and neither tail nor file is asked for
// it.
type born struct {
	prefixes []string // that the running transaction has promised
	ranges   map[rangeKey]*warmRange
}

// maxPromised bounds what a transaction may promise; more is not made use of.
const maxPromised = 16

// Fresh is the running transaction's promise that no id, and no key of an
// index, begins with a prefix that it has not written itself.
func (h *Head) Fresh(prefix string) {
	b := &h.staged.born
	if h.budget > 0 && len(b.prefixes) < maxPromised {
		b.prefixes = append(b.prefixes, prefix)
	}
}

// warmRangeOf is the range that an entry belongs to, nil if it is not here. One
// that begins with the entry is made.
func warmRangeOf(h *Head, t *index.Table, e schema.Entry) *warmRange {
	b := &h.staged.born
	if len(h.ranges.byKey)+len(b.ranges)+len(b.prefixes) == 0 {
		return nil
	}
	k, ok := rangeOf(t, e.Index, e.Key)
	if !ok {
		return nil
	}
	if s := h.staged.rangeOf(h, k); s != nil {
		return s
	}
	if !slices.Contains(b.prefixes, k.prefix) {
		return nil
	}
	return b.begin(k, h)
}

// begin makes a range that has nothing in it.
func (b *born) begin(k rangeKey, h *Head) *warmRange {
	s := newWarmRange(k, pages.New(h.pageBytes))
	s.pristine = true
	if b.ranges == nil {
		b.ranges = map[rangeKey]*warmRange{}
	}
	b.ranges[k] = s
	l := h.staged.running()
	l.born = append(l.born, s)
	return s
}

// rangeOf is a range as transactions see it, nil if it is not here. Its
// caller holds mu shared, and Lock.
func (s *staged) rangeOf(h *Head, k rangeKey) *warmRange {
	if r := h.ranges.byKey[k]; r != nil {
		return r
	}
	return s.born.ranges[k]
}

// grown is a leaf that is absent, and has become so large that it should be
// read and split.
type grown struct {
	table *index.Table
	in    *warmRange
	key   string
}

// maxAbsent is how many entries an absent leaf may have before it is read: what
// is read of a range at once, when a rank is asked for, is as much.
const maxAbsent = 512

// splitGrown reads the leaves that have grown too large. What cannot be read is
// left as it is.
func splitGrown(h *Head) {
	all := h.staged.grown
	h.staged.grown = nil
	for _, g := range all {
		r := held{view: h.transactionView(), t: g.table, key: g.in.key, tree: g.in.work, warm: g.in}
		if gap := g.in.work.AbsentAt(g.key); gap != nil && gap.Count > maxAbsent {
			_ = r.bring(gap, !full)
		}
	}
}

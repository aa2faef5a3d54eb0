package retention

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/schema"
)

// sortEntries brings a batch into the order of the indexes, owned documents
// before their owners. A pass after a crash in the middle finds them through
// the owners again.
func (w *pass) sortEntries(b *condemned) (err error) {
	slices.SortFunc(b.keys, func(a, b schema.Entry) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Key, b.Key))
	})
	b.rows, err = w.sort(b.rows, func(a, b *version) int {
		if a.table != b.table {
			return cmp.Or(w.compareRanks(a, b), cmp.Compare(a.table, b.table))
		}
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.ts, b.ts))
	})
	b.entries = b.rows
	return err
}

// sortRows brings the rows into the order of the log, when all entries are gone;
// owned documents are still first.
func (w *pass) sortRows(b *condemned) (err error) {
	b.rows, err = w.sort(b.rows, func(a, b *version) int {
		if a.table != b.table {
			if order := w.compareRanks(a, b); order != 0 {
				return order
			}
		}
		return cmp.Compare(a.ts, b.ts)
	})
	return err
}

func (w *pass) compareRanks(a, b *version) int {
	return cmp.Compare(w.c.opts.Table(a.table).rank(), w.c.opts.Table(b.table).rank())
}

// sortPiece is how many versions are sorted, or merged, before others have the
// processor: less than a millisecond.
const sortPiece = 4096

// sort sorts versions piece by piece: a chunk takes some 150 ms. The slice that
// it returns may be another one.
func (w *pass) sort(rows []version, compare func(a, b *version) int) ([]version, error) {
	piece := w.c.sizes.sortPiece
	for part := range slices.Chunk(rows, piece) {
		began := time.Now()
		slices.SortFunc(part, func(a, b version) int { return compare(&a, &b) })
		if err := w.breathe(began); err != nil {
			return rows, err
		}
	}
	if len(rows) <= piece {
		return rows, nil
	}
	from, to := rows, make([]version, 0, len(rows))
	for sorted := piece; sorted < len(rows); sorted *= 2 {
		for pair := range slices.Chunk(from, 2*sorted) {
			m := merging{pair[:min(sorted, len(pair))], pair[min(sorted, len(pair)):]}
			for len(m.a)+len(m.b) > 0 {
				began := time.Now()
				to = m.some(to, piece, compare)
				if err := w.breathe(began); err != nil {
					return rows, err
				}
			}
		}
		from, to = to, from[:0]
	}
	return from, nil
}

// merging is two sorted pieces that are put together.
type merging struct{ a, b []version }

// some appends the next n at most.
func (m *merging) some(to []version, n int, compare func(a, b *version) int) []version {
	for ; n > 0 && len(m.a) > 0 && len(m.b) > 0; n-- {
		if compare(&m.b[0], &m.a[0]) < 0 {
			to, m.b = append(to, m.b[0]), m.b[1:]
		} else {
			to, m.a = append(to, m.a[0]), m.a[1:]
		}
	}
	if len(m.a) > 0 && len(m.b) > 0 {
		return to
	}
	to = append(append(to, m.a...), m.b...)
	m.a, m.b = nil, nil
	return to
}

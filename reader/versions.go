package reader

import (
	"fmt"
	"iter"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// VersionRange selects versions of one document.
type VersionRange struct {
	From, To schema.Timestamp // From <= ts <= To; zero is open
	Newest   bool             // newest first
	Limit    int              // 0 is no limit
}

// versionPage is how many index entries a version walk reads from the file at
// once.
const versionPage = 256

// Versions walks the versions of a document that the view can see, tombstones
// included. With a Limit it costs as much as it yields, however many there are.
func (v *View) Versions(t *index.Table, id string, r VersionRange) iter.Seq2[*schema.Row, error] {
	return func(yield func(*schema.Row, error) bool) {
		if v.hot {
			yield(nil, ErrCold)
			return
		}
		w := walk{v: v, t: t, id: id, from: r.From - 1, to: min(r.To, v.at), page: versionPage}
		if r.To == 0 {
			w.to = v.at
		}
		left := r.Limit
		if left > 0 {
			w.page = min(left, versionPage)
		}
		w.each(r.Newest, func(e schema.Entry) bool {
			row, err := v.version(t, e.Key, e.TS)
			if !yield(row, err) || err != nil {
				return false
			}
			left--
			return left != 0
		}, func(err error) {
			yield(nil, fmt.Errorf("versions of %q in %s: %w", id, t.Name, err))
		})
	}
}

// countPage is versionPage where entries are only counted.
const countPage = 1024

// Back is the n-th newest of the versions of a document up to to, or the oldest
// if there are not so many; nil if there is none. count is how many it is back,
// at most n. It reads one row, whatever n is.
func (v *View) Back(t *index.Table, id string, to schema.Timestamp, n int) (row *schema.Row, count int, err error) {
	if v.hot {
		return nil, 0, ErrCold
	}
	var last schema.Entry
	w := walk{v: v, t: t, id: id, from: -1, to: min(to, v.at), page: min(n, countPage)}
	w.each(true, func(e schema.Entry) bool {
		last = e
		count++
		return count < n
	}, func(failed error) { err = failed })
	if err == nil && count > 0 {
		row, err = v.version(t, id, last.TS)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("count versions of %q in %s: %w", id, t.Name, err)
	}
	return row, count, nil
}

// walk visits the index entries of one document: those of the tail, which are
// few and newer, and those of the file page by page. A merge in progress may
// have put entries of the tail into the file already; they are visited once.
type walk struct {
	v        *View
	t        *index.Table
	id       string
	from, to schema.Timestamp // from < ts <= to
	page     int              // entries read from the file at once
}

func (w *walk) each(newest bool, visit func(schema.Entry) bool, fail func(error)) {
	active, frozen := w.v.runs.Active, w.v.runs.Frozen
	if newest {
		if w.back(active, visit) && w.back(frozen, visit) {
			w.file(true, visit, fail)
		}
		return
	}
	first, last, ok := w.inTail()
	if ok {
		w.to = first - 1 // everything in the file before it is older
	}
	if w.file(false, visit, fail) && ok {
		w.from, w.to = max(w.from, first-1), last
		_ = w.forth(frozen, visit) && w.forth(active, visit)
	}
}

// inTail is where the tail's entries begin and end. What a transaction writes
// while it walks comes after them.
func (w *walk) inTail() (first, last schema.Timestamp, ok bool) {
	var one [1]schema.Entry
	for _, run := range [...]*index.Run{w.v.runs.Frozen, w.v.runs.Active} {
		if run == nil {
			continue
		}
		if found := run.Earliest(one[:0], schema.ByID(w.t.ID), w.id, w.from, w.to, 1); len(found) > 0 && !ok {
			first, ok = found[0].TS, true
		}
		if found := run.Latest(one[:0], schema.ByID(w.t.ID), w.id, w.from, w.to, 1); len(found) > 0 {
			last = found[0].TS
		}
	}
	return first, last, ok
}

// forth visits the entries of a run of the tail page by page, and leaves those
// behind them; false if it was told to stop.
func (w *walk) forth(run *index.Run, visit func(schema.Entry) bool) bool {
	if run == nil {
		return true
	}
	var page []schema.Entry
	for w.from < w.to {
		page = run.Earliest(page[:0], schema.ByID(w.t.ID), w.id, w.from, w.to, w.page)
		if !visitAll(page, visit) {
			return false
		}
		if len(page) > 0 {
			w.from = page[len(page)-1].TS
		}
		if len(page) < w.page {
			break
		}
	}
	return true
}

// back visits the entries of a run of the tail page by page, newest first, and
// leaves those before them; false if it was told to stop.
func (w *walk) back(run *index.Run, visit func(schema.Entry) bool) bool {
	if run == nil {
		return true
	}
	var page []schema.Entry
	for w.from < w.to {
		page = run.Latest(page[:0], schema.ByID(w.t.ID), w.id, w.from, w.to, w.page)
		if !visitAll(page, visit) {
			return false
		}
		if len(page) > 0 {
			w.to = page[len(page)-1].TS - 1
		}
		if len(page) < w.page {
			break
		}
	}
	return true
}

func visitAll(entries []schema.Entry, visit func(schema.Entry) bool) bool {
	for _, e := range entries {
		if !visit(e) {
			return false
		}
	}
	return true
}

// file visits the file's entries; false if it was told to stop.
func (w *walk) file(newest bool, visit func(schema.Entry) bool, fail func(error)) bool {
	var page []schema.Entry
	for w.from < w.to {
		s, err := w.v.session()
		if err == nil {
			page, err = s.Versions(page[:0], schema.ByID(w.t.ID), w.id, w.from, w.to, newest, w.page)
		}
		if err != nil {
			fail(err)
			return false
		}
		if !visitAll(page, visit) {
			return false
		}
		if len(page) < w.page {
			return true
		}
		if last := page[len(page)-1].TS; newest {
			w.to = last - 1
		} else {
			w.from = last
		}
	}
	return true
}

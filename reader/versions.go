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
// included.
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
	if newest {
		for _, run := range []*index.Run{w.v.runs.Active, w.v.runs.Frozen} {
			if run != nil && !w.back(run, visit) {
				return
			}
		}
		w.file(true, visit, fail)
		return
	}
	x := schema.ByID(w.t.ID)
	var tail []schema.Entry
	if w.v.runs.Frozen != nil {
		tail = w.v.runs.Frozen.Versions(tail, x, w.id, w.from, w.to)
	}
	tail = w.v.runs.Active.Versions(tail, x, w.id, w.from, w.to)
	if len(tail) > 0 {
		w.to = tail[0].TS - 1 // everything in the file before it is older
	}
	if w.file(false, visit, fail) {
		visitAll(tail, visit)
	}
}

// back visits the entries of a run of the tail page by page, newest first, and
// leaves those before them; false if it was told to stop.
func (w *walk) back(run *index.Run, visit func(schema.Entry) bool) bool {
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

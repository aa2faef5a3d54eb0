package firn

import (
	"bytes"
	"iter"
	"strings"

	"github.com/firndb/firn/schema"
)

// Whole pieces of the past: what became of one document, what happened in a
// span of time, what differs between two moments, and how to go back.

// History walks the versions of a document, tombstones included, as
// Reader.Versions does, with no need of a snapshot. What was replaced before
// the horizon is not there; r.From and r.To, if they are given, must not be
// before it (*CompactedError), nor r.To in the future (*FutureError). The
// iteration ends after an error.
func (s *Store) History(t *Table, id []byte, r VersionRange) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		if t == nil {
			yield(nil, errNoTable)
			return
		}
		err := checkSpan(s, t, id, r.From, r.To)
		if err == nil {
			err = s.View(func(snap *Snapshot) error {
				for doc, err := range snap.Versions(t, id, r) {
					if err != nil {
						return err
					}
					if !yield(doc, nil) {
						yield = nil
						return nil
					}
				}
				return nil
			})
		}
		if err == nil && yield != nil {
			err = checkSpan(s, t, id, r.From, 0) // it may have been pruned meanwhile
		}
		if err != nil && yield != nil {
			yield(nil, err)
		}
	}
}

// checkSpan refuses ends of a span that cannot be read; 0 is open.
func checkSpan(s *Store, t *Table, id []byte, from, to Timestamp) error {
	for _, ts := range [...]Timestamp{from, to} {
		if ts == 0 {
			continue
		}
		end := gate{store: s, at: ts}
		if err := end.scope(t, string(id)); err != nil {
			return err
		}
	}
	if to == 0 {
		return nil
	}
	return settle(s, to)
}

// changedPage is how many rows of the log Changed reads at once, which is how
// long it keeps a read transaction open. What it holds of them in memory is
// their ids, and as much of values as makes a page of bytes.
const changedPage = 512

// Changed calls fn for each document of a table whose id begins with prefix
// that changed in the interval from from, exclusive, to to, inclusive: with its
// newest version in it, a tombstone too, in order of time and within a
// transaction of id. It reads the log in pages and needs no more memory for a
// long interval than for a short one. fn may write; its error ends the walk and
// is returned. The store's own tables are left out unless t is one of them.
//
// A from before the horizon of any document in the group that the prefix
// belongs to is a *CompactedError, a to in the future a *FutureError. An
// interval that ends before it begins is empty.
func (s *Store) Changed(t *Table, prefix []byte, from, to Timestamp, fn func(doc *Document) error) error {
	if t == nil {
		return errNoTable
	}
	if s.closed.Load() {
		return ErrClosed
	}
	since := gate{store: s, at: from}
	if err := since.span(t, prefix); err != nil || to <= from {
		return err
	}
	if err := settle(s, to); err != nil {
		return err
	}
	w := changes{t: t, prefix: string(prefix), after: schema.Cursor{TS: from + 1}} // no table has the id 0
	for !w.done {
		err := atMoment(s, to, to, w.read)
		if err == nil {
			err = since.span(t, prefix) // what was read may have been pruned meanwhile
		}
		if err != nil {
			return err
		}
		for i, doc := range w.found {
			w.found[i] = nil // only fn has it
			if err := fn(doc); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes is a walk over the log for documents of one table.
type changes struct {
	t      *Table
	prefix string // of their ids
	after  schema.Cursor
	rows   []*Document // those of the page that are wanted, without their values
	found  []*Document // those of them that are the newest of their documents, with them
	done   bool
}

// wants says whether a row is of one of the documents.
func (w *changes) wants(row *Document) bool {
	return row.Table == w.t.def.ID && strings.HasPrefix(row.ID, w.prefix)
}

// page reads the next rows of the log.
func (w *changes) page(snap *Snapshot) (err error) {
	w.rows = w.rows[:0]
	bytes := 0
	w.after, w.done, err = snap.view.Walk(w.after, changedPage, func(v *schema.Visit) (bool, error) {
		if bytes >= schema.PageBytes {
			return false, nil
		}
		bytes += len(v.ID)
		if w.wants(&v.Row) {
			row := v.Row
			w.rows = append(w.rows, &row)
		}
		return true, nil
	})
	return err
}

// read reads the next page, and finds the documents in it.
func (w *changes) read(snap *Snapshot) error {
	if err := w.page(snap); err != nil {
		return err
	}
	newest := map[string]Timestamp{} // within the page: spares asking for what is hot
	for _, row := range w.rows {
		newest[row.ID] = row.TS
	}
	w.found = w.found[:0]
	size := 0
	for i, row := range w.rows {
		if newest[row.ID] != row.TS {
			continue
		}
		last, err := snap.Last(w.t, []byte(row.ID))
		if err != nil {
			return err
		}
		if last.TS != row.TS {
			continue
		}
		w.found = append(w.found, last)
		if size += len(last.Value); size >= schema.PageBytes && i+1 < len(w.rows) {
			w.after, w.done = schema.Behind(row), false
			return nil
		}
	}
	return nil
}

// IDs calls fn with the id of each document of a table of which a version is
// left, be it a tombstone, whatever its policy, and whose id begins with prefix:
// once for each version, in the order of commits. fn's error ends the walk and
// is returned. Cost is that of reading the log, in pages.
func (s *Store) IDs(t *Table, prefix []byte, fn func(id string) error) error {
	if t == nil {
		return errNoTable
	}
	w := changes{t: t, prefix: string(prefix)}
	for !w.done {
		if err := s.View(w.page); err != nil {
			return err
		}
		for _, row := range w.rows {
			if err := fn(row.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Diff calls fn for each document of a table whose id begins with prefix and
// whose value at one moment is not what it is at the other, in order of the
// ids: before is what it was at from, after what it was at to, and nil means
// that there was none. Either moment may be the earlier one. Cost is that of
// reading the prefix at both; fn's error ends it and is returned.
//
// Moments before the horizon are a *CompactedError, those that have not come
// yet a *FutureError.
func (s *Store) Diff(t *Table, prefix []byte, from, to Timestamp, fn func(before, after *Document) error) error {
	if t == nil {
		return errNoTable
	}
	return s.At(from, func(old *Snapshot) error {
		return s.At(to, func(new *Snapshot) error { return t.diff(old, new, prefix, fn) })
	})
}

// diff merges two walks in the order of the ids.
func (t *Table) diff(old, new Reader, prefix []byte, fn func(before, after *Document) error) error {
	r := Range{Index: &t.byID, Prefix: prefix}
	nextOld, stopOld := iter.Pull2(old.Scan(r))
	defer stopOld()
	nextNew, stopNew := iter.Pull2(new.Scan(r))
	defer stopNew()
	take := func(next func() (Item, error, bool)) (*Document, error) {
		item, err, _ := next()
		return item.Doc, err
	}
	before, err := take(nextOld)
	if err != nil {
		return err
	}
	after, err := take(nextNew)
	for err == nil && (before != nil || after != nil) {
		a, b := before, after
		switch order := compareIDs(before, after); {
		case order < 0:
			b = nil
		case order > 0:
			a = nil
		}
		if a == nil || b == nil || !sameState(a, b) {
			if err := fn(a, b); err != nil {
				return err
			}
		}
		if a != nil {
			if before, err = take(nextOld); err != nil {
				return err
			}
		}
		if b != nil {
			after, err = take(nextNew)
		}
	}
	return err
}

// compareIDs orders the documents at the heads of two walks; a walk that has
// ended comes last.
func compareIDs(a, b *Document) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return strings.Compare(a.ID, b.ID)
}

// sameState says whether two versions of a document hold the same.
func sameState(a, b *Document) bool {
	return a.TS == b.TS || a.JSON == b.JSON && bytes.Equal(a.Value, b.Value)
}

// Revert makes the documents of a table whose id begins with prefix what they
// were at a moment: it puts what was changed or deleted since, and deletes
// what has come since. Only what differs is written, as new versions; the
// past stays. It needs memory for what differs.
//
// A moment before the horizon is a *CompactedError, one that has not come yet
// a *FutureError; nothing is written then.
func (tx *Tx) Revert(t *Table, prefix []byte, to Timestamp) error {
	if tx.view.Ended() {
		return errEnded
	}
	if t == nil {
		return errNoTable
	}
	type change struct {
		id   string
		then *Document // nil: there was none
	}
	var changes []change // walking and writing exclude each other
	err := tx.At(to, func(past *Snapshot) error {
		return t.diff(tx, past, prefix, func(now, then *Document) error {
			id := now
			if id == nil {
				id = then
			}
			changes = append(changes, change{id.ID, then})
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		row := Document{Deleted: true}
		if c.then != nil {
			row = Document{Value: c.then.Value, JSON: c.then.JSON}
		}
		if err := tx.write(t, []byte(c.id), row); err != nil {
			return err
		}
	}
	return nil
}

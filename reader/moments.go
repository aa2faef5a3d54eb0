package reader

import (
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// ByID asks the index by id of a table what there is of documents, in a view.
type ByID struct {
	View  *View
	Table *index.Table
}

// Next is the first id of a table from one on, inclusive, of which there is
// any version, a tombstone too; ok is false if there is none. The versions may
// be newer than the view. What the index has of an id costs one step, however
// many versions that are.
func (b ByID) Next(from string) (id string, ok bool, err error) {
	v, t := b.View, b.Table
	if v.hot {
		return "", false, ErrCold
	}
	x := schema.ByID(t.ID)
	for _, run := range [...]*index.Run{v.runs.Active, v.runs.Frozen} {
		if run == nil {
			continue
		}
		var one [1]schema.Entry
		found, _, _ := run.Scan(one[:0], schema.KeyRange{Index: x, From: from}, schema.MaxTimestamp, 1)
		if len(found) > 0 && (!ok || found[0].Key < id) {
			id, ok = found[0].Key, true
		}
	}
	s, err := v.session()
	if err != nil {
		return "", false, err
	}
	found, err := s.Entries(nil, schema.Entry{Index: x, Key: from}, 1) // no entry has the moment 0
	if err != nil {
		return "", false, fmt.Errorf("find an id from %q in %s: %w", from, t.Name, err)
	}
	if len(found) > 0 && found[0].Index == x && (!ok || found[0].Key < id) {
		id, ok = found[0].Key, true
	}
	return id, ok, nil
}

// Moments appends when a document was written after a moment, tombstones
// included, as far as the view sees it: the first times, at most limit.
func (b ByID) Moments(dst []schema.Timestamp, id string, after schema.Timestamp, limit int) (moments []schema.Timestamp, err error) {
	v := b.View
	if v.hot {
		return dst, ErrCold
	}
	w := walk{v: v, t: b.Table, id: id, from: after, to: v.at, page: min(limit, countPage)}
	left := limit
	w.each(false, func(e schema.Entry) bool {
		dst = append(dst, e.TS)
		left--
		return left > 0
	}, func(failed error) { err = failed })
	if err != nil {
		return dst, fmt.Errorf("versions of %q in %s: %w", id, b.Table.Name, err)
	}
	return dst, nil
}

// Version is a document's version of exactly a moment at which it was written.
func (b ByID) Version(id string, ts schema.Timestamp) (*schema.Row, error) {
	row, err := b.View.version(b.Table, id, ts)
	if err != nil {
		return nil, fmt.Errorf("read %q in %s at %d: %w", id, b.Table.Name, ts, err)
	}
	return row, nil
}

package retention

import (
	"cmp"
	"slices"

	"github.com/firndb/firn/schema"
)

// A policy that counts versions goes along the versions of a document and not
// along the log, and so does forgetting one document on purpose. Each version
// behind the document's own horizon leads to its commit, which condemns what it
// replaced, in the document and in what that owned.

//
// The versions that the documents of a page have too many of are sorted by
// their commits, so that each commit is read and judged once for all of them. A
// commit of n documents would be read n times otherwise.

// trimmed is a version of a document that leads to its commit.
type trimmed struct {
	ts    schema.Timestamp
	table *Table
	id    string
	keep  bool // the version itself stays, also if it is a tombstone
}

// countCommits trims the documents of some commits that have too many versions.
// It returns errFull when enough is condemned for one chunk.
func (ch *chunk) countCommits(rows []*known) error {
	for _, row := range rows {
		t := ch.table(row.Table)
		key := documentKey{row.Table, row.ID}
		if t.Shared || t.Owned && t.Scope == nil || ch.counted[key] || !ch.holdsFor(t.scope(row.ID)) {
			continue
		}
		if ch.counted == nil {
			ch.counted = map[documentKey]bool{}
		}
		ch.counted[key] = true
		n := ch.w.policy.Versions
		newest, err := ch.session.Versions(nil, schema.ByID(t.ID), row.ID, 0, ch.to, true, n)
		if err != nil {
			return err
		}
		if len(newest) < n {
			continue
		}
		if err := ch.trim(t, row.ID, newest[n-1].TS, n == 1); err != nil {
			return err
		}
	}
	return ch.judgeTrims()
}

// trimPage is how many versions of a document are looked at at once.
const trimPage = 512

// trim condemns what the versions of a document at or before to have
// replaced, once judgeTrims is called. The last of them goes too, if it is a
// tombstone and tombstone allows it. It returns errFull when that is enough for
// one chunk; all is judged then.
func (ch *chunk) trim(t *Table, id string, to schema.Timestamp, tombstone bool) error {
	var from schema.Timestamp
	for first := true; ; first = false {
		page, err := ch.session.Versions(nil, schema.ByID(t.ID), id, from, to, false, trimPage)
		if err != nil {
			return err
		}
		for i, e := range page {
			if first && i == 0 { // the version that it replaced is gone, or never was
				if e.TS == to && e.Deleted && tombstone {
					ch.condemn(version{t.ID, e.TS, id})
				}
				continue
			}
			ch.trims = append(ch.trims, trimmed{e.TS, t, id, e.TS == to && !tombstone})
		}
		if len(page) < trimPage {
			return nil
		}
		if err := ch.w.ctx.Err(); err != nil {
			return err
		}
		if len(ch.trims)+len(ch.batch.rows) > ch.w.c.sizes.chunkRows {
			if err := ch.judgeTrims(); err != nil {
				return err
			}
			return errFull
		}
		from = page[len(page)-1].TS
	}
}

// judgeTrims reads the commits that documents were trimmed by, in the order of
// the log, and judges each for its documents.
func (ch *chunk) judgeTrims() error {
	slices.SortStableFunc(ch.trims, func(a, b trimmed) int { return cmp.Compare(a.ts, b.ts) })
	var o *ownership
	for i, v := range ch.trims {
		if i == 0 || v.ts != ch.trims[i-1].ts {
			if err := ch.w.ctx.Err(); err != nil {
				return err
			}
			rows, err := ch.commitAt(v.ts)
			if err == nil {
				o, err = ch.ownership(rows)
			}
			if err != nil {
				return err
			}
			o.index(ch.table)
		}
		if err := ch.commitOf(o, v.table, v.id, v.keep); err != nil {
			return err
		}
	}
	ch.trims = ch.trims[:0]
	return nil
}

// commitAt reads the rows of one commit.
func (ch *chunk) commitAt(ts schema.Timestamp) (rows []*known, err error) {
	_, _, err = ch.session.Walk(schema.Cursor{TS: ts}, ts, 0, func(v *schema.Visit) (bool, error) {
		row, err := ch.table(v.Table).see(&ch.deriver, v)
		rows = append(rows, row)
		return true, err
	})
	return rows, err
}

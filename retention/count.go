package retention

import (
	"github.com/firndb/firn/schema"
)

// A policy that counts versions goes along the versions of a document and not
// along the log, and so does forgetting one document on purpose. Each version
// behind the document's own horizon leads to its commit, which condemns what it
// replaced, in the document and in what that owned.

// countCommit trims the documents of a commit that have too many versions. It
// returns errFull when enough is condemned for one chunk.
func (ch *chunk) countCommit(rows []*schema.Row) error {
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
		if len(newest) == n {
			if err := ch.trim(t, row.ID, newest[n-1].TS, n == 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// trimPage is how many versions of a document are looked at at once.
const trimPage = 512

// trim condemns what the versions of a document at or before to have
// replaced. The last of them goes too, if it is a tombstone and tombstone
// allows it.
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
			rows, err := ch.commitAt(e.TS)
			if err != nil {
				return err
			}
			if err := ch.commitOf(rows, t, id, e.TS == to && !tombstone); err != nil {
				return err
			}
		}
		if len(page) < trimPage {
			return nil
		}
		if err := ch.w.ctx.Err(); err != nil {
			return err
		}
		if len(ch.batch.rows) > ch.w.c.sizes.chunkRows {
			return errFull
		}
		from = page[len(page)-1].TS
	}
}

// commitAt reads the rows of one commit.
func (ch *chunk) commitAt(ts schema.Timestamp) ([]*schema.Row, error) {
	if len(ch.last) > 0 && ch.last[0].TS == ts {
		return ch.last, nil
	}
	for limit := trimPage; ; limit *= 2 {
		rows, err := ch.session.Log(nil, schema.Cursor{TS: ts}, ts, limit)
		if err != nil {
			return nil, err
		}
		if len(rows) < limit {
			ch.last = rows
			return rows, nil
		}
	}
}

package retention

import (
	"context"
	"time"

	"github.com/firndb/firn/schema"
)

// A policy that counts versions, and forgetting one document on purpose, go
// along the versions of a document and not along the log: the commit of each
// that is behind the document's horizon condemns what it replaced, in the
// document and in what that owns.

// documentKey names a document.
type documentKey struct {
	table schema.TableID
	id    string
}

// countCommit trims the documents of a commit that have too many versions. It
// returns errFull when enough is condemned for one chunk.
func (w *pass) countCommit(rows []*schema.Row) error {
	for _, row := range rows {
		t := w.c.opts.Table(row.Table)
		key := documentKey{row.Table, row.ID}
		if t.Shared || t.Owned && t.Scope == nil || w.counted[key] || !w.has(t.scope(row.ID)) {
			continue
		}
		if w.counted == nil {
			w.counted = map[documentKey]bool{}
		}
		w.counted[key] = true
		newest, err := w.session.Versions(nil, schema.ByID(t.ID), row.ID, 0, w.bound, true, w.policy.Versions)
		if err != nil {
			return err
		}
		if n := w.policy.Versions; len(newest) == n {
			if err := w.trim(t, row.ID, newest[n-1].TS, n == 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// trimPage is how many versions of a document are looked at at once.
const trimPage = 512

// trim condemns what the versions of a document at or before to have
// replaced. tombstone says that the last of them may go if it is one.
func (w *pass) trim(t *Table, id string, to schema.Timestamp, tombstone bool) error {
	var from schema.Timestamp
	for first := true; ; first = false {
		page, err := w.session.Versions(nil, schema.ByID(t.ID), id, from, to, false, trimPage)
		if err != nil {
			return err
		}
		for i, e := range page {
			if first && i == 0 { // what it replaced is gone, or never was
				if e.TS == to && e.Deleted && tombstone {
					w.condemn(version{t.ID, e.TS, id})
				}
				continue
			}
			if err := w.commitOf(t, id, e.TS, e.TS != to || tombstone); err != nil {
				return err
			}
		}
		if len(page) < trimPage {
			return nil
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if len(w.batch.rows) > w.c.sizes.chunkRows {
			return errFull
		}
		from = page[len(page)-1].TS
	}
}

// commitOf condemns what the commit at ts has replaced in the history that a
// document is of.
func (w *pass) commitOf(t *Table, id string, ts schema.Timestamp, tombstone bool) error {
	rows, err := w.commitAt(ts)
	if err != nil {
		return err
	}
	o, err := w.ownership(rows)
	if err != nil {
		return err
	}
	mine := owner{t.scope(id), t.Shared}
	for i, row := range rows {
		its := w.c.opts.Table(row.Table)
		main := row.Table == t.ID && row.ID == id
		if main || its.Owned && its.Scope == nil && o.owner(its, row.ID) == mine {
			if err := w.replace(row, o.before[i], tombstone || !main); err != nil {
				return err
			}
		}
	}
	for _, lost := range o.lost {
		if lost.owner == mine {
			w.lost = append(w.lost, lost)
		}
	}
	return nil
}

// commitAt reads the rows of one commit.
func (w *pass) commitAt(ts schema.Timestamp) ([]*schema.Row, error) {
	if len(w.last) > 0 && w.last[0].TS == ts {
		return w.last, nil
	}
	for limit := trimPage; ; limit *= 2 {
		rows, err := w.session.Log(nil, schema.Cursor{TS: ts}, ts, limit)
		if err != nil {
			return nil, err
		}
		if len(rows) < limit {
			w.last = rows
			return rows, nil
		}
	}
}

// Forget deletes the versions of a document that were replaced at or before a
// moment, and what they owned, whatever its policy. The caller has made sure
// that nobody can read at a moment before.
func (c *Compactor) Forget(ctx context.Context, id schema.TableID, document string, before schema.Timestamp) (Report, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	t := c.opts.Table(id)
	p, _ := c.opts.State.Effective(t.scope(document))
	w := &pass{c: c, ctx: ctx, policy: p}
	before = min(before, c.opts.Bound(), c.opts.Held(c.opts.Now()))
	for more := true; more; {
		w.batch, w.lost, w.gone, w.last, w.recent = condemned{}, nil, nil, nil, recent{}
		err := c.read(func(s schema.Session) error {
			w.session = s
			newest, err := s.Versions(nil, schema.ByID(id), document, 0, before, true, 1)
			if err != nil || len(newest) == 0 {
				return err
			}
			return w.trim(t, document, newest[0].TS, true)
		})
		if more = err == errFull; err != nil && !more {
			return w.report, err
		}
		if err := w.forgetOrphans(); err != nil {
			return w.report, err
		}
		if err := w.forgetBatch(nil); err != nil {
			return w.report, err
		}
	}
	w.report.Elapsed = time.Since(began)
	c.stats.ended(w.report, nil)
	return w.report, nil
}

package retention

import (
	"strings"

	"github.com/firndb/firn/schema"
)

// forgetOrphans deletes the ranges that a chunk has found to be lost. It comes
// before the rows are deleted that tell of them: after a crash they are found
// through those again.
func (w *pass) forgetOrphans(j *judge) error {
	for _, o := range j.lost {
		if err := w.forgetOrphan(j, o); err != nil {
			return err
		}
	}
	return nil
}

// orphanPage is how many versions of a lost range are deleted at once.
const orphanPage = 4096

// forgetOrphan deletes a range: all versions of all documents in it that the
// policy holds for, and before them what they owned.
func (w *pass) forgetOrphan(j *judge, o orphan) error {
	t := w.c.opts.Table(o.table)
	after := schema.Entry{Index: schema.ByID(o.table), Key: o.prefix}
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		entries, b, inner, err := w.orphanPage(j, t, o, after)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, lost := range inner {
			if err := w.forgetOrphan(j, lost); err != nil {
				return err
			}
		}
		if err := w.forgetAll(b, true, nil); err != nil {
			return err
		}
		after = entries[len(entries)-1]
	}
}

// orphanPage condemns a page of the versions of a lost range, and lists the
// ranges that their documents owned when it was lost.
func (w *pass) orphanPage(j *judge, t *Table, o orphan, after schema.Entry) (entries []schema.Entry, b condemned, inner []orphan, err error) {
	err = w.c.read(func(s schema.Session) error {
		entries, err = s.Entries(nil, after, w.c.sizes.orphanPage)
		if err != nil {
			return err
		}
		end := 0
		for end < len(entries) && entries[end].Index == after.Index && strings.HasPrefix(entries[end].Key, o.prefix) {
			end++
		}
		entries = entries[:end]
		w.report.Walked += int64(end)
		last := ""
		for _, e := range entries {
			if !j.holdsForOrphan(t, e.Key) {
				continue
			}
			b.rows = append(b.rows, version{t.ID, e.TS, e.Key})
			b.uncount(t, e.Index, e.Key)
			if len(t.Indexes) > 0 && !e.Deleted {
				row, err := t.peek(s, &j.deriver, e.Key, e.TS)
				if err != nil {
					return err
				}
				j.condemnKeys(t, row, &b)
			}
			if t.Owns == nil || e.Key == last {
				continue
			}
			last = e.Key
			row, err := t.peekAt(s, &j.deriver, e.Key, o.ts)
			if err != nil {
				return err
			}
			inner = append(inner, t.orphans(row, o.ts)...)
		}
		return nil
	})
	return entries, b, inner, err
}

// orphans are the ranges that a version owned when it was lost.
func (t *Table) orphans(row *known, ts schema.Timestamp) (lost []orphan) {
	var ranges map[owned]owner
	t.each(row, &ranges)
	for r, last := range ranges {
		lost = append(lost, orphan{r, last, ts})
	}
	return lost
}

package retention

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// owned names a range of documents: those of a table whose ids begin with
// prefix.
type owned struct {
	table  schema.TableID
	prefix string
}

// owner is what must be known of a document that owns a range.
type owner struct {
	scope  Scope
	shared bool // it is kept as long as anything is
}

// orphan is a range that nobody owns since ts.
type orphan struct {
	owned
	owner // the last
	ts    schema.Timestamp
}

// ownership is what the rows of a commit, and those that they replaced, own.
type ownership struct {
	before []*schema.Row // the version that each row replaced, if it was read
	owners map[owned]owner
	lost   []orphan // what was owned before and is not after
}

// ownership looks at the owners among the rows of a commit. A range that goes
// from one owner to another is not lost.
func (w *pass) ownership(rows []*schema.Row) (*ownership, error) {
	o := &ownership{before: make([]*schema.Row, len(rows))}
	var had map[owned]owner
	for i, row := range rows {
		t := w.c.opts.Table(row.Table)
		before, err := w.before(t, row)
		if err != nil {
			return nil, err
		}
		o.before[i] = before
		if row.Prev == 0 && t.Owns != nil {
			before = &schema.Row{ID: row.ID} // what the id had before its first version
		}
		t.each(before, &had)
		t.each(row, &o.owners)
	}
	for r, last := range had {
		if _, kept := o.owners[r]; !kept {
			o.lost = append(o.lost, orphan{r, last, rows[0].TS})
		}
	}
	for _, lost := range o.lost {
		if o.owners == nil {
			o.owners = map[owned]owner{}
		}
		o.owners[lost.owned] = lost.owner
	}
	slices.SortFunc(o.lost, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(a.table, b.table), strings.Compare(a.prefix, b.prefix))
	})
	return o, nil
}

// each adds what a version owns to ranges.
func (t *Table) each(row *schema.Row, ranges *map[owned]owner) {
	if row == nil || row.Deleted || t.Owns == nil {
		return
	}
	t.Owns(row.ID, row.Value, func(table schema.TableID, prefix string) {
		if *ranges == nil {
			*ranges = map[owned]owner{}
		}
		(*ranges)[owned{table, prefix}] = owner{t.scope(row.ID), t.Shared}
	})
}

// owner is whose history a document of the commit is: its own, or that of the
// document that owns it.
func (o *ownership) owner(t *Table, id string) owner {
	if t.Shared || t.Scope != nil || !t.Owned {
		return owner{t.scope(id), t.Shared}
	}
	n, _ := tuple.PrefixLen(id, t.Prefix)
	return o.owners[owned{t.ID, id[:n]}]
}

// rank orders tables by what leads to them: those that have no scopes but their
// owners' come first.
func (t *Table) rank() int {
	if t.Owned && t.Scope == nil {
		return 0
	}
	return 1
}

// forgetOrphans deletes the ranges that the chunk has found to be lost, before
// that can no longer be seen.
func (w *pass) forgetOrphans() error {
	for _, o := range w.lost {
		if err := w.forgetOrphan(o); err != nil {
			return err
		}
	}
	return nil
}

// orphanPage is how many versions of a lost range are deleted at once.
const orphanPage = 4096

// forgetOrphan deletes a range: all versions of all documents in it.
func (w *pass) forgetOrphan(o orphan) error {
	t := w.c.opts.Table(o.table)
	after := schema.Entry{Index: schema.ByID(o.table), Key: o.prefix}
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		entries, b, inner, err := w.orphanPage(t, o, after)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, lost := range inner {
			if err := w.forgetOrphan(lost); err != nil {
				return err
			}
		}
		if err := w.forgetAll(b, true, nil); err != nil {
			return err
		}
		after = entries[len(entries)-1]
	}
}

// orphanPage condemns some versions of a lost range, and lists the ranges that
// they owned at its end.
func (w *pass) orphanPage(t *Table, o orphan, after schema.Entry) (entries []schema.Entry, b condemned, inner []orphan, err error) {
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
			if !w.orphanHas(t, e.Key) {
				continue
			}
			b.rows = append(b.rows, version{t.ID, e.TS, e.Key})
			if err := w.orphanKeys(s, t, e, &b); err != nil {
				return err
			}
			if t.Owns == nil || e.Key == last {
				continue
			}
			last = e.Key
			row, err := s.Get(t.ID, e.Key, o.ts)
			if err != nil {
				return err
			}
			var ranges map[owned]owner
			t.each(row, &ranges)
			for r, last := range ranges {
				inner = append(inner, orphan{r, last, o.ts})
			}
		}
		return nil
	})
	return entries, b, inner, err
}

// orphanHas says whether the pass is to deal with a document of a lost range:
// one that has a scope of its own may be kept for longer than its owner.
func (w *pass) orphanHas(t *Table, id string) bool {
	return w.single || t.Scope == nil || w.has(t.Scope(id))
}

// orphanKeys condemns the declared entries of a version.
func (w *pass) orphanKeys(s schema.Session, t *Table, e schema.Entry, b *condemned) error {
	if len(t.Indexes) == 0 || e.Deleted {
		return nil
	}
	row, err := s.Row(t.ID, e.Key, e.TS)
	if err != nil || row == nil {
		return err
	}
	w.derived = w.deriver.Derive(w.derived[:0], t.Table, nil, row)
	for _, d := range w.derived[1:] {
		d.TS = schema.MaxTimestamp // the entry that ends it, too
		b.keys = append(b.keys, d)
	}
	return nil
}

// outlived says that something stays that is older than the version that row
// replaced: that must stay, too, and row with it, or the oldest would be the
// newest one day. It is so where a range has come from an owner whose policy
// keeps more.
func (w *pass) outlived(t *Table, row *schema.Row) (bool, error) {
	if !t.Owned || t.Scope != nil || row.Prev == 0 || w.single && w.policy.Versions == 0 {
		return false, nil
	}
	replaced, err := w.session.Row(row.Table, row.ID, row.Prev)
	if err != nil || replaced == nil {
		return false, err
	}
	if replaced.Prev != 0 && !w.gone[version{row.Table, replaced.Prev, row.ID}] {
		older, err := w.session.Row(row.Table, row.ID, replaced.Prev)
		if older != nil || err != nil {
			return true, err
		}
	}
	if w.gone == nil {
		w.gone = map[version]bool{}
	}
	w.gone[version{row.Table, row.Prev, row.ID}] = true
	return false, nil
}

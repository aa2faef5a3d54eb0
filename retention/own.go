package retention

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// owned names a range of documents that exist only through another document:
// those of a table whose ids begin with prefix.
type owned struct {
	table  schema.TableID
	prefix string
}

// owner is what must be known of the document that owns a range: whose history
// it is, and whether every policy keeps it.
type owner struct {
	scope  Scope
	shared bool
}

// orphan is a range that lost its owner at ts and found no other.
type orphan struct {
	owned
	owner // the last
	ts    schema.Timestamp
}

// ownership is who owns what in one commit. A commit that writes an element
// also writes the document that owns it, so the owner of each row is in it.
type ownership struct {
	rows   []*known
	before []*known // for each row, the version that it replaced, where that was needed
	owners map[owned]owner
	lost   []orphan // owned before the commit, and not after it

	places map[documentKey]int // where rows are; made when it is first asked
	parts  map[owner][]int     // where the rows of documents are that an owner's history has
}

// ownership looks at the owners among the rows of a commit. A range that goes
// from one owner to another is not lost.
func (j *judge) ownership(rows []*known) (*ownership, error) {
	o := &ownership{rows: rows, before: make([]*known, len(rows))}
	var had map[owned]owner
	for i, row := range rows {
		t := j.table(row.Table)
		before, err := j.before(t, row)
		if err != nil {
			return nil, err
		}
		o.before[i] = before
		if row.Prev == 0 && t.Owns != nil {
			before = t.owner(&schema.Row{ID: row.ID}) // what the id owned before its first version
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
func (t *Table) each(row *known, ranges *map[owned]owner) {
	if row == nil {
		return
	}
	for _, o := range row.owns {
		if *ranges == nil {
			*ranges = map[owned]owner{}
		}
		(*ranges)[o] = owner{t.scope(row.ID), t.Shared}
	}
}

// index finds the commit's rows by their documents and owners, once for all
// documents that the commit is judged for.
func (o *ownership) index(table func(schema.TableID) *Table) {
	if o.places != nil {
		return
	}
	o.places, o.parts = make(map[documentKey]int, len(o.rows)), map[owner][]int{}
	for i, row := range o.rows {
		o.places[documentKey{row.Table, row.ID}] = i
		if t := table(row.Table); t.Owned && t.Scope == nil {
			its := o.owner(t, row.ID)
			o.parts[its] = append(o.parts[its], i)
		}
	}
}

// place is where a document's row is among those of the commit.
func (o *ownership) place(table schema.TableID, id string) (i int, found bool) {
	if i, found = o.places[documentKey{table, id}]; !found {
		i = -1
	}
	return i, found
}

// partsOf are the places of the rows that belong to an owner and of its own, in
// order.
func (o *ownership) partsOf(its owner, main int) []int {
	parts := o.parts[its]
	if main < 0 || slices.Contains(parts, main) {
		return parts
	}
	parts = append(slices.Clip(parts), main)
	slices.Sort(parts)
	return parts
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

// rank orders tables by what leads to them. Documents that have no scopes but
// their owners' come first: they are found through the owners.
func (t *Table) rank() int {
	if t.Owned && t.Scope == nil {
		return 0
	}
	return 1
}

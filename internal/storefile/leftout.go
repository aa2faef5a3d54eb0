package storefile

import (
	"maps"
	"slices"
	"strings"

	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// omission is what a copy leaves out of a store: documents that can no longer
// be read at its moment, because a policy of their own has let go of that, and
// what belongs to them. All their versions are left out.
//
// A document whose policy counts versions is there as far back as its versions
// follow one another. A range is left out if a document that is left out has
// owned it, and none that is copied does.
type omission struct {
	at     schema.Timestamp
	tables Definitions
	state  *retention.State
	scopes map[retention.Scope]schema.Timestamp // what to tell of it, and from when on that can be read
	counts map[place]*survivors                 // of documents whose policy counts versions
	owned  map[schema.TableID][]string          // prefixes of ranges that are left out, in order; none begins with another
}

// place is a document in a store.
type place struct {
	table schema.TableID
	id    string
}

// survivors is what is left of a document whose policy counts versions.
type survivors struct {
	first schema.Timestamp // the oldest from which on no version is missing
	whole bool             // there was none before it
	last  schema.Timestamp
	n     int // how many those are
	keeps int // how many the policy keeps
	scope retention.Scope
}

// readable says whether the document can be read at a moment: a version was the
// current one then, or there was none yet.
func (s *survivors) readable(at schema.Timestamp) bool {
	return s.first <= at || s.whole && s.n < s.keeps
}

// findOmission walks the log to find what the copy leaves out.
func (c *copier) findOmission(state *retention.State) (*omission, error) {
	o := &omission{
		at: c.At, tables: c.origin.catalog.Readable(c.Tables), state: state,
		scopes: map[retention.Scope]schema.Timestamp{}, counts: map[place]*survivors{}, owned: map[schema.TableID][]string{},
	}
	if err := eachRow(c.ctx, c.From, schema.Cursor{}, schema.MaxTimestamp, o.look); err != nil {
		return nil, err
	}
	for _, s := range o.counts {
		if !s.readable(o.at) {
			o.scopes[s.scope] = s.first
		}
	}
	owned := map[place]bool{}
	if err := eachRow(c.ctx, c.From, schema.Cursor{}, schema.MaxTimestamp, func(v *schema.Visit) error {
		return o.eachOwned(v, true, func(p place) { owned[p] = true })
	}); err != nil || len(owned) == 0 {
		return o, err
	}
	if err := eachRow(c.ctx, c.From, schema.Cursor{}, c.At, func(v *schema.Visit) error {
		return o.eachOwned(v, false, func(p place) { delete(owned, p) })
	}); err != nil {
		return nil, err
	}
	o.setOwned(owned)
	return o, nil
}

// look judges the scope of one row, or notes the row if its policy counts
// versions.
func (o *omission) look(row *schema.Visit) error {
	scope, own := o.scopeOf(row.Table, row.ID)
	if !own {
		return nil
	}
	oldest, applied, versions := o.state.Horizon(scope)
	switch {
	case scope == retention.Scope{}: // only the program knows whose it is
		return o.state.WalkBound("", o.at, func(retention.Scope) bool { return true }).Admit(o.at)
	case o.at < oldest:
		if _, set := o.state.Record(scope); !set {
			scope.Member = "" // its group's policy
		}
		o.scopes[scope] = oldest
	case versions > 0 && o.at < applied:
		at := place{row.Table, row.ID}
		s := o.counts[at]
		if s == nil || row.Prev != s.last {
			s = &survivors{first: row.TS, whole: row.Prev == 0, keeps: versions, scope: scope}
			o.counts[at] = s
		}
		s.n++
		s.last = row.TS
	}
	return nil
}

// scopeOf is whose history a document's is; not own is one that is kept as long
// as its owner, or as anything.
func (o *omission) scopeOf(table schema.TableID, id string) (scope retention.Scope, own bool) {
	t := o.tables[table]
	if t == nil || t.Shared || t.Owned && t.Scope == nil {
		return scope, false
	}
	return t.ScopeOf(id), true
}

// leaves says whether a document is left out.
func (o *omission) leaves(table schema.TableID, id string) bool {
	if o == nil {
		return false
	}
	if scope, own := o.scopeOf(table, id); own {
		oldest, _, _ := o.state.Horizon(scope)
		s := o.counts[place{table, id}]
		return o.at < oldest || s != nil && !s.readable(o.at)
	}
	prefixes := o.owned[table]
	i, exact := slices.BinarySearch(prefixes, id)
	return exact || i > 0 && strings.HasPrefix(id, prefixes[i-1])
}

// eachOwned calls own for each range that a row owns whose document is left
// out, or is not.
func (o *omission) eachOwned(v *schema.Visit, leftOut bool, own func(place)) error {
	t := o.tables[v.Table]
	if t == nil || t.Owns == nil || t.Shared || v.Deleted || o.leaves(v.Table, v.ID) != leftOut {
		return nil
	}
	value, err := v.Value()
	if err != nil {
		return err
	}
	t.Owns(v.ID, value, func(table schema.TableID, prefix string) { own(place{table, prefix}) })
	return nil
}

func (o *omission) setOwned(owned map[place]bool) {
	for _, p := range slices.SortedFunc(maps.Keys(owned), func(a, b place) int { return strings.Compare(a.id, b.id) }) {
		prefixes := o.owned[p.table]
		if n := len(prefixes); n == 0 || !strings.HasPrefix(p.id, prefixes[n-1]) {
			o.owned[p.table] = append(prefixes, p.id)
		}
	}
}

// tell names what is left out, in order.
func (o *omission) tell(leftOut func(retention.Scope, schema.Timestamp) error) error {
	for _, scope := range slices.SortedFunc(maps.Keys(o.scopes), retention.Scope.Compare) {
		if err := leftOut(scope, o.scopes[scope]); err != nil {
			return err
		}
	}
	return nil
}

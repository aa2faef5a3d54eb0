package retention

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// past looks up one version of a document; nil if it is not there, any more or
// at all.
type past func(t schema.TableID, id string, ts schema.Timestamp) (*known, error)

// judge condemns what commits have replaced, for one policy and one stretch of
// the log. It is shown the commits in their order, each once, and collects its
// verdict. It has no clock and reads nothing by itself: what it must know of
// older versions it asks of past.
//
//	a version that a row replaced     is condemned, with its entries
//	a row that is a tombstone         is condemned itself
//	a range that lost its owner       is an orphan: all its versions are
//
// testdata shows it at work.
type judge struct {
	table func(schema.TableID) *Table
	past  past

	mine   func(Scope) bool // the policy holds for a scope
	alone  bool             // the policy holds for everything, and mine is not asked
	counts bool             // the policy counts versions

	// from ends the stretch before this one: what was replaced at or before it
	// was judged then.
	from schema.Timestamp

	// shared is how far documents are judged that belong to every policy. It is
	// the least of all horizons: such a document goes when nobody keeps it.
	shared schema.Timestamp

	recent  recent
	barren  *barren          // of the pass
	gone    map[version]bool // versions of owned documents that outlived let go
	deriver index.Deriver
	derived []schema.Entry // scratch
	verdict
}

// verdict is what the commits of a stretch have let go.
type verdict struct {
	batch   condemned
	lost    []orphan
	applied schema.Timestamp // the newest commit whose predecessors are condemned
}

// commit judges the rows of one commit, as far as the policy holds for them.
func (j *judge) commit(rows []*known) error {
	o, err := j.ownership(rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if !j.holdsForRow(o, row) {
			continue
		}
		if err := j.replace(row, o.before[i], true); err != nil {
			return err
		}
	}
	for _, lost := range o.lost {
		// An orphan whose documents have scopes of their own is judged document
		// by document, see holdsForOrphan.
		if j.table(lost.table).Scope != nil || j.holdsForOwner(lost.owner, lost.ts) {
			j.lost = append(j.lost, lost)
		}
	}
	return nil
}

// commitOf judges one commit for one document alone: the document's row, and
// the rows of what it owned. keepTombstone keeps the document's row. o is what
// the judge knows of the commit.
func (j *judge) commitOf(o *ownership, t *Table, id string, keepTombstone bool) error {
	its := owner{t.scope(id), t.Shared}
	main, found := o.place(t.ID, id)
	for _, i := range o.partsOf(its, main) {
		if err := j.replace(o.rows[i], o.before[i], !found || i != main || !keepTombstone); err != nil {
			return err
		}
	}
	for _, lost := range o.lost {
		if lost.owner == its {
			j.lost = append(j.lost, lost)
		}
	}
	return nil
}

// holdsFor is true where the policy holds.
func (j *judge) holdsFor(scope Scope) bool { return j.alone || j.mine(scope) }

// holdsForRow is true for rows whose predecessors the policy decides about.
func (j *judge) holdsForRow(o *ownership, row *known) bool {
	return j.alone || j.holdsForOwner(o.owner(j.table(row.Table), row.ID), row.TS)
}

// holdsForOwner is true where the policy decides about what was replaced at ts
// in the history of an owner. A shared owner belongs to no policy: the one that
// passes ts last decides, and the others learn from its rows what is lost.
func (j *judge) holdsForOwner(o owner, ts schema.Timestamp) bool {
	if o.shared && !j.alone {
		return ts <= j.shared
	}
	return j.holdsFor(o.scope)
}

// holdsForOrphan is true for documents of a lost range that the policy decides
// about: one that has a scope of its own may be kept for longer than its owner.
func (j *judge) holdsForOrphan(t *Table, id string) bool {
	return j.alone || t.Scope == nil || j.mine(t.Scope(id))
}

// replace condemns the version that row replaced; and row itself, if it is a
// tombstone and tombstone allows it. before is the version replaced, where it
// was needed to find what it owned or its entries.
func (j *judge) replace(row, before *known, tombstone bool) error {
	t := j.table(row.Table)
	if outlived, err := j.outlived(t, row); outlived || err != nil {
		return err
	}
	j.applied = max(j.applied, row.TS)
	if row.Prev != 0 {
		j.condemn(version{row.Table, row.Prev, row.ID})
	}
	if t.Shared && row.Prev != 0 && row.Prev <= j.from {
		if err := j.replaceSkipped(row); err != nil {
			return err
		}
	}
	if row.Deleted && tombstone {
		j.condemn(version{row.Table, row.TS, row.ID})
	}
	if len(t.Indexes) == 0 || before == nil {
		return nil
	}
	j.derived = index.DeriveKeys(j.derived[:0], &row.Row, true, before.keys, row.keys)
	for _, e := range j.derived[1:] {
		if e.Deleted {
			j.batch.keys = append(j.batch.keys, e)
		}
	}
	return nil
}

// replaceSkipped judges the version that row replaced, which is shared. Its
// commit was passed in an earlier stretch, and skipped if somebody could read
// there that cannot any more. Were it skipped for good, its predecessors would
// stay, and be the newest versions once row is gone.
func (j *judge) replaceSkipped(row *known) error {
	skipped, err := j.past(row.Table, row.ID, row.Prev)
	if err != nil || skipped == nil || skipped.Prev == 0 {
		return err
	}
	before, err := j.past(row.Table, row.ID, skipped.Prev)
	if err != nil || before == nil {
		return err
	}
	return j.replace(skipped, before, false)
}

// outlived is true for a row of an owned document that still has a version
// older than the one that row replaced. That happens where a range came from an
// owner whose policy keeps more. The version replaced, and row, must stay as
// well: with them gone, the oldest would be taken for the newest.
func (j *judge) outlived(t *Table, row *known) (bool, error) {
	if !t.Owned || t.Scope != nil || row.Prev == 0 || j.alone && !j.counts {
		return false, nil
	}
	replaced, err := j.past(row.Table, row.ID, row.Prev)
	if err != nil || replaced == nil {
		return false, err
	}
	if replaced.Prev != 0 && !j.gone[version{row.Table, replaced.Prev, row.ID}] {
		older, err := j.past(row.Table, row.ID, replaced.Prev)
		if older != nil || err != nil {
			return true, err
		}
	}
	if j.gone == nil {
		j.gone = map[version]bool{}
	}
	j.gone[version{row.Table, row.Prev, row.ID}] = true
	return false, nil
}

// condemn adds a version, and with it its entry by id.
func (j *judge) condemn(v version) { j.batch.add(v) }

// condemnKeys adds the declared entries that a version of an orphan has.
func (j *judge) condemnKeys(t *Table, row *known, batch *condemned) {
	if row == nil {
		return
	}
	j.derived = index.DeriveKeys(j.derived[:0], &row.Row, false, nil, row.keys)
	for _, d := range j.derived[1:] {
		d.TS = schema.MaxTimestamp // also the entry that ended it
		batch.keys = append(batch.keys, d)
		batch.uncount(t, d.Index, d.Key)
	}
}

// before is the version that row replaced, where it is needed and still there.
func (j *judge) before(t *Table, row *known) (before *known, err error) {
	if !t.tells() {
		return nil, nil
	}
	if row.Prev != 0 && !j.barren.replacedBy(&row.Row) {
		if before = j.recent.rows[documentKey{row.Table, row.ID}]; before == nil || before.TS != row.Prev {
			before, err = j.past(row.Table, row.ID, row.Prev)
		}
	}
	if row.barren() {
		j.barren.add(&row.Row)
	} else {
		j.recent.add(row)
	}
	return before, err
}

// recent has rows of the stretch that are not barren, and may be asked for
// again: a document that is written often is mostly replaced within a stretch.
type recent struct {
	rows map[documentKey]*known
	size int
}

// recentBytes bounds what recent keeps; it starts anew when that is reached.
const recentBytes = 32 << 20

func (r *recent) add(row *known) {
	if r.size += row.bytes(); r.size > recentBytes || r.rows == nil {
		r.rows, r.size = map[documentKey]*known{}, 0
	}
	r.rows[documentKey{row.Table, row.ID}] = row
}

// documentKey names a document.
type documentKey struct {
	table schema.TableID
	id    string
}

package reader

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// ErrEnded means that something was used after the function that it was given
// to. It is returned bare.
var ErrEnded = errors.New("firn: used after the function that it was given to")

// Draft is a document that a transaction has looked up in order to write it.
// Writing takes the document's place in the head from there. A Draft is a
// value, and good until its transaction ends.
//
// What it remembers is right whatever else the transaction writes:
//
//   - old is what was newest when the draft was made. What is newest now is
//     asked of the cell, which every write of the document goes through.
//   - cell is nil if the document was nowhere in memory, and it may have been
//     evicted since. Then the place is looked for again.
type Draft struct {
	table  *index.Table
	id     string
	cell   *cell
	old    *schema.Row
	serial uint64 // of the transaction
}

// Old is the document's newest version when the draft was made, also when that
// is a tombstone; nil if there never was one.
func (d *Draft) Old() *schema.Row { return d.old }

// ID is the document's id.
func (d *Draft) ID() string { return d.id }

// Edit looks a document up in order to write it. v is the view that
// transactions read through.
func (v *View) Edit(t *index.Table, id []byte) (Draft, error) {
	s, row, err := v.head.lookUp(v, t, id, false)
	if err != nil {
		return Draft{}, err
	}
	d := Draft{table: t, cell: s, serial: v.head.staged.serial}
	if row == nil {
		d.id = string(id) // a copy: the caller's id may change before it writes
		return d, nil
	}
	d.id, d.old = row.ID, known(row)
	return d, nil
}

// known is nil instead of a row that says that there is none.
func known(row *schema.Row) *schema.Row {
	if row == nil || row.TS == 0 {
		return nil
	}
	return row
}

// lookUp is what a transaction sees of a document, and the cell that it was
// found in, if it was. The row is nil, or has no timestamp, if there is
// nothing; or, if only a live version is asked for, perhaps if it is dead.
func (h *Head) lookUp(v *View, t *index.Table, id []byte, live bool) (*cell, *schema.Row, error) {
	dt := h.lockTable(t.ID)
	if s := dt.cell(string(id)); s != nil {
		row := h.staged.newest(s)
		h.mu.RUnlock()
		s.touch()
		return s, row, nil
	}
	if dt.complete {
		h.mu.RUnlock()
		return nil, nil, nil
	}
	row, ok := h.findInRange(t, id, v.at, live)
	h.mu.RUnlock()
	if ok {
		return nil, row, nil
	}
	row, err := v.cold(t, id)
	return nil, row, err
}

// newest is what the next transaction sees of the document in a cell.
func (s *staged) newest(at *cell) *schema.Row {
	if at.change != 0 {
		return s.change(at.change).row
	}
	return at.row
}

// Stage makes doc the newest version of a draft's document: its content,
// author and timestamp count, the rest is filled in. A tombstone for what is
// not there is not staged, which is no error. Staging a document twice in one
// transaction replaces the version. An error says that the transaction has
// ended, or that a key of the document in a declared index is too long; then
// nothing is staged.
func (h *Head) Stage(d Draft, doc schema.Row) (staged bool, err error) {
	s := &h.staged
	if d.serial != s.serial {
		return false, ErrEnded
	}
	dt := h.lockTable(d.table.ID)
	defer h.mu.RUnlock() // a function that derives keys may panic
	at, old := h.place(dt, &d)
	if doc.Deleted && (old == nil || old.Deleted) {
		return false, nil
	}
	row := new(schema.Row)
	*row = doc
	row.Table, row.ID, row.Prev = d.table.ID, d.id, 0
	again := false // this transaction has written the document before
	switch {
	case old == nil:
	case old.TS == row.TS:
		row.Prev, again = old.Prev, true
	default:
		row.Prev = old.TS
	}
	l := s.running()
	from := len(l.entries)
	if err := s.derive(d.table, old, row); err != nil {
		return false, err
	}
	if again {
		s.change(at.change).row = row
		h.tail.Replace(l.entries[from:])
	} else {
		l.hold(dt, at, change{table: d.table, row: row, old: old})
		h.tail.Insert(l.entries[from:])
		if old == nil {
			h.learning.known.Add(row.Table, row.ID)
		}
	}
	h.stageRanges(d.table, row, l.entries[from:])
	return true, nil
}

// place is where a draft's document is now, nil if it has no cell, and what is
// newest of it. mu is held.
func (h *Head) place(dt *docTable, d *Draft) (at *cell, old *schema.Row) {
	at = d.cell
	if at == nil || at.pos < 0 && at.change == 0 {
		at = dt.cell(d.id)
	}
	if at == nil {
		return nil, d.old
	}
	return at, known(h.staged.newest(at))
}

// derive adds the entries that a row has in the indexes.
func (s *staged) derive(t *index.Table, old, row *schema.Row) error {
	l := s.running()
	from := len(l.entries)
	l.entries = s.deriver.Derive(l.entries, t, old, row)
	for _, e := range l.entries[from:] {
		if len(e.Key) > schema.MaxIDBytes {
			l.entries = l.entries[:from]
			return fmt.Errorf("%w: %w: a key of %d bytes in index %q of %q, at most %d", index.ErrDeclaration, schema.ErrSize,
				len(e.Key), t.Indexes[e.Index.Number()-1].Name, t.Name, schema.MaxIDBytes)
		}
	}
	return nil
}

// hold notes a change in the cell of its document, which stays where it is
// until the change is published or undone. A document that has none gets a
// cell of its own.
func (l *layer) hold(dt *docTable, at *cell, c change) {
	if at == nil {
		at = &cell{pos: outside}
		l.grow(dt)[c.row.ID] = at
	}
	c.cell, c.prior = at, at.change
	at.change = l.id(len(l.changes))
	l.changes = append(l.changes, c)
}

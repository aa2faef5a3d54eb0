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
// What it remembers is right whatever else the transaction writes: old is what
// was newest when the draft was made, and what is newest now is that, or has
// been staged since.
type Draft struct {
	table  *index.Table
	id     string
	hash   uint32
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
	s := &v.head.staged
	into := s.olds.row()
	hash := v.head.docs.hash(t.ID, textOf(id))
	row, err := v.head.lookUp(v, hash, t, id, false, into)
	if err != nil {
		return Draft{}, err
	}
	d := Draft{table: t, hash: hash, old: known(row), serial: s.serial}
	if row == nil || row == into {
		d.id = s.olds.id(textOf(id)) // a copy: the caller's id may change before it writes
	} else {
		d.id = row.ID
	}
	if d.old == into {
		s.olds.keep(d.id)
	}
	return d, nil
}

// known is nil instead of a row that says that there is none.
func known(row *schema.Row) *schema.Row {
	if row == nil || row.TS == 0 {
		return nil
	}
	return row
}

// lookUp is what a transaction sees of a document, in into as docs.row says.
// The row is nil, or has no timestamp, if there is nothing; or, if only a live
// version is asked for, perhaps if it is dead.
func (h *Head) lookUp(v *View, hash uint32, t *index.Table, id []byte, live bool, into *schema.Row) (*schema.Row, error) {
	if row := h.staged.newest(hash, t.ID, textOf(id)); row != nil {
		return row, nil
	}
	h.mu.RLock()
	slot, absent := h.docs.find(hash, t.ID, textOf(id))
	if slot != 0 {
		row := h.docs.row(slot, into)
		h.mu.RUnlock()
		return row, nil
	}
	row, ok := h.findInRange(t, textOf(id), v.at, live, absent, into)
	h.mu.RUnlock()
	if ok {
		return row, nil
	}
	return v.cold(t, id)
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
	old := d.old
	if row := s.newest(d.hash, d.table.ID, d.id); row != nil {
		old = row
	}
	if doc.Deleted && (old == nil || old.Deleted) {
		return false, nil
	}
	row := s.newRow()
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
	s.bytes += len(row.Value)
	if again {
		s.bytes -= len(old.Value)
		l.find(d.hash, d.table.ID, d.id).row = row
		h.tail.Replace(l.entries[from:])
	} else {
		s.bytes += len(row.ID) + stagedBytes
		l.add(change{table: d.table, hash: d.hash, row: row, old: old})
		h.tail.Insert(l.entries[from:])
		if old == nil {
			h.learning.known.Add(row.Table, row.ID)
		}
	}
	held := h.stageRanges(d.table, row, old, l.entries[from:])
	l.find(d.hash, d.table.ID, d.id).held = held
	return true, nil
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

package firn

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// Draft is a document that a transaction has looked up in order to write it,
// as often as it likes. It is a small value to be copied, and good until the
// transaction ends. Several drafts of one document, and Put and Delete beside
// them, may be mixed: each writes what is newest by then.
type Draft struct {
	tx  *Tx
	doc reader.Draft
}

// Edit looks a document up in order to write it. That costs one look-up where
// Last and Put cost two. id is copied where it is needed. An error is about
// the table or the id, or that the document could not be read.
func (tx *Tx) Edit(t *Table, id []byte) (Draft, error) {
	if t.internal() {
		return Draft{}, fmt.Errorf("%w: %q is written by the store alone", ErrTable, t.Name())
	}
	return tx.edit(t, id)
}

// edit is Edit for all tables.
func (tx *Tx) edit(t *Table, id []byte) (Draft, error) {
	if err := usable(tx.view, t != nil); err != nil {
		return Draft{}, err
	}
	if err := checkID(id); err != nil {
		return Draft{}, err
	}
	doc, err := tx.view.Edit(t.def, id)
	return Draft{tx, doc}, err
}

// Old is the document's newest version when the draft was made, also when that
// is a tombstone; nil if there never was one. Writing does not change it.
func (d *Draft) Old() *Document { return d.doc.Old() }

// Put is Tx.Put.
func (d *Draft) Put(value []byte) error { return d.write(Document{Value: value}) }

// PutJSON is Tx.PutJSON.
func (d *Draft) PutJSON(value []byte) error {
	if err := schema.CheckJSON(value); err != nil {
		return fmt.Errorf("put %.40q: %w", d.doc.ID(), err)
	}
	return d.write(Document{Value: value, JSON: true})
}

// Delete is Tx.Delete.
func (d *Draft) Delete(note []byte) error { return d.write(Document{Value: note, Deleted: true}) }

func (d *Draft) write(doc Document) error {
	tx := d.tx
	if tx == nil || tx.view.Ended() {
		return errEnded
	}
	if len(doc.Value) > schema.MaxValueBytes {
		return fmt.Errorf("%w: value of %d bytes, at most %d", schema.ErrSize, len(doc.Value), schema.MaxValueBytes)
	}
	if doc.Value == nil && !doc.Deleted {
		doc.Value = []byte{}
	}
	doc.TS, doc.Author = tx.ts, tx.author
	staged, err := tx.store.head.Stage(d.doc, doc)
	if err != nil || !staged || !tx.enrols {
		return err
	}
	return tx.enrol()
}

// checkID refuses ids that the file could not hold.
func checkID(id []byte) error {
	switch {
	case len(id) == 0:
		return errors.New("firn: the empty id names no document")
	case len(id) > schema.MaxIDBytes:
		return fmt.Errorf("%w: id of %d bytes, at most %d", schema.ErrSize, len(id), schema.MaxIDBytes)
	}
	return nil
}

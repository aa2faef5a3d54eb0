package keyspace

import "github.com/firndb/firn"

// documents is memory for the documents that a command reads, so that the hot
// commands allocate nothing. A document is good until the command ends.
type documents struct {
	own  [readDocuments]*firn.Document
	used int
}

// readDocuments is how many documents of a command have memory that is used
// again, of a few kilobytes at most: those that read more allocate.
const readDocuments = 16

// next is a document to read into; nil stands for a new one.
func (d *documents) next() *firn.Document {
	if d.used == readDocuments {
		return nil
	}
	doc := d.own[d.used]
	if doc == nil {
		doc = new(firn.Document)
		d.own[d.used] = doc
	}
	d.used++
	return doc
}

// giveBack takes back what next has returned last, if it is not used.
func (d *documents) giveBack(doc *firn.Document) {
	if doc != nil {
		d.used--
	}
}

// readDoc is a document's live version; firn.ErrNotFound, bare, if there is
// none. It is good until the command ends; to store its value again see
// Lasting.
func readDoc(v *View, t *firn.Table, id []byte) (*firn.Document, error) {
	into := v.Work.read.next()
	doc, err := v.R.GetInto(t, id, into)
	if doc != into {
		v.Work.read.giveBack(into)
	}
	return doc, err
}

// hasDoc says whether a document is there.
func hasDoc(v *View, t *firn.Table, id []byte) (bool, error) {
	into := v.Work.read.next()
	_, err := v.R.GetInto(t, id, into)
	v.Work.read.giveBack(into)
	if err == firn.ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// Lasting is the value of a document that the command has read, for the store
// to keep: a copy if it is in memory of the command's.
func Lasting(v *View, value []byte) []byte {
	for _, doc := range v.Work.read.own[:v.Work.read.used] {
		if len(value) > 0 && len(doc.Value) > 0 && &value[0] == &doc.Value[0] {
			return Own(value)
		}
	}
	return value
}

// Release gives the memory back that the commands before have used.
func (w *Workspace) Release() {
	w.IDs.Release()
	w.read = documents{}
}

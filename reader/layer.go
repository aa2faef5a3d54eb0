package reader

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// layer is what the transactions of one group have staged, which is published
// or undone together. A transaction that fails is undone alone, while its
// layer is the running one.
//
// Changes are found by the hashes of their documents: each is in a list with
// others whose hashes end alike, the newest first.
type layer struct {
	changes []change
	heads   []int32        // of the lists, by the end of the hash; changes count from 1
	entries []schema.Entry // derived from all changes, in order; also in the tail
	undos   []undo
	adopted []*warmRange  // ranges that a transaction of the group loaded
	loaded  []*warmRange  // ranges of which one loaded leaves
	born    []*warmRange  // ranges that began in one
	rows    []*schema.Row // of a sealed layer

	pictures []picture // of a sealed layer: the ranges that it touches, with nothing that came later
}

// change is one staged row.
type change struct {
	table *index.Table
	hash  uint32
	prior int32 // in the list
	row   *schema.Row
	old   *schema.Row // the version before this transaction; nil if none
	held  bool        // it is in its range, and need not be among the documents
}

// minHeads is the least number of lists, a power of two.
const minHeads = 256

func (l *layer) head(hash uint32) *int32 { return &l.heads[hash&uint32(len(l.heads)-1)] }

// find is the newest change of a document, nil if it has none.
func (l *layer) find(hash uint32, t schema.TableID, id string) *change {
	if len(l.changes) == 0 {
		return nil
	}
	for at := *l.head(hash); at != 0; {
		c := &l.changes[at-1]
		if c.hash == hash && c.row.Table == t && c.row.ID == id {
			return c
		}
		at = c.prior
	}
	return nil
}

// version is a document's version of exactly ts, nil if it is not here.
func (l *layer) version(hash uint32, t schema.TableID, id string, ts schema.Timestamp) *schema.Row {
	if len(l.changes) == 0 {
		return nil
	}
	for at := *l.head(hash); at != 0; at = l.changes[at-1].prior {
		if row := l.changes[at-1].row; row.TS == ts && row.Table == t && row.ID == id {
			return row
		}
	}
	return nil
}

// add notes a change.
func (l *layer) add(c change) {
	l.changes = append(l.changes, c)
	first := len(l.changes) - 1
	if len(l.changes) > len(l.heads) {
		l.heads = make([]int32, max(2*len(l.heads), minHeads))
		first = 0
	}
	for i := first; i < len(l.changes); i++ {
		head := l.head(l.changes[i].hash)
		l.changes[i].prior, *head = *head, int32(i+1)
	}
}

// unlist takes the newest changes out of their lists, from one on.
func (l *layer) unlist(from int) {
	for i := len(l.changes) - 1; i >= from; i-- {
		*l.head(l.changes[i].hash) = l.changes[i].prior
	}
}

// mark is a point in a layer to go back to.
type mark struct{ changes, entries, undos, adopted, born int }

func (l *layer) mark() mark {
	return mark{len(l.changes), len(l.entries), len(l.undos), len(l.adopted), len(l.born)}
}

// cut forgets what was added since a mark.
func (l *layer) cut(m mark) {
	l.changes, l.entries = l.changes[:m.changes], l.entries[:m.entries]
	l.undos, l.adopted, l.born = l.undos[:m.undos], l.adopted[:m.adopted], l.born[:m.born]
}

// seal gathers the layer's rows, and keeps its ranges as they are.
func (l *layer) seal() {
	l.rows = l.rows[:0]
	for i := range l.changes {
		l.rows = append(l.rows, l.changes[i].row)
	}
	for _, u := range l.undos {
		if u.in.touched {
			l.pictures = append(l.pictures, u.in.pend())
		}
	}
}

// maxScratch is how many staged changes a layer's buffers keep room for
// between groups.
const maxScratch = 1 << 14

// clear makes the layer empty.
func (l *layer) clear() {
	l.unlist(0)
	clear(l.changes)
	clear(l.entries)
	clear(l.undos)
	clear(l.adopted)
	clear(l.born)
	clear(l.rows)
	for _, p := range l.pictures {
		p.of.pending = false
	}
	clear(l.pictures)
	if cap(l.changes) > maxScratch {
		*l = layer{}
		return
	}
	l.cut(mark{})
	l.rows, l.pictures = l.rows[:0], l.pictures[:0]
}

package reader

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// layer is what the transactions of one group have staged, which is published
// or undone together. A transaction that fails is undone alone, while its
// layer is the running one.
type layer struct {
	number  changeID // which of the two it is
	changes []change
	entries []schema.Entry // derived from all changes, in order; also in the tail
	undos   []undo
	adopted []*warmRange  // ranges that a transaction of the group loaded
	grown   []*docTable   // tables that have a fresh of this layer
	rows    []*schema.Row // of a sealed layer

	pictures []picture // of a sealed layer: the ranges that it touches, with nothing that came later
}

// change is one staged row.
type change struct {
	table *index.Table
	cell  *cell
	row   *schema.Row
	old   *schema.Row // the version before this transaction; nil if none
	prior changeID    // what the cell's change was before: an earlier transaction's
}

// changeID is where a change is: its layer in the lowest bit, above it its
// place there, counted from 1. 0 is no change.
type changeID int32

func (n changeID) layer() changeID { return n & 1 }

// id is that of the layer's i-th change.
func (l *layer) id(i int) changeID { return changeID(i+1)<<1 | l.number }

// change is the change that a cell leads to.
func (s *staged) change(n changeID) *change { return &s.layers[n.layer()].changes[n>>1-1] }

// mark is a point in a layer to go back to.
type mark struct{ changes, entries, undos, adopted int }

func (l *layer) mark() mark {
	return mark{len(l.changes), len(l.entries), len(l.undos), len(l.adopted)}
}

// cut forgets what was added since a mark.
func (l *layer) cut(m mark) {
	l.changes, l.entries = l.changes[:m.changes], l.entries[:m.entries]
	l.undos, l.adopted = l.undos[:m.undos], l.adopted[:m.adopted]
}

// grow is the documents of a table that are staged in the layer and had no
// cell.
func (l *layer) grow(dt *docTable) map[string]*cell {
	fresh := &dt.fresh[l.number]
	if *fresh == nil {
		*fresh = map[string]*cell{}
		l.grown = append(l.grown, dt)
	}
	return *fresh
}

// seal gathers the layer's rows, and keeps its ranges as they are.
func (l *layer) seal() {
	l.rows = l.rows[:0]
	for i := range l.changes {
		l.rows = append(l.rows, l.changes[i].row)
	}
	for _, u := range l.undos {
		if u.in.touched {
			l.pictures = append(l.pictures, u.in.picture())
		}
	}
}

// maxScratch is how many staged changes a layer's buffers keep room for
// between groups.
const maxScratch = 1 << 14

// maxFresh is how many documents a table's fresh may have had to be used
// again: emptying a map takes time for all the room that it has.
const maxFresh = 512

// clear makes the layer empty.
func (l *layer) clear() {
	grown := l.grown[:0]
	for _, dt := range l.grown {
		fresh := &dt.fresh[l.number]
		if len(*fresh) > maxFresh {
			*fresh = nil
			continue
		}
		clear(*fresh)
		grown = append(grown, dt)
	}
	clear(l.grown[len(grown):])
	l.grown = grown
	clear(l.changes)
	clear(l.entries)
	clear(l.undos)
	clear(l.adopted)
	clear(l.rows)
	clear(l.pictures)
	if cap(l.changes) > maxScratch {
		*l = layer{number: l.number, grown: l.grown}
		return
	}
	l.cut(mark{})
	l.rows, l.pictures = l.rows[:0], l.pictures[:0]
}

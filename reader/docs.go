package reader

import (
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// docs is the single documents of the head: the newest published version of
// each, tombstones included, evicted by CLOCK. All calls but find hold the
// head's lock; find holds it shared.
type docs struct {
	tables map[schema.TableID]*docTable
	ring   []*cell // every cell, in no order
	hand   int     // where the clock's hand stands in ring
	bytes  int64
}

// docTable is the documents of one table.
type docTable struct {
	cells map[string]*cell

	// fresh is the documents that are staged and had no cell, by the layer that
	// staged them first. It belongs to who holds Head.Lock.
	fresh [2]map[string]*cell

	// complete says that every document that has any version is here, so that
	// what is not here was never written.
	complete bool
}

// cell holds one document. used is set by a read and cleared by the hand; pos
// is the cell's place in the ring. row is nil only while the cell is in fresh.
type cell struct {
	row *schema.Row
	pos int32 // outside: it is in fresh, or was evicted

	// change is the document's newest staged change; 0 if it has none. Who
	// holds Head.Lock writes it, with the head's lock held shared; while it is
	// not 0 the cell is not evicted.
	change changeID

	used atomic.Bool
}

// outside is the pos of a cell that is not in the ring.
const outside = -1

func (s *cell) touch() {
	if !s.used.Load() {
		s.used.Store(true)
	}
}

// cellOverhead is what a document costs beside the bytes of its id and value:
// a Row (96 bytes), a cell (24), its place in the ring (8) and in a map that
// is between half and seven eighths full (24 bytes a place), and the rounding
// of allocations to size classes.
const cellOverhead = 192

func cellBytes(row *schema.Row) int64 { return int64(len(row.ID)+cap(row.Value)) + cellOverhead }

func newDocs() docs { return docs{tables: map[schema.TableID]*docTable{}} }

func (d *docs) table(t schema.TableID) *docTable {
	dt := d.tables[t]
	if dt == nil {
		dt = &docTable{cells: map[string]*cell{}}
		d.tables[t] = dt
	}
	return dt
}

// cell is where a document is staged, or published; nil if it is in no cell.
func (d *docs) cell(t schema.TableID, id string) *cell {
	dt := d.tables[t]
	if dt == nil {
		return nil
	}
	return dt.cell(id)
}

// cell is where a document of the table is staged, or published. What is
// staged comes first: a reader may have read an older version in since.
func (dt *docTable) cell(id string) *cell {
	for _, fresh := range &dt.fresh {
		if s := fresh[id]; s != nil {
			return s
		}
	}
	return dt.cells[id]
}

// find is the newest published version of a document, if it is here; absent
// says that there is none anywhere.
func (d *docs) find(t schema.TableID, id []byte) (row *schema.Row, absent bool) {
	dt := d.tables[t]
	if dt == nil {
		return nil, false
	}
	s := dt.cells[string(id)]
	if s == nil {
		return nil, dt.complete
	}
	s.touch()
	return s.row, false
}

// put makes row the newest version of its document.
func (d *docs) put(row *schema.Row) {
	if s := d.table(row.Table).cells[row.ID]; s != nil {
		d.replace(s, row)
		return
	}
	d.add(new(cell), row)
}

// adopt makes row the newest version of its document, in a cell that was
// fresh.
func (d *docs) adopt(s *cell, row *schema.Row) {
	if there := d.table(row.Table).cells[row.ID]; there != nil { // a reader has read an older version in since
		d.replace(there, row)
		return
	}
	d.add(s, row)
}

// replace makes row the newest version of the document in a cell.
func (d *docs) replace(s *cell, row *schema.Row) {
	d.bytes += cellBytes(row) - cellBytes(s.row)
	s.row = row
}

// add takes in a cell for a document that has none.
func (d *docs) add(s *cell, row *schema.Row) {
	s.row, s.pos = row, int32(len(d.ring))
	d.table(row.Table).cells[row.ID] = s
	d.ring = append(d.ring, s)
	d.bytes += cellBytes(row)
}

// fill adds a version that was read from the file, unless a version as new is
// here.
func (d *docs) fill(row *schema.Row) {
	if s := d.table(row.Table).cells[row.ID]; s == nil || s.row.TS < row.TS {
		d.put(row)
	}
}

// shrink evicts until the documents fit in budget bytes, or what is left is
// staged. The hand goes round at most twice: the first time it may only clear
// marks.
func (d *docs) shrink(budget int64) {
	for steps := 2 * len(d.ring); d.bytes > budget && steps > 0; steps-- {
		if d.hand >= len(d.ring) {
			d.hand = 0
		}
		s := d.ring[d.hand]
		d.hand++ // past what takes an evicted one's place: that is the newest, and its turn is a round later
		switch {
		case s.change != 0:
		case s.used.Load() && budget > 0:
			s.used.Store(false)
		default:
			d.evict(s)
		}
	}
}

// forget takes a document out whose newest version is too large to keep.
func (d *docs) forget(row *schema.Row) {
	dt := d.table(row.Table)
	if s := dt.cells[row.ID]; s != nil {
		d.evict(s)
	}
	dt.complete = false
}

// evict takes a cell out; the ring's last takes its place.
func (d *docs) evict(s *cell) {
	dt := d.tables[s.row.Table]
	dt.complete = false
	delete(dt.cells, s.row.ID)
	d.bytes -= cellBytes(s.row)
	end := len(d.ring) - 1
	moved := d.ring[end]
	d.ring[s.pos], moved.pos = moved, s.pos
	s.pos = outside
	d.ring[end] = nil
	d.ring = d.ring[:end]
}

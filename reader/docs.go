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
	ring   []*slot // every slot, in no order
	hand   int     // where the clock's hand stands in ring
	bytes  int64
}

// docTable is the documents of one table.
type docTable struct {
	slots map[string]*slot

	// complete says that every document that has any version is here, so that
	// what is not here was never written.
	complete bool
}

// slot holds one document. used is set by a read and cleared by the hand; pos
// is the slot's place in the ring.
type slot struct {
	row  *schema.Row
	pos  int32
	used atomic.Bool
}

// slotOverhead is what a document costs beside the bytes of its id and value:
// a Row (96 bytes), a slot (16), its place in the ring (8) and in a map that
// is between half and seven eighths full (24 bytes a place), and the rounding
// of allocations to size classes.
const slotOverhead = 184

func slotBytes(row *schema.Row) int64 { return int64(len(row.ID)+cap(row.Value)) + slotOverhead }

func newDocs() docs { return docs{tables: map[schema.TableID]*docTable{}} }

func (d *docs) table(t schema.TableID) *docTable {
	dt := d.tables[t]
	if dt == nil {
		dt = &docTable{slots: map[string]*slot{}}
		d.tables[t] = dt
	}
	return dt
}

// find is the newest published version of a document, if it is here; absent
// says that there is none anywhere.
func (d *docs) find(t schema.TableID, id []byte) (row *schema.Row, absent bool) {
	dt := d.tables[t]
	if dt == nil {
		return nil, false
	}
	s := dt.slots[string(id)]
	if s == nil {
		return nil, dt.complete
	}
	if !s.used.Load() {
		s.used.Store(true)
	}
	return s.row, false
}

// put makes row the newest version of its document.
func (d *docs) put(row *schema.Row) {
	dt := d.table(row.Table)
	if s := dt.slots[row.ID]; s != nil {
		d.bytes += slotBytes(row) - slotBytes(s.row)
		s.row = row
		return
	}
	s := &slot{row: row, pos: int32(len(d.ring))}
	dt.slots[row.ID] = s
	d.ring = append(d.ring, s)
	d.bytes += slotBytes(row)
}

// fill adds a version that was read from the file, unless a version as new is
// here.
func (d *docs) fill(row *schema.Row) {
	if s := d.table(row.Table).slots[row.ID]; s == nil || s.row.TS < row.TS {
		d.put(row)
	}
}

// shrink evicts until the documents fit in budget bytes. The hand goes round
// at most twice: the first time it may only clear marks.
func (d *docs) shrink(budget int64) {
	for d.bytes > budget && len(d.ring) > 0 {
		if d.hand >= len(d.ring) {
			d.hand = 0
		}
		s := d.ring[d.hand]
		if s.used.Load() && budget > 0 {
			s.used.Store(false)
			d.hand++
			continue
		}
		d.evict(s)
		d.hand++ // past what took its place: that is the newest, and its turn is a round later
	}
}

// forget takes a document out whose newest version is too large to keep.
func (d *docs) forget(row *schema.Row) {
	dt := d.table(row.Table)
	if s := dt.slots[row.ID]; s != nil {
		d.evict(s)
	}
	dt.complete = false
}

// evict takes a slot out; the ring's last takes its place.
func (d *docs) evict(s *slot) {
	dt := d.tables[s.row.Table]
	dt.complete = false
	delete(dt.slots, s.row.ID)
	d.bytes -= slotBytes(s.row)
	end := len(d.ring) - 1
	moved := d.ring[end]
	d.ring[s.pos], moved.pos = moved, s.pos
	d.ring[end] = nil
	d.ring = d.ring[:end]
}

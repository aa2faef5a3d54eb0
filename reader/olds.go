package reader

import (
	"unsafe"

	"github.com/firndb/firn/schema"
)

// olds is memory for the documents that transactions look up. It is never used
// again, and left to the collector: whoever keeps a document keeps what was
// looked up about the same time, a few kilobytes. Ids have memory of their own,
// because the tail keeps them for longer.
type olds struct {
	rows  []schema.Row
	bytes []byte
	ids   []byte
}

// Sizes of the chunks of olds.
const (
	oldRows  = 32
	oldBytes = 4 << 10
)

// id is a copy of an id.
func (o *olds) id(id string) string {
	if len(id) > cap(o.ids)-len(o.ids) {
		if len(id) > oldBytes/8 {
			return string([]byte(id))
		}
		o.ids = make([]byte, 0, oldBytes)
	}
	from := len(o.ids)
	o.ids = append(o.ids, id...)
	return unsafe.String(unsafe.SliceData(o.ids[from:]), len(id))
}

// row is a row to be filled, with some room.
func (o *olds) row() *schema.Row {
	if len(o.rows) == 0 {
		o.rows = make([]schema.Row, oldRows)
	}
	if cap(o.bytes)-len(o.bytes) < oldBytes/16 {
		o.bytes = make([]byte, 0, oldBytes)
	}
	row := &o.rows[0]
	row.Value = o.bytes[len(o.bytes):]
	return row
}

// keep takes the row that was filled, under an id.
func (o *olds) keep(id string) {
	row := &o.rows[0]
	o.rows = o.rows[1:]
	row.ID = id
	if n := len(row.Value); n > 0 && n <= cap(o.bytes)-len(o.bytes) && &row.Value[0] == &o.bytes[:len(o.bytes)+1][len(o.bytes)] {
		o.bytes = o.bytes[:len(o.bytes)+n]
	}
	row.Value = row.Value[:len(row.Value):len(row.Value)]
}

package reader

import (
	"encoding/binary"
	"unsafe"

	"github.com/firndb/firn/internal/slab"
	"github.com/firndb/firn/schema"
)

// entry is a document in its place of a slab:
//
//	 0  ts            u64   0: there is no such document, see absent
//	 8  slot          u32   behind the first four bytes, which a free place loses
//	12  table         u24
//	15  flags         u8
//	16  id length     u16
//	18  value length  u16
//	20  ts - prev     u48   0: there is no version before; 8.9 years at most
//	26  author        u64   if flagAuthor
//	    prev          u64   if flagPrev: it is longer ago
//	    id, value
type entry []byte

const entryHeader = 26

const (
	flagDeleted = 1 << iota
	flagJSON
	flagNil    // Value is nil, and not empty
	flagAuthor // there is one
	flagPrev
)

// A length fits in two bytes.
const _ = uint16(slab.MaxBytes)

// maxBack is the longest time between two versions that six bytes hold.
const maxBack = 1<<48 - 1

// entryBytes is how long the entry of a row is.
func entryBytes(row *schema.Row) int {
	n := entryHeader + len(row.ID) + len(row.Value)
	if row.Author != 0 {
		n += 8
	}
	if row.Prev != 0 && row.TS-row.Prev > maxBack {
		n += 8
	}
	return n
}

// write makes the entry that of a row. e is as long as it has to be.
func (e entry) write(slot uint32, row *schema.Row) {
	flags, back := uint32(0), uint64(0)
	if row.Prev != 0 {
		back = uint64(row.TS - row.Prev)
	}
	at := entryHeader
	if row.Author != 0 {
		flags |= flagAuthor
		binary.LittleEndian.PutUint64(e[at:], uint64(row.Author))
		at += 8
	}
	if back > maxBack {
		flags |= flagPrev
		binary.LittleEndian.PutUint64(e[at:], uint64(row.Prev))
		at, back = at+8, 0
	}
	if row.Deleted {
		flags |= flagDeleted
	}
	if row.JSON {
		flags |= flagJSON
	}
	if row.Value == nil {
		flags |= flagNil
	}
	binary.LittleEndian.PutUint64(e, uint64(row.TS))
	binary.LittleEndian.PutUint32(e[8:], slot)
	binary.LittleEndian.PutUint32(e[12:], uint32(row.Table)|flags<<24)
	binary.LittleEndian.PutUint64(e[16:], uint64(len(row.ID))|uint64(len(row.Value))<<16|back<<32)
	binary.LittleEndian.PutUint16(e[24:], uint16(back>>32))
	at += copy(e[at:], row.ID)
	copy(e[at:], row.Value)
}

func (e entry) ts() schema.Timestamp { return schema.Timestamp(binary.LittleEndian.Uint64(e)) }

func (e entry) slot() uint32 { return binary.LittleEndian.Uint32(e[8:]) }

func (e entry) table() schema.TableID {
	return schema.TableID(binary.LittleEndian.Uint32(e[12:]) & schema.MaxTables)
}

func (e entry) flags() byte { return e[15] }

// id is where the id begins, and how long it is.
func (e entry) id() (at, n int) {
	at = entryHeader
	if flags := e.flags(); flags&(flagAuthor|flagPrev) != 0 {
		at += int(flags&flagAuthor)/flagAuthor*8 + int(flags&flagPrev)/flagPrev*8
	}
	return at, int(binary.LittleEndian.Uint16(e[16:]))
}

// is says whether the entry is a document's.
func (e entry) is(t schema.TableID, id string) bool {
	at, n := e.id()
	return n == len(id) && e.table() == t && string(e[at:at+n]) == id
}

// copyTo fills row. Its value, and behind it its id, are in the memory of
// row.Value if that suffices.
func (e entry) copyTo(row *schema.Row) {
	at, idBytes := e.id()
	valueBytes := int(binary.LittleEndian.Uint16(e[18:]))
	room := append(row.Value[:0], e[at+idBytes:at+idBytes+valueBytes]...)
	room = append(room, e[at:at+idBytes]...)
	e.fillHeader(row)
	row.ID = unsafe.String(unsafe.SliceData(room[valueBytes:]), idBytes)
	row.Value = room[:valueBytes]
	if e.flags()&flagNil != 0 {
		row.Value = nil
	}
}

// fillHeader fills row but for id and value.
func (e entry) fillHeader(row *schema.Row) {
	flags := e.flags()
	at, ts := entryHeader, e.ts()
	*row = schema.Row{TS: ts, Table: e.table(), Deleted: flags&flagDeleted != 0, JSON: flags&flagJSON != 0}
	if flags&flagAuthor != 0 {
		row.Author = int64(binary.LittleEndian.Uint64(e[at:]))
		at += 8
	}
	back := binary.LittleEndian.Uint64(e[18:]) >> 16
	switch {
	case flags&flagPrev != 0:
		row.Prev = schema.Timestamp(binary.LittleEndian.Uint64(e[at:]))
	case back != 0:
		row.Prev = ts - schema.Timestamp(back)
	}
}

// fresh is the document in memory of its own: one allocation for all but the
// largest.
func (e entry) fresh() *schema.Row {
	_, n := e.id()
	n += int(binary.LittleEndian.Uint16(e[18:]))
	row := newRow(n)
	e.copyTo(row)
	row.Value = row.Value[:len(row.Value):len(row.Value)]
	return row
}

// newRow is a row with room for n bytes. Row and room are of one allocation,
// of about the size that is needed.
func newRow(n int) *schema.Row {
	switch {
	case n <= 48:
		r := new(struct {
			row  schema.Row
			room [48]byte
		})
		r.row.Value = r.room[:0]
		return &r.row
	case n <= 112:
		r := new(struct {
			row  schema.Row
			room [112]byte
		})
		r.row.Value = r.room[:0]
		return &r.row
	case n <= 288:
		r := new(struct {
			row  schema.Row
			room [288]byte
		})
		r.row.Value = r.room[:0]
		return &r.row
	}
	return &schema.Row{Value: make([]byte, 0, n)}
}

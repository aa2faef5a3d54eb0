package reader

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// What an ordered range keeps under a key.
//
// In the range of a declared index it is the id of the document, as the parts
// that it shares with the key and what is between them:
//
//	length of the key's beginning | length of the key's end | the bytes between
//
// In a range of an index by id, where the key is the id, it is the document:
//
//	flags | TS, 7 bytes | TS - Prev | author | value
//
// where flags say whether Prev and author are there, and what the value is. A
// large value stands beside the page. An element that is bare has no more than
// the flag that says so, and TS: the row is elsewhere.

const (
	elementJSON   = 1 << iota
	elementNil    // the value is nil, and not empty
	elementPrev   // there is a version before
	elementAuthor // somebody is said to have written it
	elementBlob   // the value is the blob
	elementBare   // only TS is known
)

// largeValue is what a value is long that a page leads to and does not hold:
// copying the page must not copy much.
const largeValue = 512

const elementTimestampBytes = 7 // until the year 4253

func appendElementHead(dst []byte, flags byte, ts schema.Timestamp) []byte {
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(ts))
	return append(append(dst, flags), stamp[1:]...)
}

// bareElement is an element of which only the version's timestamp is known.
func bareElement(dst []byte, ts schema.Timestamp) pages.Value {
	return pages.Value{Bytes: appendElementHead(dst, elementBare, ts)}
}

// rowElement is the element of a live document, made in dst.
func rowElement(dst []byte, row *schema.Row) pages.Value {
	var flags byte
	if row.JSON {
		flags |= elementJSON
	}
	if row.Value == nil {
		flags |= elementNil
	}
	if row.Prev != 0 {
		flags |= elementPrev
	}
	if row.Author != 0 {
		flags |= elementAuthor
	}
	large := len(row.Value) >= largeValue
	if large {
		flags |= elementBlob
	}
	dst = appendElementHead(dst, flags, row.TS)
	if row.Prev != 0 {
		dst = binary.AppendUvarint(dst, uint64(row.TS-row.Prev))
	}
	if row.Author != 0 {
		dst = binary.AppendUvarint(dst, uint64(row.Author))
	}
	if large {
		return pages.Value{Bytes: dst, Blob: row.Value}
	}
	return pages.Value{Bytes: append(dst, row.Value...)}
}

// elementTS is the timestamp of an element by id.
func elementTS(v pages.Value) schema.Timestamp {
	return schema.Timestamp(binary.BigEndian.Uint64(v.Bytes) & (1<<(8*elementTimestampBytes) - 1))
}

// decodeElement fills row, all but its table and id, with what an element by id
// says; false if it is bare. The value is in the page, or is the blob.
func decodeElement(row *schema.Row, v pages.Value) bool {
	flags := v.Bytes[0]
	if flags&elementBare != 0 {
		return false
	}
	row.TS, row.Prev, row.Author = elementTS(v), 0, 0
	row.Deleted, row.JSON = false, flags&elementJSON != 0
	row.Value = nil
	rest := v.Bytes[1+elementTimestampBytes:]
	if flags&elementPrev != 0 {
		back, n := binary.Uvarint(rest)
		row.Prev, rest = row.TS-schema.Timestamp(back), rest[n:]
	}
	if flags&elementAuthor != 0 {
		author, n := binary.Uvarint(rest)
		row.Author, rest = int64(author), rest[n:]
	}
	switch {
	case flags&elementBlob != 0:
		row.Value = v.Blob
	case flags&elementNil == 0:
		row.Value = rest[:len(rest):len(rest)]
	}
	return true
}

// elementRow is the document of an element by id; nil if it is bare. Its value
// is in the page, unless it is copied.
func elementRow(t schema.TableID, id string, v pages.Value, copied bool) *schema.Row {
	row := new(schema.Row)
	if !decodeElement(row, v) {
		return nil
	}
	row.Table, row.ID = t, id
	if copied && v.Blob == nil && row.Value != nil {
		row.Value = append(make([]byte, 0, len(row.Value)), row.Value...)
	}
	return row
}

// elementInto is elementRow in into, with value and id in the memory of
// into.Value if that suffices, or in a row of its own: if into is nil, or the
// value is large.
func elementInto(t schema.TableID, id string, v pages.Value, into *schema.Row) *schema.Row {
	if v.Blob != nil {
		return elementRow(t, strings.Clone(id), v, false)
	}
	var row schema.Row
	if !decodeElement(&row, v) {
		return nil
	}
	if into == nil {
		into = newRow(len(row.Value) + len(id))
	}
	n, isNil := len(row.Value), row.Value == nil
	room := append(append(into.Value[:0], row.Value...), id...)
	row.Table, row.ID = t, unsafe.String(unsafe.SliceData(room[n:]), len(id))
	if row.Value = room[:n]; isNil {
		row.Value = nil
	}
	*into = row
	return into
}

// idElement is the element of a declared index, made in dst.
func idElement(dst []byte, key, id string) pages.Value {
	front := 0
	for front < len(key) && front < len(id) && key[front] == id[front] {
		front++
	}
	back := 0
	for back < len(key) && back < len(id)-front && key[len(key)-1-back] == id[len(id)-1-back] {
		back++
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(front)), uint64(back))
	return pages.Value{Bytes: append(dst, id[front:len(id)-back]...)}
}

// appendElementID appends the id that an element of a declared index leads to.
func appendElementID(dst, key []byte, v pages.Value) []byte {
	front, n := binary.Uvarint(v.Bytes)
	back, m := binary.Uvarint(v.Bytes[n:])
	dst = append(dst, key[:front]...)
	dst = append(dst, v.Bytes[n+m:]...)
	return append(dst, key[len(key)-int(back):]...)
}

// leadsTo says whether an element of a declared index leads to an id.
func leadsTo(key string, v pages.Value, id string) bool {
	front, n := binary.Uvarint(v.Bytes)
	back, m := binary.Uvarint(v.Bytes[n:])
	middle := v.Bytes[n+m:]
	i, j := int(front), int(front)+len(middle)
	return len(id) == j+int(back) && id[:i] == key[:i] && id[i:j] == string(middle) && id[j:] == key[len(key)-int(back):]
}

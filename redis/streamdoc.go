package redis

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// A stream is a key document, an element for each entry, and documents in the
// table groups for what its consumer groups know (streamgroups.go). All of
// them are found without walking over what was deleted: the key document says
// where the stream begins, because most streams are cut at the front.
//
// An entry's id is (uid.ts, uid.n, ms, seq), see streamID.appendKey. Its value
// is a MessagePack array of bins, field and value by turns; in an entry that
// begins a node (streamnodes.go) a nil comes before them. For example, XADD s
// 5-1 f v as a stream's first entry is
//
//	93 c0 c4 01 66 c4 01 76

// stream is what a stream keeps as a whole, beside its length: the value of
// its key document. It is stored as a MessagePack array of 14 elements:
//
//	 0  id   last: the greatest id that an entry had
//	 1  id   first entry's id; nil if there is no entry
//	 2  id   deleted: the greatest id that XDEL has deleted
//	 3  int  added: how many entries there ever were
//	 4  int  groups: how many there are
//	 5  int  serial: how many groups there ever were
//	 6  int  nodes: how many there are
//	 7  id   the last node's first id
//	 8  id   its last id, of a deleted entry too; nil if that is not known
//	 9  int  its entries, deleted ones too
//	10  int  its bytes
//	11  int  a hash of its first entry's fields
//	12  int  the first node's live entries; 0 if that is not known
//	13  id   the first node's last id; nil if that is not known
//
// Integers take their shortest form. An id is nil for 0-0, or an array of two
// integers; the first of element 0's is its ms, that of the others how far
// their ms lies before that, modulo 1<<64.
type stream struct {
	last, first, deleted streamID
	added                int64
	groups, serial       int64
	nodes                int64
	node                 streamNode
	head                 streamNodeEnd
}

// streamNode is what is remembered of the last node: whether one more entry
// fits.
type streamNode struct {
	first   streamID
	last    streamID
	entries int64
	bytes   int64
	fields  uint32
}

// streamNodeEnd is what is remembered of the first node: what cutting it off takes.
// The zero streamNodeEnd means that nothing is.
type streamNodeEnd struct {
	entries int64
	last    streamID
}

const streamElements = 14

// appendTo appends the encoding of the stream.
func (st *stream) appendTo(dst []byte) []byte {
	dst = append(dst, 0x90|streamElements)
	dst = appendIDPair(dst, st.last, 0, 1)
	dst = appendIDPair(dst, st.first, st.last.ms, -1)
	dst = appendIDPair(dst, st.deleted, st.last.ms, -1)
	for _, n := range [...]int64{st.added, st.groups, st.serial, st.nodes} {
		dst = appendUint(dst, uint64(n))
	}
	dst = appendIDPair(dst, st.node.first, st.last.ms, -1)
	dst = appendIDPair(dst, st.node.last, st.last.ms, -1)
	for _, n := range [...]int64{st.node.entries, st.node.bytes, int64(st.node.fields), st.head.entries} {
		dst = appendUint(dst, uint64(n))
	}
	return appendIDPair(dst, st.head.last, st.last.ms, -1)
}

// appendIDPair appends an id whose ms is written as base + sign·ms.
func appendIDPair(dst []byte, id streamID, base uint64, sign int) []byte {
	if id == (streamID{}) {
		return append(dst, 0xc0)
	}
	ms := base + id.ms
	if sign < 0 {
		ms = base - id.ms
	}
	return appendUint(appendUint(append(dst, 0x92), ms), id.seq)
}

// parseStream reads the stream of a key document; one that is damaged is
// errDamaged.
func parseStream(k *keyDoc) (stream, error) {
	d := decoder{b: k.Value}
	var st stream
	d.expect(0x90 | streamElements)
	st.last = decoderID(&d)
	base := st.last.ms
	st.first, st.deleted = decoderIDBefore(&d, base), decoderIDBefore(&d, base)
	st.added, st.groups, st.serial, st.nodes = d.int(), d.int(), d.int(), d.int()
	st.node.first, st.node.last = decoderIDBefore(&d, base), decoderIDBefore(&d, base)
	st.node.entries, st.node.bytes = d.int(), d.int()
	fields := d.int()
	st.node.fields = uint32(fields)
	st.head.entries = d.int()
	st.head.last = decoderIDBefore(&d, base)
	if d.bad || len(d.b) > 0 || fields > math.MaxUint32 {
		return stream{}, fmt.Errorf("stream %d/%d: %w", k.UID.TS, k.UID.N, errDamaged)
	}
	return st, nil
}

// uint is int for all of 64 bits.
func (d *decoder) uint() uint64 {
	if len(d.b) > 0 && d.b[0] == 0xcf {
		d.byte()
		return d.number(8, math.MaxUint32+1)
	}
	return uint64(d.int())
}

// decoderID undoes appendIDPair without a base.
func decoderID(d *decoder) streamID {
	if code := d.byte(); code == 0xc0 {
		return streamID{}
	} else if code != 0x92 {
		d.bad = true
	}
	return streamID{d.uint(), d.uint()}
}

// decoderIDBefore undoes appendIDPair with a base.
func decoderIDBefore(d *decoder, base uint64) streamID {
	if len(d.b) > 0 && d.b[0] == 0xc0 {
		d.byte()
		return streamID{}
	}
	id := decoderID(d)
	return streamID{base - id.ms, id.seq}
}

// findStream reads the stream at a key; ok is false if there is none.
func findStream(v *View, key []byte) (k keyDoc, st stream, ok bool, err error) {
	if k, ok, err = v.findKind(key, kindStream); err != nil || !ok {
		return k, st, false, err
	}
	st, err = parseStream(&k)
	return k, st, err == nil, err
}

// openStream opens a key to change the stream at it. One that is not live is
// ready to become an empty stream.
func openStream(v *View, key []byte) (s slot, st stream, err error) {
	if s, err = v.openKind(key, kindStream); err != nil {
		return s, st, err
	}
	if !s.live {
		s.key = keyDoc{Kind: kindStream, UID: v.newUID()}
		return s, st, nil
	}
	st, err = parseStream(&s.key)
	return s, st, err
}

// writeStream stores the key document of a stream.
func writeStream(v *View, s *slot, st *stream) error {
	s.key.Value = v.keep(st.appendTo(v.room()))
	return v.write(s, s.key)
}

// newStreamEntry is the value of an entry in memory of its own, exactly sized.
func newStreamEntry(fields [][]byte, begins bool) []byte {
	n, size := len(fields), 0
	if begins {
		n, size = n+1, 1
	}
	for _, b := range fields {
		size += 2 + len(b)
		if len(b) > math.MaxUint8 {
			size++
		}
		if len(b) > math.MaxUint16 {
			size += 2
		}
	}
	value := appendArrayHeader(make([]byte, 0, size+sizeArrayHeader(n)), n)
	if begins {
		value = append(value, 0xc0)
	}
	for _, b := range fields {
		value = append(appendBinHeader(value, len(b)), b...)
	}
	return value
}

func sizeArrayHeader(n int) int {
	switch {
	case n <= 15:
		return 1
	case n <= math.MaxUint16:
		return 3
	}
	return 5
}

func appendArrayHeader(dst []byte, n int) []byte {
	switch {
	case n <= 15:
		return append(dst, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xdc), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, 0xdd), uint32(n))
}

// array is the number of elements of an array.
func (d *decoder) array() int {
	switch code := d.byte(); {
	case code>>4 == 0x90>>4:
		return int(code & 0x0f)
	case code == 0xdc:
		return int(d.number(2, 16))
	case code == 0xdd:
		return int(d.number(4, math.MaxUint16+1))
	}
	d.bad = true
	return 0
}

// streamEntry is an entry of a stream as it was read.
type streamEntry struct {
	id     streamID
	begins bool    // it begins a node
	fields int     // fields and values
	body   decoder // the bins of all fields and values
}

// parseStreamEntry reads an entry's document, whose id begins with prefixBytes of
// its stream. Its fields are validated when they are replied.
func parseStreamEntry(doc *firn.Document, prefixBytes int) (e streamEntry, err error) {
	if e.id, err = takeIDKey(doc.ID[prefixBytes:]); err != nil {
		return e, err
	}
	e.body.b = doc.Value
	n := e.body.array()
	if n%2 == 1 {
		e.body.expect(0xc0)
		e.begins = true
		n--
	}
	e.fields = n
	if e.body.bad || n == 0 {
		err = e.damaged()
	}
	return e, err
}

func (e *streamEntry) damaged() error {
	return fmt.Errorf("stream entry %d-%d: %w", e.id.ms, e.id.seq, errDamaged)
}

// replyEntry appends an entry as clients get it: its id and its fields.
func replyEntry(w *resp.Writer, e *streamEntry) error {
	w.Array(2)
	replyID(w, e.id)
	w.Array(e.fields)
	body := e.body
	for range e.fields {
		b := body.bin()
		if b == nil {
			return e.damaged()
		}
		w.Bulk(b)
	}
	if len(body.b) > 0 {
		return e.damaged()
	}
	return nil
}

// begun is the value of an entry that begins a node from now on.
func (e *streamEntry) begun() []byte {
	value := make([]byte, 0, len(e.body.b)+6)
	value = append(appendArrayHeader(value, e.fields+1), 0xc0)
	return append(value, e.body.b...)
}

package keyspace

import (
	"fmt"
	"math"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
)

// A stream is a key document, an element for each entry, and documents in the
// table groups for what its consumer groups know (streamgroups.go). All of
// them are found without walking over what was deleted: the key document says
// where the stream begins, because most streams are cut at the front.
//
// An entry's id is (uid.ts, uid.n, ms, seq), see StreamID.appendKey. Its value
// is a MessagePack array of bins, field and value by turns; in an entry that
// begins a node (streamnodes.go) a nil comes before them. For example, XADD s
// 5-1 f v as a stream's first entry is
//
//	93 c0 c4 01 66 c4 01 76

// Stream is what a stream keeps as a whole, beside its length: the value of
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
type Stream struct {
	Last, First, Deleted StreamID
	Added                int64
	Groups, Serial       int64
	Nodes                int64
	Node                 StreamNode
	Head                 StreamNodeEnd
}

// StreamNode is what is remembered of the last node: whether one more entry
// fits.
type StreamNode struct {
	First   StreamID
	Last    StreamID
	Entries int64
	Bytes   int64
	Fields  uint32
}

// StreamNodeEnd is what is remembered of the first node: what cutting it off takes.
// The zero StreamNodeEnd means that nothing is.
type StreamNodeEnd struct {
	Entries int64
	Last    StreamID
}

const streamElements = 14

// AppendTo appends the encoding of the stream.
func (st *Stream) AppendTo(dst []byte) []byte {
	dst = append(dst, 0x90|streamElements)
	dst = appendIDPair(dst, st.Last, 0, 1)
	dst = appendIDPair(dst, st.First, st.Last.Ms, -1)
	dst = appendIDPair(dst, st.Deleted, st.Last.Ms, -1)
	for _, n := range [...]int64{st.Added, st.Groups, st.Serial, st.Nodes} {
		dst = pack.AppendUint(dst, uint64(n))
	}
	dst = appendIDPair(dst, st.Node.First, st.Last.Ms, -1)
	dst = appendIDPair(dst, st.Node.Last, st.Last.Ms, -1)
	for _, n := range [...]int64{st.Node.Entries, st.Node.Bytes, int64(st.Node.Fields), st.Head.Entries} {
		dst = pack.AppendUint(dst, uint64(n))
	}
	return appendIDPair(dst, st.Head.Last, st.Last.Ms, -1)
}

// appendIDPair appends an id whose ms is written as base + sign·ms.
func appendIDPair(dst []byte, id StreamID, base uint64, sign int) []byte {
	if id == (StreamID{}) {
		return append(dst, 0xc0)
	}
	ms := base + id.Ms
	if sign < 0 {
		ms = base - id.Ms
	}
	return pack.AppendUint(pack.AppendUint(append(dst, 0x92), ms), id.Seq)
}

// ParseStream reads the stream of a key document; one that is damaged is
// ErrDamaged.
func ParseStream(k *KeyDoc) (Stream, error) {
	d := pack.Decoder{B: k.Value}
	var st Stream
	d.Expect(0x90 | streamElements)
	st.Last = readID(&d)
	base := st.Last.Ms
	st.First, st.Deleted = readIDBefore(&d, base), readIDBefore(&d, base)
	st.Added, st.Groups, st.Serial, st.Nodes = d.Int(), d.Int(), d.Int(), d.Int()
	st.Node.First, st.Node.Last = readIDBefore(&d, base), readIDBefore(&d, base)
	st.Node.Entries, st.Node.Bytes = d.Int(), d.Int()
	fields := d.Int()
	st.Node.Fields = uint32(fields)
	st.Head.Entries = d.Int()
	st.Head.Last = readIDBefore(&d, base)
	if d.Bad || len(d.B) > 0 || fields > math.MaxUint32 {
		return Stream{}, fmt.Errorf("stream %d/%d: %w", k.UID.TS, k.UID.N, ErrDamaged)
	}
	return st, nil
}

// readID undoes appendIDPair without a base.
func readID(d *pack.Decoder) StreamID {
	if code := d.Byte(); code == 0xc0 {
		return StreamID{}
	} else if code != 0x92 {
		d.Bad = true
	}
	return StreamID{d.Uint(), d.Uint()}
}

// readIDBefore undoes appendIDPair with a base.
func readIDBefore(d *pack.Decoder, base uint64) StreamID {
	if len(d.B) > 0 && d.B[0] == 0xc0 {
		d.Byte()
		return StreamID{}
	}
	id := readID(d)
	return StreamID{base - id.Ms, id.Seq}
}

// FindStream reads the stream at a key; ok is false if there is none.
func FindStream(v *View, key []byte) (k KeyDoc, st Stream, ok bool, err error) {
	if k, ok, err = v.FindKind(key, KindStream); err != nil || !ok {
		return k, st, false, err
	}
	st, err = ParseStream(&k)
	return k, st, err == nil, err
}

// OpenStream opens a key to change the stream at it. One that is not live is
// ready to become an empty stream.
func OpenStream(v *View, key []byte) (s Slot, st Stream, err error) {
	if s, err = v.OpenKind(key, KindStream); err != nil {
		return s, st, err
	}
	if !s.Live {
		s.Key = KeyDoc{Kind: KindStream, UID: v.NewUID()}
		return s, st, nil
	}
	st, err = ParseStream(&s.Key)
	return s, st, err
}

// WriteStream stores the key document of a stream.
func WriteStream(v *View, s *Slot, st *Stream) error {
	s.Key.Value = v.Keep(st.AppendTo(v.Room()))
	return v.Write(s, s.Key)
}

// NewStreamEntry is the value of an entry in memory of its own, exactly sized.
func NewStreamEntry(fields [][]byte, begins bool) []byte {
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
	value := pack.AppendArrayHeader(make([]byte, 0, size+pack.SizeArrayHeader(n)), n)
	if begins {
		value = append(value, 0xc0)
	}
	for _, b := range fields {
		value = append(pack.AppendBinHeader(value, len(b)), b...)
	}
	return value
}

// StreamEntry is an entry of a stream as it was read.
type StreamEntry struct {
	ID     StreamID
	Begins bool         // it begins a node
	Fields int          // fields and values
	Body   pack.Decoder // the bins of all fields and values
}

// ParseStreamEntry reads an entry's document, whose id begins with prefixBytes of
// its stream. Its fields are validated when they are replied.
func ParseStreamEntry(doc *firn.Document, prefixBytes int) (e StreamEntry, err error) {
	if e.ID, err = TakeIDKey(doc.ID[prefixBytes:]); err != nil {
		return e, err
	}
	e.Body.B = doc.Value
	n := e.Body.Array()
	if n%2 == 1 {
		e.Body.Expect(0xc0)
		e.Begins = true
		n--
	}
	e.Fields = n
	if e.Body.Bad || n == 0 {
		err = e.Damaged()
	}
	return e, err
}

func (e *StreamEntry) Damaged() error {
	return fmt.Errorf("stream entry %d-%d: %w", e.ID.Ms, e.ID.Seq, ErrDamaged)
}

// Begun is the value of an entry that begins a node from now on.
func (e *StreamEntry) Begun() []byte {
	value := make([]byte, 0, len(e.Body.B)+6)
	value = append(pack.AppendArrayHeader(value, e.Fields+1), 0xc0)
	return append(value, e.Body.B...)
}

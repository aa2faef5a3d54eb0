package redis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/firndb/firn"
)

// A key document is the state of one key at one moment. Every write to the
// key writes it, so its version chain is the key's history. It is stored as a
// MessagePack array of nine elements:
//
//	0  int  type, plus encoding<<4 (below)
//	1  str  operation: the command that wrote this version, or "expired"
//	2  int  version: 1 for the first, one more for each after it, deletions
//	        included; it never starts again in the same keyspace
//	3  int  created_ms: when the key last came into being, in milliseconds
//	        since the Unix epoch; 0 means with this very version
//	4  int  expires_at_ms: when the key ends, 0 for never
//	5  int  length: bytes of a string, elements of a collection
//	6  int  uid.ts: where the elements of a collection are, 0 for a string
//	7  int  uid.n
//	8  bin  the value of a string; for a collection what its type keeps about
//	        it as a whole, nil if that is nothing
//
// Integers are not negative and take their shortest form, as do the headers
// of 1 and 8, so a document has one encoding only. For example, SET k hi as
// the first version of k is
//
//	99 01 a3 534554 01 00 00 02 00 00 c4 02 6869
//
// A tombstone's note has the same layout. It keeps the type of what ended;
// expires_at_ms, length and the uid are 0, and the value is nil.

// encoding remembers what Redis's OBJECT ENCODING would say where the value
// alone does not tell: Redis never goes back to a compact form. The numbers
// are stored.
type encoding uint8

const (
	compact encoding = 0 // int, embstr or raw as the string's bytes tell; listpack
	plain   encoding = 1 // a string that is not an int though it looks like one
	large   encoding = 2 // raw; hashtable
)

// uid names a keyspace or a collection: the timestamp of the transaction that
// made it, and a number within that. The first keyspace of database n is
// (0, n). No uid is used twice.
type uid struct {
	TS firn.Timestamp
	N  int64
}

// keyDoc is a key document in memory.
type keyDoc struct {
	Kind      kind
	Encoding  encoding
	Operation []byte // may alias the stored document
	Version   int64
	Created   int64 // ms; when parsed never 0
	Expires   int64 // ms, 0 for never
	Length    int64
	UID       uid
	Value     []byte // of a string its value, not nil; of others the type's own note; aliases the stored document
}

// errDamaged means that a stored document is not what this package writes.
var errDamaged = errors.New("redis: damaged document")

const keyDocElements = 9

// appendKeyDoc appends the encoding of k, with operation for its Operation,
// which has at most 255 bytes: it is a command's name. No number is negative.
func appendKeyDoc(dst []byte, operation string, k *keyDoc) []byte {
	dst = append(dst, 0x90|keyDocElements, byte(k.Kind)|byte(k.Encoding)<<4)
	dst = appendStr(dst, operation)
	for _, n := range [...]int64{k.Version, k.Created, k.Expires, k.Length, int64(k.UID.TS), k.UID.N} {
		dst = appendUint(dst, uint64(n))
	}
	if k.Value == nil {
		return append(dst, 0xc0)
	}
	dst = appendBinHeader(dst, len(k.Value))
	return append(dst, k.Value...)
}

// sizeKeyDoc is the exact length of what appendKeyDoc appends.
func sizeKeyDoc(operation string, k *keyDoc) int {
	n := 2 + len(operation) + 1
	if len(operation) > 31 {
		n++
	}
	n += sizeUint(k.Version) + sizeUint(k.Created) + sizeUint(k.Expires) +
		sizeUint(k.Length) + sizeUint(int64(k.UID.TS)) + sizeUint(k.UID.N)
	switch {
	case k.Value == nil:
		return n + 1
	case len(k.Value) <= math.MaxUint8:
		return n + 2 + len(k.Value)
	case len(k.Value) <= math.MaxUint16:
		return n + 3 + len(k.Value)
	}
	return n + 5 + len(k.Value)
}

// newKeyDoc is the encoding of k in memory of its own, exactly sized.
func newKeyDoc(operation string, k *keyDoc) []byte {
	return appendKeyDoc(make([]byte, 0, sizeKeyDoc(operation, k)), operation, k)
}

// parseKeyDoc reads a version of a key, a tombstone's note too. A tombstone
// without a note reads as version 0. A damaged one is errDamaged.
func parseKeyDoc(doc *firn.Document) (keyDoc, error) {
	if doc.Deleted && doc.Value == nil {
		return keyDoc{Created: doc.TS.Millis()}, nil
	}
	k, ok := decodeKeyDoc(doc.Value)
	if !ok || k.Kind == kindString && k.Value == nil && !doc.Deleted || k.Kind == kindHash && !k.soundEnds() {
		return keyDoc{}, fmt.Errorf("key %q at %d: %w", doc.ID, doc.TS, errDamaged)
	}
	if k.Created == 0 {
		k.Created = doc.TS.Millis()
	}
	return k, nil
}

// decodeKeyDoc undoes appendKeyDoc; ok is false if b is not exactly what it
// writes. What it returns aliases b.
func decodeKeyDoc(b []byte) (k keyDoc, ok bool) {
	d := decoder{b: b}
	d.expect(0x90 | keyDocElements)
	form := d.byte()
	k.Kind, k.Encoding = kind(form&0x0f), encoding(form>>4)
	k.Operation = d.str()
	k.Version = d.int()
	k.Created = d.int()
	k.Expires = d.int()
	k.Length = d.int()
	k.UID = uid{firn.Timestamp(d.int()), d.int()}
	k.Value = d.bin()
	return k, !d.bad && len(d.b) == 0 && form < 0x80
}

// keyDocExpiry is the first moment, in ms, at which something of an encoded key
// document ends: its expires_at_ms, or the earliest end of a hash's fields; 0 if
// nothing does or the document is damaged.
func keyDocExpiry(b []byte) int64 {
	d := decoder{b: b}
	d.expect(0x90 | keyDocElements)
	form := d.byte()
	d.str()
	d.int()
	d.int()
	expires := d.int()
	if d.bad || kind(form&0x0f) != kindHash {
		return expires
	}
	for range 3 { // length and uid
		d.int()
	}
	note := d.bin()
	if note == nil {
		return expires
	}
	ends, ok := parseFieldEnds(note)
	switch {
	case d.bad || !ok:
		return 0
	case expires == 0:
		return ends.first
	}
	return min(expires, ends.first)
}

// appendDatabase appends what a database document holds: a MessagePack array
// of the keyspace uid's two integers and the operation that chose it.
func appendDatabase(dst []byte, operation string, space uid) []byte {
	dst = append(dst, 0x93)
	dst = appendUint(dst, uint64(space.TS))
	dst = appendUint(dst, uint64(space.N))
	return appendStr(dst, operation)
}

// parseDatabase reads a version of a database document.
func parseDatabase(doc *firn.Document) (space uid, operation string, err error) {
	d := decoder{b: doc.Value}
	d.expect(0x93)
	space = uid{firn.Timestamp(d.int()), d.int()}
	name := d.str()
	if d.bad || len(d.b) > 0 {
		return uid{}, "", fmt.Errorf("database %x at %d: %w", doc.ID, doc.TS, errDamaged)
	}
	return space, string(name), nil
}

func appendStr(dst []byte, s string) []byte {
	if len(s) <= 31 {
		dst = append(dst, 0xa0|byte(len(s)))
	} else {
		dst = append(dst, 0xd9, byte(len(s)))
	}
	return append(dst, s...)
}

func appendBinHeader(dst []byte, n int) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(dst, 0xc4, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xc5), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, 0xc6), uint32(n))
}

func appendUint(dst []byte, n uint64) []byte {
	switch {
	case n <= 0x7f:
		return append(dst, byte(n))
	case n <= math.MaxUint8:
		return append(dst, 0xcc, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xcd), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, 0xce), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xcf), n)
}

func sizeUint(n int64) int {
	switch {
	case n <= 0x7f:
		return 1
	case n <= math.MaxUint8:
		return 2
	case n <= math.MaxUint16:
		return 3
	case n <= math.MaxUint32:
		return 5
	}
	return 9
}

// decoder reads MessagePack from b, without copying. After the first thing
// that is not as it should be, bad is set and all results are zero.
type decoder struct {
	b   []byte
	bad bool
}

// take is the next n bytes.
func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	taken := d.b[:n:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) expect(want byte) {
	if d.byte() != want {
		d.bad = true
	}
}

// number is n bytes, big endian; bad if it is below least, because it would
// have had a shorter form.
func (d *decoder) number(n int, least uint64) uint64 {
	var v uint64
	for _, b := range d.take(uint64(n)) {
		v = v<<8 | uint64(b)
	}
	if v < least {
		d.bad = true
	}
	return v
}

func (d *decoder) int() int64 {
	var v uint64
	switch code := d.byte(); code {
	case 0xcc:
		v = d.number(1, 0x80)
	case 0xcd:
		v = d.number(2, math.MaxUint8+1)
	case 0xce:
		v = d.number(4, math.MaxUint16+1)
	case 0xcf:
		v = d.number(8, math.MaxUint32+1)
	default:
		v = uint64(code)
		if code > 0x7f {
			d.bad = true
		}
	}
	if d.bad || v > math.MaxInt64 {
		d.bad = true
		return 0
	}
	return int64(v)
}

func (d *decoder) str() []byte {
	switch code := d.byte(); {
	case code>>5 == 0xa0>>5:
		return d.take(uint64(code & 0x1f))
	case code == 0xd9:
		return d.take(d.number(1, 32))
	}
	d.bad = true
	return nil
}

// bin is nil for nil and never nil for a bin.
func (d *decoder) bin() []byte {
	switch d.byte() {
	case 0xc0:
		return nil
	case 0xc4:
		return d.take(d.number(1, 0))
	case 0xc5:
		return d.take(d.number(2, math.MaxUint8+1))
	case 0xc6:
		return d.take(d.number(4, math.MaxUint16+1))
	}
	d.bad = true
	return nil
}

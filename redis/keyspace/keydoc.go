package keyspace

import (
	"errors"
	"fmt"
	"math"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
)

// A key document is the state of one key at one moment. Every write to the
// key writes it, so its version chain is the key's history. It is stored as a
// MessagePack array of nine elements, or of ten if it says where the key came
// from:
//
//	0  int  type, plus encoding<<4 (below)
//	1  str  operation: the command that wrote this version, or "expired"
//	2  int  version: 1 for the first, one more for each after it, deletions
//	        included; see numbers.go
//	3  int  created_ms: when the key last came into being, in milliseconds
//	        since the Unix epoch; 0 means with this very version
//	4  int  expires_at_ms: when the key ends, 0 for never
//	5  int  length: bytes of a string, elements of a collection
//	6  int  uid.ts: where the elements of a collection are, 0 for a string
//	7  int  uid.n
//	8  bin  the value of a string; for a collection what its type keeps about
//	        it as a whole, nil if that is nothing
//	9  bin  origin, not empty: the database and the key that this version was
//	        taken from, as in 0:name, or dump: and the checksum of a payload;
//	        not there in versions that came from nowhere else
//
// Integers are not negative and take their shortest form, as do the headers
// of 1 and 8, so a document has one encoding only. For example, SET k hi as
// the first version of k is
//
//	99 01 a3 534554 01 00 00 02 00 00 c4 02 6869
//
// A tombstone's note has the same layout. It keeps the type of what ended;
// expires_at_ms, length and the uid are 0, and the value is nil.

// Encoding remembers what Redis's OBJECT ENCODING would say where the value
// alone does not tell: Redis never goes back to a compact form. The numbers
// are stored.
type Encoding uint8

const (
	Compact Encoding = 0 // int, embstr or raw as the string's bytes tell; listpack
	Plain   Encoding = 1 // a string that is not an int though it looks like one
	Large   Encoding = 2 // raw; hashtable
)

// UID names a keyspace or a collection: the timestamp of the transaction that
// made it, and a number within that. The first keyspace of database n is
// (0, n). No uid is used twice.
type UID struct {
	TS firn.Timestamp
	N  int64
}

// KeyDoc is a key document in memory.
type KeyDoc struct {
	Kind      Kind
	Encoding  Encoding
	Operation []byte // may alias the stored document
	Version   int64
	Created   int64 // ms; when parsed never 0
	Expires   int64 // ms, 0 for never
	Length    int64
	UID       UID
	Value     []byte // of a string its value, not nil; of others the type's own note; aliases the stored document
	Origin    []byte // where this version came from, nil for nowhere; aliases the stored document
}

// ErrDamaged means that a stored document is not what this package writes.
var ErrDamaged = errors.New("redis: damaged document")

const keyDocElements = 9 // without an origin

// keyDocHeader reads a key document's first byte, which says whether it has an
// origin.
func keyDocHeader(d *pack.Decoder) (origin bool) {
	n := d.Byte()
	if n != 0x90|keyDocElements && n != 0x90|(keyDocElements+1) {
		d.Bad = true
	}
	return n == 0x90|(keyDocElements+1)
}

// appendKeyDoc appends the encoding of k, with operation for its Operation,
// which has at most 255 bytes: it is a command's name. No number is negative.
func appendKeyDoc(dst []byte, operation string, k *KeyDoc) []byte {
	header := byte(0x90 | keyDocElements)
	if k.Origin != nil {
		header++
	}
	dst = append(dst, header, byte(k.Kind)|byte(k.Encoding)<<4)
	dst = pack.AppendStr(dst, operation)
	for _, n := range [...]int64{k.Version, k.Created, k.Expires, k.Length, int64(k.UID.TS), k.UID.N} {
		dst = pack.AppendUint(dst, uint64(n))
	}
	if k.Value == nil {
		dst = append(dst, 0xc0)
	} else {
		dst = append(pack.AppendBinHeader(dst, len(k.Value)), k.Value...)
	}
	if k.Origin != nil {
		dst = append(pack.AppendBinHeader(dst, len(k.Origin)), k.Origin...)
	}
	return dst
}

// sizeKeyDoc is the exact length of what appendKeyDoc appends.
func sizeKeyDoc(operation string, k *KeyDoc) int {
	n := 2 + len(operation) + 1
	if len(operation) > 31 {
		n++
	}
	n += pack.SizeUint(k.Version) + pack.SizeUint(k.Created) + pack.SizeUint(k.Expires) +
		pack.SizeUint(k.Length) + pack.SizeUint(int64(k.UID.TS)) + pack.SizeUint(k.UID.N)
	if k.Origin != nil {
		n += sizeBin(k.Origin)
	}
	return n + sizeBin(k.Value)
}

// sizeBin is the exact length of b, encoded.
func sizeBin(b []byte) int {
	switch {
	case b == nil:
		return 1
	case len(b) <= math.MaxUint8:
		return 2 + len(b)
	case len(b) <= math.MaxUint16:
		return 3 + len(b)
	}
	return 5 + len(b)
}

// NewKeyDoc is the encoding of k in memory of its own, exactly sized.
func NewKeyDoc(operation string, k *KeyDoc) []byte {
	return appendKeyDoc(make([]byte, 0, sizeKeyDoc(operation, k)), operation, k)
}

// ParseKeyDoc reads a version of a key, a tombstone's note too. A tombstone
// without a note reads as version 0. A damaged one is ErrDamaged.
func ParseKeyDoc(doc *firn.Document) (KeyDoc, error) {
	if doc.Deleted && doc.Value == nil {
		return KeyDoc{Created: doc.TS.Millis()}, nil
	}
	k, ok := decodeKeyDoc(doc.Value)
	if !ok || k.Kind == KindString && k.Value == nil && !doc.Deleted || k.Kind == KindHash && !k.soundEnds() {
		return KeyDoc{}, fmt.Errorf("key %q at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	if k.Created == 0 {
		k.Created = doc.TS.Millis()
	}
	return k, nil
}

// decodeKeyDoc undoes appendKeyDoc; ok is false if b is not exactly what it
// writes. What it returns aliases b.
func decodeKeyDoc(b []byte) (k KeyDoc, ok bool) {
	d := pack.Decoder{B: b}
	origin := keyDocHeader(&d)
	form := d.Byte()
	k.Kind, k.Encoding = Kind(form&0x0f), Encoding(form>>4)
	k.Operation = d.Str()
	k.Version = d.Int()
	k.Created = d.Int()
	k.Expires = d.Int()
	k.Length = d.Int()
	k.UID = UID{firn.Timestamp(d.Int()), d.Int()}
	k.Value = d.Bin()
	if origin {
		k.Origin = d.Bin()
		d.Bad = d.Bad || len(k.Origin) == 0
	}
	return k, !d.Bad && len(d.B) == 0 && form < 0x80
}

// keyDocExpiry is the first moment, in ms, at which something of an encoded key
// document ends: its expires_at_ms, or the earliest end of a hash's fields; 0 if
// nothing does or the document is damaged.
func keyDocExpiry(b []byte) int64 {
	d := pack.Decoder{B: b}
	keyDocHeader(&d)
	form := d.Byte()
	d.Str()
	d.Int()
	d.Int()
	expires := d.Int()
	if d.Bad || Kind(form&0x0f) != KindHash {
		return expires
	}
	for range 3 { // length and uid
		d.Int()
	}
	note := d.Bin()
	if note == nil {
		return expires
	}
	ends, ok := parseFieldEnds(note)
	switch {
	case d.Bad || !ok:
		return 0
	case expires == 0:
		return ends.First
	}
	return min(expires, ends.First)
}

// appendDatabase appends what a database document holds: a MessagePack array
// of the keyspace uid's two integers and the operation that chose it.
func appendDatabase(dst []byte, operation string, space UID) []byte {
	dst = append(dst, 0x93)
	dst = pack.AppendUint(dst, uint64(space.TS))
	dst = pack.AppendUint(dst, uint64(space.N))
	return pack.AppendStr(dst, operation)
}

// ParseDatabase reads a version of a database document.
func ParseDatabase(doc *firn.Document) (space UID, operation string, err error) {
	d := pack.Decoder{B: doc.Value}
	d.Expect(0x93)
	space = UID{firn.Timestamp(d.Int()), d.Int()}
	name := d.Str()
	if d.Bad || len(d.B) > 0 {
		return UID{}, "", fmt.Errorf("database %x at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	return space, string(name), nil
}

// Package rdb reads and writes values in the format in which Redis dumps them:
// what DUMP returns and RESTORE takes. It knows bytes and nothing of a store.
//
// A payload is one byte for the type and encoding of the value, the value, and
// a footer of ten bytes:
//
//	2 bytes  version of the format, little endian
//	8 bytes  CRC-64 of all bytes before it, little endian
//
// [Open] checks the footer and takes it off, and [Decode] reads what remains.
// [Append] writes the types that Redis 7.0 writes, and [Seal] adds the footer;
// Decode reads those of all versions before as well, and the ones that 7.2 and
// 7.4 added. Types are numbered as in Redis, see the constants.
//
// A payload may come from anybody. A length in it is believed only as far as
// there are bytes to fill it; and because a short payload may unpack to many
// elements, a value has no more than [MaxElements] of them, nor more than its
// payload has bytes once they are past a million. What Decode returns shares
// memory with the payload.
package rdb

import (
	"encoding/binary"
	"errors"
	"hash/crc64"
	"math"
)

// Errors of this package.
var (
	// ErrFooter means that a payload is not whole, or of a newer version.
	ErrFooter = errors.New("rdb: version or checksum is wrong")

	// ErrFormat means that what the payload holds is no value.
	ErrFormat = errors.New("rdb: malformed value")
)

const (
	// Version is the version of the format that is written: that of Redis 7.0.
	Version = 10

	// newestVersion is the newest that can be read: that of Redis 7.4.
	newestVersion = 12

	footerBytes = 10

	// MaxElements is the most elements that a value may have: each takes
	// many times the bytes in memory that it takes in a payload.
	MaxElements = 10_000_000

	// freeElements is how many there may be however short the payload is: room
	// for a long list of equal items, which takes 300 MiB at most.
	freeElements = 1_000_000
)

// elementLimit is the most elements of a value in a payload of so many bytes.
func elementLimit(size int) int { return min(MaxElements, max(freeElements, size)) }

// Types of values, with Redis's numbers.
const (
	typeString           = 0
	typeList             = 1
	typeSet              = 2
	typeZSet             = 3 // scores as text
	typeHash             = 4
	typeZSet2            = 5 // scores as binary
	typeHashZipmap       = 9
	typeListZiplist      = 10
	typeSetIntset        = 11
	typeZSetZiplist      = 12
	typeHashZiplist      = 13
	typeListQuicklist    = 14 // of ziplists
	typeStreamListpacks  = 15
	typeHashListpack     = 16
	typeZSetListpack     = 17
	typeListQuicklist2   = 18 // of listpacks
	typeStreamListpacks2 = 19 // with entries added, largest deleted id
	typeSetListpack      = 20 // from here on: newer than 7.0
	typeStreamListpacks3 = 21 // with the active time of consumers
	typeHashEndsOld      = 22 // Redis 7.4's release candidates
	typeHashPackEndsOld  = 23
	typeHashEnds         = 24 // with the end of each field
	typeHashPackEnds     = 25
)

// Kind is the type of a value as clients know it.
type Kind uint8

// The kinds of values.
const (
	String Kind = iota
	List
	Set
	ZSet
	Hash
	Stream
)

// Value is a value of any kind.
type Value struct {
	Kind Kind

	// Compact says, of a collection, that it is small enough for the encodings
	// that Redis uses for small ones: Append uses them. Decode sets it if they
	// were used.
	Compact bool

	String []byte // of a string

	// Items are the items of a list, the members of a set or a sorted set, or
	// the fields and values of a hash in turn. No member or field is twice in
	// what Decode returns, and there is at least one.
	Items [][]byte

	Scores []float64 // of a sorted set, as many as there are members; none is NaN
	Ends   []int64   // of a hash's fields, ms, 0 for never; nil if none has one. Append drops them
	Stream *Log      // of a stream
}

// crcTable is for the polynomial of Jones, in the reversed form.
var crcTable = crc64.MakeTable(0x95ac9329ac4bc9b5)

// checksum begins with 0 and inverts nothing, unlike the standard library's.
func checksum(b []byte) uint64 { return ^crc64.Update(math.MaxUint64, crcTable, b) }

// Seal appends the footer to a payload.
func Seal(payload []byte) []byte {
	payload = binary.LittleEndian.AppendUint16(payload, Version)
	return binary.LittleEndian.AppendUint64(payload, checksum(payload))
}

// Open checks a payload's footer and returns what is before it; the error is
// ErrFooter.
func Open(payload []byte) ([]byte, error) {
	n := len(payload) - footerBytes
	if n < 0 || binary.LittleEndian.Uint16(payload[n:]) > newestVersion ||
		binary.LittleEndian.Uint64(payload[n+2:]) != checksum(payload[:n+2]) {
		return nil, ErrFooter
	}
	return payload[:n], nil
}

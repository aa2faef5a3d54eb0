package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// source reads a payload from the front. After the first thing that is not as
// it should be, bad is set and all results are zero.
type source struct {
	b     []byte
	bad   bool
	limit int // the most elements of the value
}

func (s *source) fail() { s.bad, s.b = true, nil }

// take is the next n bytes.
func (s *source) take(n uint64) []byte {
	if n > uint64(len(s.b)) {
		s.fail()
		return nil
	}
	taken := s.b[:n:n]
	s.b = s.b[n:]
	return taken
}

func (s *source) byte() byte {
	if b := s.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uint is n bytes, little endian.
func (s *source) uint(n uint64) uint64 {
	var v uint64
	for i, b := range s.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// int is n bytes, little endian, in two's complement.
func (s *source) int(n uint64) int64 {
	shift := 64 - 8*n
	return int64(s.uint(n)<<shift) >> shift
}

// big is n bytes, big endian.
func (s *source) big(n uint64) uint64 {
	var v uint64
	for _, b := range s.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

// A length begins with two bits that say how it is written:
//
//	00xxxxxx            6 bits
//	01xxxxxx xxxxxxxx   14 bits
//	10000000            32 bits follow, big endian
//	10000001            64 bits follow, big endian
//	11xxxxxx            no length but a special form of string
const (
	length14     = 1
	length32     = 0x80
	length64     = 0x81
	specialInt8  = 0xc0
	specialInt16 = 0xc1
	specialInt32 = 0xc2
	specialLZF   = 0xc3
)

// lengthOr reads a length, or the byte of a special form.
func (s *source) lengthOr() (n uint64, special byte) {
	first := s.byte()
	switch {
	case first>>6 == 0:
		return uint64(first), 0
	case first>>6 == length14:
		return uint64(first&0x3f)<<8 | uint64(s.byte()), 0
	case first == length32:
		return s.big(4), 0
	case first == length64:
		return s.big(8), 0
	case first < specialInt8:
		s.fail()
		return 0, 0
	}
	return 0, first
}

// length reads a length.
func (s *source) length() uint64 {
	n, special := s.lengthOr()
	if special != 0 {
		s.fail()
	}
	return n
}

// count reads how many things follow that take at least size bytes each, so
// that memory can be taken for them.
func (s *source) count(size int) int {
	n := s.length()
	if n > uint64(len(s.b)/size) || n > uint64(s.limit) {
		s.fail()
		return 0
	}
	return int(n)
}

// string reads a string, in whatever form. It is nil only if bad.
func (s *source) string() []byte {
	n, special := s.lengthOr()
	switch special {
	case 0:
		return s.take(n)
	case specialInt8:
		return s.digits(1)
	case specialInt16:
		return s.digits(2)
	case specialInt32:
		return s.digits(4)
	case specialLZF:
		packed, size := s.length(), s.length()
		text, ok := unpackLZF(s.take(packed), size)
		if s.bad || !ok {
			s.fail()
			return nil
		}
		return text
	}
	s.fail()
	return nil
}

// digits is an integer of n bytes, in decimal.
func (s *source) digits(n uint64) []byte {
	v := s.int(n)
	if s.bad {
		return nil
	}
	return strconv.AppendInt(nil, v, 10)
}

// strings reads n strings.
func (s *source) strings(n int) [][]byte {
	all := make([][]byte, 0, n)
	for range n {
		all = append(all, s.string())
		if s.bad {
			return nil
		}
	}
	return all
}

func (s *source) float() float64 { return math.Float64frombits(s.uint(8)) }

// textFloat is a score as text: its length in a byte, of which three mean
// what has no digits.
func (s *source) textFloat() float64 {
	switch n := s.byte(); n {
	case 253:
		return math.NaN()
	case 254:
		return math.Inf(1)
	case 255:
		return math.Inf(-1)
	default:
		return parseScore(s, s.take(uint64(n)))
	}
}

// parseScore reads a score's digits.
func parseScore(s *source, text []byte) float64 {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		s.fail()
		return 0
	}
	return f
}

func appendLength(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(n))
	case n < 1<<14:
		return append(dst, length14<<6|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, length32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, length64), n)
}

// leastPacked is the shortest string that Redis tries to compress.
const leastPacked = 21

// appendString appends a string in its shortest form: a number, compressed, or
// as it is.
func appendString(dst, s []byte) []byte {
	if n, ok := parseInt(s); ok && n == int64(int32(n)) {
		switch {
		case n == int64(int8(n)):
			return append(dst, specialInt8, byte(n))
		case n == int64(int16(n)):
			return binary.LittleEndian.AppendUint16(append(dst, specialInt16), uint16(n))
		}
		return binary.LittleEndian.AppendUint32(append(dst, specialInt32), uint32(n))
	}
	if len(s) >= leastPacked {
		if packed, ok := packLZF(s); ok {
			dst = append(dst, specialLZF)
			dst = appendLength(dst, uint64(len(packed)))
			dst = appendLength(dst, uint64(len(s)))
			return append(dst, packed...)
		}
	}
	return append(appendLength(dst, uint64(len(s))), s...)
}

// maxIntDigits is the length of the longest int64 in decimal.
const maxIntDigits = 20

// parseInt reads an integer that is written as printing it would.
func parseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > maxIntDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0, false
	}
	var printed [maxIntDigits]byte
	return n, string(strconv.AppendInt(printed[:0], n, 10)) == string(b)
}

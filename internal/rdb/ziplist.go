package rdb

import (
	"math"
	"strconv"
)

// The encodings that came before the listpack, and the set of integers, which
// stayed.

// A ziplist is a sequence of strings and integers:
//
//	4 bytes  length of the whole, little endian
//	4 bytes  where the last element begins, little endian
//	2 bytes  number of elements, little endian; 65535 means: count them
//	…        the elements
//	FF
//
// An element is the length of the one before it, in a byte or as FE and 4 bytes,
// little endian; its form; its data:
//
//	00xxxxxx           string of up to 63 bytes
//	01xxxxxx xxxxxxxx  string of up to 16383 bytes
//	80, 4 bytes        string of that length, big endian
//	C0 D0 E0 F0 FE     integer of 2, 4, 8, 3, 1 bytes, little endian
//	F1 … FD            the integers 0 … 12
const (
	longBefore = 0xfe
	zipInt16   = 0xc0
	zipInt32   = 0xd0
	zipInt64   = 0xe0
	zipInt24   = 0xf0
	zipInt8    = 0xfe
	zipInt0    = 0xf1
	zipInt12   = 0xfd
)

// ziplist begins to read a ziplist of the value that s reads.
func (s *source) ziplist(b []byte) sequence {
	q := sequence{source: source{b: b, limit: s.limit}}
	size := q.uint(4)
	q.uint(4) // the tail: only writers need it
	n := q.uint(2)
	if size != uint64(len(b)) {
		q.fail()
	}
	q.left = int(n)
	if n == math.MaxUint16 {
		q.left = -1
	}
	before := 0
	q.next = func(s *source) entry {
		from := len(s.b)
		e := s.zipped(before)
		before = from - len(s.b)
		return e
	}
	return q
}

// zipped reads an element of a ziplist, of which the one before it took so
// many bytes.
func (s *source) zipped(before int) entry {
	n := uint64(s.byte())
	if n == longBefore {
		n = s.uint(4)
	}
	if n != uint64(before) {
		s.fail()
		return entry{}
	}
	switch form := s.byte(); {
	case form>>6 == 0b00:
		return entry{text: s.take(uint64(form))}
	case form>>6 == 0b01:
		return entry{text: s.take(uint64(form&0x3f)<<8 | uint64(s.byte()))}
	case form == 0x80:
		return entry{text: s.take(s.big(4))}
	case form == zipInt16:
		return entry{n: s.int(2), isInt: true}
	case form == zipInt32:
		return entry{n: s.int(4), isInt: true}
	case form == zipInt64:
		return entry{n: s.int(8), isInt: true}
	case form == zipInt24:
		return entry{n: s.int(3), isInt: true}
	case form == zipInt8:
		return entry{n: s.int(1), isInt: true}
	case form >= zipInt0 && form <= zipInt12:
		return entry{n: int64(form - zipInt0), isInt: true}
	}
	s.fail()
	return entry{}
}

// A zipmap is the number of pairs in a byte, 254 and up meaning: count them;
// the pairs; FF. A pair is a field and a value, each behind its length, which
// is a byte, or FE and 4 bytes, little endian. Behind a value's length stands
// how many bytes are unused behind the value.

// readZipmap is the fields and values of a zipmap in turn, at most limit.
func readZipmap(b []byte, limit int) (items [][]byte, ok bool) {
	s := source{b: b}
	pairs := int(s.byte())
	for !s.bad && len(s.b) > 0 && s.b[0] != listpackEnd {
		field := s.take(s.zipmapLength())
		n := s.zipmapLength()
		unused := uint64(s.byte())
		value := s.take(n)
		s.take(unused)
		items = append(items, field, value)
		if len(items) > limit {
			return nil, false
		}
	}
	return items, len(s.b) == 1 && (pairs >= longBefore || len(items) == 2*pairs)
}

func (s *source) zipmapLength() uint64 {
	if n := uint64(s.byte()); n < longBefore {
		return n
	}
	return s.uint(4)
}

// A set of integers is their size in bytes (2, 4 or 8), their number, each in 4
// bytes, and the integers, ascending, all little endian.

// readIntset is the members of a set of integers, at most limit.
func readIntset(b []byte, limit int) (items [][]byte, ok bool) {
	s := source{b: b}
	size, n := s.uint(4), s.uint(4)
	if size != 2 && size != 4 && size != 8 || n*size != uint64(len(s.b)) || n > uint64(limit) {
		return nil, false
	}
	items = make([][]byte, 0, n)
	last := int64(math.MinInt64)
	for i := range n {
		v := s.int(size)
		if i > 0 && v <= last {
			return nil, false
		}
		last = v
		items = append(items, strconv.AppendInt(nil, v, 10))
	}
	return items, true
}

// newIntset is a set of integers, ascending.
func newIntset(numbers []int64) []byte {
	size := 2
	for _, n := range numbers {
		switch {
		case n != int64(int32(n)):
			size = 8
		case n != int64(int16(n)):
			size = max(size, 4)
		}
	}
	b := appendUint(appendUint(nil, uint64(size), 4), uint64(len(numbers)), 4)
	for _, n := range numbers {
		b = appendUint(b, uint64(n), size)
	}
	return b
}

// appendUint appends the lowest n bytes of v, little endian.
func appendUint(dst []byte, v uint64, n int) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

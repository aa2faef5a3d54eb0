package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A listpack is a sequence of strings and integers in one piece of memory:
//
//	4 bytes  length of the whole, little endian
//	2 bytes  number of elements, little endian; 65535 means: count them
//	…        the elements
//	FF
//
// An element is its form, its data, and the length of both together, written
// so that it can be read from behind:
//
//	0xxxxxxx           integer of 7 bits, not negative
//	10xxxxxx           string of up to 63 bytes
//	110xxxxx xxxxxxxx  integer of 13 bits
//	1110xxxx xxxxxxxx  string of up to 4095 bytes
//	F0, 4 bytes        string of that length, little endian
//	F1 F2 F3 F4        integer of 2, 3, 4, 8 bytes, little endian
const (
	listpackHeader  = 6
	listpackEnd     = 0xff
	listpackUnknown = math.MaxUint16
	packString32    = 0xf0
	packInt16       = 0xf1
	packInt24       = 0xf2
	packInt32       = 0xf3
	packInt64       = 0xf4
	maxUint7        = 1<<7 - 1
	maxString6      = 1<<6 - 1
	maxString12     = 1<<12 - 1
	maxInt13        = 1<<12 - 1
	minInt13        = -1 << 12
	maxInt24        = 1<<23 - 1
	minInt24        = -1 << 23
)

// entry is an element of a listpack or a ziplist: a string, or an integer.
type entry struct {
	text  []byte // nil for an integer
	n     int64
	isInt bool
}

// bytes is the element as clients know it.
func (e entry) bytes() []byte {
	if e.isInt {
		return strconv.AppendInt(nil, e.n, 10)
	}
	return e.text
}

// sequence reads the elements of a listpack or a ziplist.
type sequence struct {
	source
	left int // elements that are to come; negative: not known
	next func(*source) entry
}

// more says whether another element follows. At the end it checks that it is
// one.
func (q *sequence) more() bool {
	if q.bad {
		return false
	}
	if len(q.b) > 0 && q.b[0] != listpackEnd {
		if q.left == 0 {
			q.fail()
			return false
		}
		return true
	}
	if len(q.b) != 1 || q.left > 0 {
		q.fail()
	}
	return false
}

// read is the next element.
func (q *sequence) read() entry {
	if !q.more() {
		q.fail()
		return entry{}
	}
	if q.left > 0 {
		q.left--
	}
	return q.next(&q.source)
}

// appendAll appends all elements to items; ok is false if they are malformed,
// or too many.
func (q *sequence) appendAll(items [][]byte) (all [][]byte, ok bool) {
	for q.more() {
		items = append(items, q.read().bytes())
		if len(items) > q.limit {
			return nil, false
		}
	}
	return items, !q.bad
}

// listpack begins to read a listpack of the value that s reads.
func (s *source) listpack(b []byte) sequence {
	q := sequence{source: source{b: b, limit: s.limit}, next: (*source).packed}
	size, n := q.uint(4), q.uint(2)
	if size != uint64(len(b)) {
		q.fail()
	}
	q.left = int(n)
	if n == listpackUnknown {
		q.left = -1
	}
	return q
}

// packed reads an element of a listpack, and what stands behind it.
func (s *source) packed() entry {
	before := len(s.b)
	e := s.packedForm()
	size := before - len(s.b)
	var room [5]byte
	for _, want := range appendBackLength(room[:0], size) {
		if s.byte() != want {
			s.fail()
		}
	}
	if s.bad {
		return entry{}
	}
	return e
}

func (s *source) packedForm() entry {
	switch form := s.byte(); {
	case form <= maxUint7:
		return entry{n: int64(form), isInt: true}
	case form>>6 == 0b10:
		return entry{text: s.take(uint64(form & maxString6))}
	case form>>5 == 0b110:
		n := int64(form&0x1f)<<8 | int64(s.byte())
		if n > maxInt13 {
			n -= 1 << 13
		}
		return entry{n: n, isInt: true}
	case form>>4 == 0b1110:
		return entry{text: s.take(uint64(form&0x0f)<<8 | uint64(s.byte()))}
	case form == packString32:
		return entry{text: s.take(s.uint(4))}
	case form == packInt16:
		return entry{n: s.int(2), isInt: true}
	case form == packInt24:
		return entry{n: s.int(3), isInt: true}
	case form == packInt32:
		return entry{n: s.int(4), isInt: true}
	case form == packInt64:
		return entry{n: s.int(8), isInt: true}
	}
	s.fail()
	return entry{}
}

// appendBackLength appends a length, seven bits in a byte, all bytes but the
// first marked.
func appendBackLength(dst []byte, n int) []byte {
	size := 1
	// Redis takes one byte more than it must for the largest numbers of a size.
	for most := 1<<7 - 1; size < 5 && (n > most || size > 1 && n == most); size++ {
		most = most<<7 | 0x7f
	}
	for i := size - 1; i >= 0; i-- {
		b := byte(n>>(7*i)) & 0x7f
		if i < size-1 {
			b |= 0x80
		}
		dst = append(dst, b)
	}
	return dst
}

// listpack is a listpack that is being written. The zero value is empty.
type listpack struct {
	b []byte
	n int
}

func (l *listpack) start() {
	if l.b == nil {
		l.b = make([]byte, listpackHeader, 128)
	}
}

// add appends a string, as an integer if it looks like one.
func (l *listpack) add(text []byte) {
	if n, ok := parseInt(text); ok {
		l.addInt(n)
		return
	}
	l.start()
	from := len(l.b)
	switch n := len(text); {
	case n <= maxString6:
		l.b = append(l.b, 0b10<<6|byte(n))
	case n <= maxString12:
		l.b = append(l.b, 0b1110<<4|byte(n>>8), byte(n))
	default:
		l.b = binary.LittleEndian.AppendUint32(append(l.b, packString32), uint32(n))
	}
	l.b = append(l.b, text...)
	l.end(from)
}

func (l *listpack) addInt(n int64) {
	l.start()
	from := len(l.b)
	switch {
	case n >= 0 && n <= maxUint7:
		l.b = append(l.b, byte(n))
	case n >= minInt13 && n <= maxInt13:
		l.b = append(l.b, 0b110<<5|byte(n>>8)&0x1f, byte(n))
	case n == int64(int16(n)):
		l.b = binary.LittleEndian.AppendUint16(append(l.b, packInt16), uint16(n))
	case n >= minInt24 && n <= maxInt24:
		l.b = append(l.b, packInt24, byte(n), byte(n>>8), byte(n>>16))
	case n == int64(int32(n)):
		l.b = binary.LittleEndian.AppendUint32(append(l.b, packInt32), uint32(n))
	default:
		l.b = binary.LittleEndian.AppendUint64(append(l.b, packInt64), uint64(n))
	}
	l.end(from)
}

// end finishes the element that begins at from.
func (l *listpack) end(from int) {
	l.b = appendBackLength(l.b, len(l.b)-from)
	l.n++
}

// finish is the whole listpack.
func (l *listpack) finish() []byte {
	l.start()
	l.b = append(l.b, listpackEnd)
	binary.LittleEndian.PutUint32(l.b, uint32(len(l.b)))
	binary.LittleEndian.PutUint16(l.b[4:], uint16(min(l.n, listpackUnknown)))
	return l.b
}

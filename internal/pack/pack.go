// Package pack reads and writes the part of MessagePack that key documents and
// what belongs to them are stored in: non-negative integers, strings, bins,
// arrays and nil, each in its shortest form, so that a value has one encoding
// only. Nothing is copied and nothing is allocated for what a header merely
// promises.
package pack

import (
	"encoding/binary"
	"math"
)

// AppendStr appends a string of at most 255 bytes.
func AppendStr(dst []byte, s string) []byte {
	if len(s) <= 31 {
		dst = append(dst, 0xa0|byte(len(s)))
	} else {
		dst = append(dst, 0xd9, byte(len(s)))
	}
	return append(dst, s...)
}

// AppendBinHeader appends the header of a bin of n bytes.
func AppendBinHeader(dst []byte, n int) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(dst, 0xc4, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xc5), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, 0xc6), uint32(n))
}

// AppendUint appends an integer.
func AppendUint(dst []byte, n uint64) []byte {
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

// SizeUint is how many bytes AppendUint appends.
func SizeUint(n int64) int {
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

// Decoder reads MessagePack from B, without copying. After the first thing
// that is not as it should be, Bad is set and all results are zero.
type Decoder struct {
	B   []byte
	Bad bool
}

// take is the next n bytes.
func (d *Decoder) take(n uint64) []byte {
	if d.Bad || n > uint64(len(d.B)) {
		d.Bad = true
		return nil
	}
	taken := d.B[:n:n]
	d.B = d.B[n:]
	return taken
}

// Byte is the next byte.
func (d *Decoder) Byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Expect takes the next byte, which has to be want.
func (d *Decoder) Expect(want byte) {
	if d.Byte() != want {
		d.Bad = true
	}
}

// number is n bytes, big endian; bad if it is below least, because it would
// have had a shorter form.
func (d *Decoder) number(n int, least uint64) uint64 {
	var v uint64
	for _, b := range d.take(uint64(n)) {
		v = v<<8 | uint64(b)
	}
	if v < least {
		d.Bad = true
	}
	return v
}

// Int is an integer below 1<<63.
func (d *Decoder) Int() int64 {
	var v uint64
	switch code := d.Byte(); code {
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
			d.Bad = true
		}
	}
	if d.Bad || v > math.MaxInt64 {
		d.Bad = true
		return 0
	}
	return int64(v)
}

// Str is the bytes of a string.
func (d *Decoder) Str() []byte {
	switch code := d.Byte(); {
	case code>>5 == 0xa0>>5:
		return d.take(uint64(code & 0x1f))
	case code == 0xd9:
		return d.take(d.number(1, 32))
	}
	d.Bad = true
	return nil
}

// Bin is nil for nil and never nil for a bin.
func (d *Decoder) Bin() []byte {
	switch d.Byte() {
	case 0xc0:
		return nil
	case 0xc4:
		return d.take(d.number(1, 0))
	case 0xc5:
		return d.take(d.number(2, math.MaxUint8+1))
	case 0xc6:
		return d.take(d.number(4, math.MaxUint16+1))
	}
	d.Bad = true
	return nil
}

// Uint is int for all of 64 bits.
func (d *Decoder) Uint() uint64 {
	if len(d.B) > 0 && d.B[0] == 0xcf {
		d.Byte()
		return d.number(8, math.MaxUint32+1)
	}
	return uint64(d.Int())
}

// SizeArrayHeader is how many bytes AppendArrayHeader appends.
func SizeArrayHeader(n int) int {
	switch {
	case n <= 15:
		return 1
	case n <= math.MaxUint16:
		return 3
	}
	return 5
}

// AppendArrayHeader appends the header of an array of n elements.
func AppendArrayHeader(dst []byte, n int) []byte {
	switch {
	case n <= 15:
		return append(dst, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xdc), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, 0xdd), uint32(n))
}

// Array is the number of elements of an array.
func (d *Decoder) Array() int {
	switch code := d.Byte(); {
	case code>>4 == 0x90>>4:
		return int(code & 0x0f)
	case code == 0xdc:
		return int(d.number(2, 16))
	case code == 0xdd:
		return int(d.number(4, math.MaxUint16+1))
	}
	d.Bad = true
	return 0
}

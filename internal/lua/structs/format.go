package structs

import (
	"math"

	"github.com/firndb/firn/internal/lua/arg"
)

// Sizes of C's types on x86-64, in bytes.
const (
	sizeShort  = 2
	sizeInt    = 4
	sizeLong   = 8
	sizeFloat  = 4
	sizeDouble = 8
)

const (
	// maxIntSize is the largest size of an integer that a format may name.
	maxIntSize = 32

	// maxAlign is the alignment that "!" means when it names none.
	maxAlign = 8
)

// format walks over the letters of a format.
type format struct {
	c         arg.Call
	text      string // what is left of it
	bigEndian bool
	align     uint64 // no value is aligned to more, a power of two
}

// open begins with argument 1. A format ends at its first NUL.
func open(c arg.Call) *format {
	text := arg.String(c, 1)
	arg.SpendOnText(c, len(text))
	return &format{c: c, text: text, align: 1}
}

// next returns the next letter and the size of what it stands for, 0 where that
// depends on the value or there is none.
func (f *format) next() (letter byte, size uint64, ok bool) {
	if f.text == "" || f.text[0] == 0 {
		return 0, 0, false
	}
	letter, f.text = f.text[0], f.text[1:]
	switch letter {
	case 'b', 'B', 'x':
		size = 1
	case 'h', 'H':
		size = sizeShort
	case 'l', 'L', 'T':
		size = sizeLong
	case 'f':
		size = sizeFloat
	case 'd':
		size = sizeDouble
	case 'c':
		size = uint64(f.number(1))
	case 'i', 'I':
		n := f.number(sizeInt)
		if n > maxIntSize {
			arg.Raise(f.c, "integral size %d is larger than limit of %d", n, maxIntSize)
		}
		size = uint64(n)
	}
	return letter, size, true
}

// number reads the number at the beginning of what is left, if there is one.
func (f *format) number(absent int) int {
	if !f.digit() {
		return absent
	}
	n := 0
	for f.digit() {
		n = n*10 + int(f.text[0]-'0')
		if n > math.MaxInt32 {
			arg.Raise(f.c, "integral size overflow")
		}
		f.text = f.text[1:]
	}
	return n
}

func (f *format) digit() bool {
	return f.text != "" && '0' <= f.text[0] && f.text[0] <= '9'
}

// padding returns how many bytes align a value of a size that begins at pos.
// The arithmetic is that of sizes which are powers of two, for all sizes.
func (f *format) padding(pos uint64, letter byte, size uint64) uint64 {
	if size == 0 || letter == 'c' {
		return 0
	}
	size = min(size, f.align)
	return (size - pos&(size-1)) & (size - 1)
}

// control obeys a letter that stands for no value.
func (f *format) control(letter byte) {
	switch letter {
	case ' ':
	case '>':
		f.bigEndian = true
	case '<':
		f.bigEndian = false
	case '!':
		n := f.number(maxAlign)
		if n == 0 || n&(n-1) != 0 {
			arg.Raise(f.c, "alignment %d is not a power of 2", n)
		}
		f.align = uint64(n)
	default:
		arg.Error(f.c, 1, "invalid format option '"+string([]byte{letter})+"'")
	}
}

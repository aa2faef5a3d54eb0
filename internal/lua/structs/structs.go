// Package structs is Lua's library struct as Redis ships it: values become
// bytes as C lays them out, and back.
//
// A format is a row of letters, one for each value, with others between that
// set the order of bytes and the alignment. The sizes of C's types are those of
// x86-64, and the order of bytes is little endian unless the format says
// otherwise.
package structs

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
)

// Library returns what the library publishes.
func Library() arg.Library {
	return arg.Library{Room: 3, Members: []arg.Member{
		{Name: "pack", Function: pack},
		{Name: "unpack", Function: unpack},
		{Name: "size", Function: size},
	}}
}

// pack returns the bytes of its arguments. There are at most as many as in the
// arguments that are strings, and maxIntSize for every letter of the format.
func pack(c arg.Call) int {
	f := open(c)
	var out []byte
	for n := 2; ; {
		letter, size, ok := f.next()
		if !ok {
			break
		}
		padding := f.padding(uint64(len(out)), letter, size)
		out = append(out, make([]byte, padding)...)
		switch letter {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			out = f.appendInteger(out, f.argument(n), size)
			n++
		case 'x':
			out = append(out, 0)
		case 'f':
			out = f.appendBytes(out, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f.argument(n)))))
			n++
		case 'd':
			out = f.appendBytes(out, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f.argument(n))))
			n++
		case 'c', 's':
			out = f.appendText(out, n, letter, size)
			n++
		default:
			f.control(letter)
		}
	}
	c.Push(val.String(out))
	return 1
}

// argument returns argument n.
func (f *format) argument(n int) float64 {
	f.there(n, "number")
	return arg.Number(f.c, n)
}

// there raises an error when there is no argument n. To Redis it is a nil.
func (f *format) there(n int, expected string) {
	if n > f.c.Top() {
		arg.Error(f.c, n, expected+" expected, got nil")
	}
}

// appendInteger appends the lowest bytes of a number, and zeros where the size
// is more than that of an integer.
func (f *format) appendInteger(out []byte, v float64, size uint64) []byte {
	bits := number.Uint64(v)
	if v < 0 {
		bits = uint64(number.Int64(v))
	}
	var space [maxIntSize]byte
	binary.LittleEndian.PutUint64(space[:], bits)
	return f.appendBytes(out, space[:size])
}

// appendBytes appends what is little endian in the order of the format.
func (f *format) appendBytes(out, little []byte) []byte {
	if f.bigEndian {
		slices.Reverse(little)
	}
	return append(out, little...)
}

// appendText appends as much of argument n as the size says, or all of it.
func (f *format) appendText(out []byte, n int, letter byte, size uint64) []byte {
	f.there(n, "string")
	text := arg.String(f.c, n)
	if size == 0 {
		size = uint64(len(text))
	}
	arg.Check(f.c, uint64(len(text)) >= size, n+1, "string too short") // one too far, as in Redis
	arg.Reserve(f.c, len(out)+int(size)+1)
	out = append(out, text[:size]...)
	if letter == 's' {
		out = append(out, 0)
	}
	return out
}

// size returns how many bytes a format takes whose letters all have a size.
func size(c arg.Call) int {
	f := open(c)
	var pos uint64
	for {
		letter, size, ok := f.next()
		if !ok {
			break
		}
		pos += f.padding(pos, letter, size)
		switch {
		case letter == 's':
			arg.Error(c, 1, "option 's' has no fixed size")
		case letter == 'c' && size == 0:
			arg.Error(c, 1, "option 'c0' has no fixed size")
		case !isAlphanumeric(letter):
			f.control(letter)
		}
		pos += size
	}
	c.Push(val.Number(int64(pos)))
	return 1
}

// isAlphanumeric tells which letters size does not take for a control: unknown
// ones count as nothing.
func isAlphanumeric(letter byte) bool {
	return '0' <= letter && letter <= '9' || 'a' <= letter|0x20 && letter|0x20 <= 'z'
}

// unpack returns the values of a format in argument 2, and the position behind
// the last one.
func unpack(c arg.Call) int {
	f := open(c)
	r := reader{format: f, data: arg.String(c, 2), slots: c.Top()}
	start := arg.OptInteger(c, 3, 1)
	arg.Check(c, start != 0, 3, "offset must be 1 or greater")
	r.pos = uint64(start) - 1
	for {
		letter, size, ok := f.next()
		if !ok {
			break
		}
		r.pos += f.padding(r.pos, letter, size)
		r.need(size)
		if r.slots+len(r.out)+2 > arg.StackSlots {
			arg.Raise(c, "stack overflow (too many results)")
		}
		r.pos += r.read(letter, size)
	}
	for _, v := range r.out {
		c.Push(v)
	}
	c.Push(val.Number(int64(r.pos + 1)))
	return len(r.out) + 1
}

// reader takes values out of data.
type reader struct {
	*format
	data  string
	pos   uint64 // need checks it before data is read there
	out   []val.Value
	slots int // of Redis's stack, taken by the arguments
}

// need raises an error unless size bytes are left.
func (r *reader) need(size uint64) {
	n := uint64(len(r.data))
	arg.Check(r.c, size <= n && r.pos <= n-size, 2, "data string too short")
}

// read takes one value, and returns how many bytes it took.
func (r *reader) read(letter byte, size uint64) uint64 {
	switch letter {
	case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
		r.push(val.Number(integer(r.little(size), letter >= 'a')))
	case 'x':
	case 'f':
		r.push(val.Number(math.Float32frombits(binary.LittleEndian.Uint32(r.little(size)))))
	case 'd':
		r.push(val.Number(math.Float64frombits(binary.LittleEndian.Uint64(r.little(size)))))
	case 'c':
		if size == 0 {
			size = r.length()
			r.need(size)
		}
		r.push(val.String(r.data[r.pos : r.pos+size]))
	case 's':
		end := strings.IndexByte(r.data[r.pos:], 0)
		if end < 0 {
			arg.Raise(r.c, "unfinished string in data")
		}
		r.push(val.String(r.data[r.pos : r.pos+uint64(end)]))
		size = uint64(end) + 1
	default:
		r.control(letter)
	}
	return size
}

func (r *reader) push(v val.Value) { r.out = append(r.out, v) }

// length takes the last value back, which is the length of a string.
func (r *reader) length() uint64 {
	if len(r.out) > 0 {
		last := len(r.out) - 1
		if n, ok := arg.ToNumber(r.out[last]); ok {
			r.out = r.out[:last]
			return number.Uint64(n)
		}
	}
	arg.Raise(r.c, "format 'c0' needs a previous size")
	return 0
}

// little returns the next bytes, the lowest first.
func (r *reader) little(size uint64) []byte {
	b := []byte(r.data[r.pos : r.pos+size])
	if r.bigEndian {
		slices.Reverse(b)
	}
	return b
}

// integer returns the number that bytes stand for, the lowest first. Those
// beyond a long are ignored, also for the sign.
func integer(little []byte, signed bool) float64 {
	var v uint64
	for i, b := range little[:min(len(little), sizeLong)] {
		v |= uint64(b) << (8 * i)
	}
	if !signed {
		return float64(v)
	}
	sign := uint64(math.MaxUint64) << ((uint64(len(little))*8 - 1) & 63)
	if v&sign != 0 {
		v |= sign
	}
	return float64(int64(v))
}

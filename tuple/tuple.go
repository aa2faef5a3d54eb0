// Package tuple encodes keys: tuples of bytes, integers and floats, as bytes
// that sort as the tuples do.
//
// An id of a document, or a key of a declared index, is such a tuple, so that
// a range of documents is a range of bytes. The Append functions write an
// element, the Take functions read the first one and return the rest, and
// [PrefixEnd] is where the range of all keys that begin with a prefix ends:
//
//	id := tuple.AppendString(nil, "ada")    // the customer
//	id = tuple.AppendInt(id, 1815)          // the order's number
//
// The package knows nothing of stores; what an element means is up to who
// writes it.
package tuple

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"unsafe"
)

// A key is a tuple of elements, written one behind the other. Comparing two
// keys byte by byte compares the tuples element by element, and a tuple comes
// before the longer ones that begin with it. An element begins with a code
// that names its type and ends by itself:
//
//	10          bytes: the bytes, each 00 as 00 FF, then 00
//	20 … 27     a negative integer of 8 … 1 bytes, each byte inverted
//	28          the integer 0
//	29 … 30     a positive integer of 1 … 8 bytes, big endian
//	40          a float: 8 bytes, IEEE 754 with the sign bit inverted if it
//	            was 0, and all bits inverted if it was 1
//
// So bytes come before integers, and integers before floats. Codes above 40
// are free for later types; 00 and FF stay unused, because 00 FF would read
// as an escape and nothing may sort behind every key. For example:
//
//	("")          10 00
//	("a")         10 61 00
//	("a\x00b")    10 61 00 FF 62 00
//	(-256)        26 FE FF
//	(-1)          27 FE
//	(0)           28
//	(1)           29 01
//	(1000)        2A 03 E8
//	(-1.0)        40 40 0F FF FF FF FF FF FF
//	(1.5)         40 BF F8 00 00 00 00 00 00
//	("u", 7)      10 75 00 29 07
//
// Each value has one encoding, and readers refuse any other. -0 is stored as
// 0, and every NaN as the same one, which comes behind +Inf.
const (
	codeBytes    = 0x10
	codeInt      = 0x28 // 0; ± the number of bytes
	codeFloat    = 0x40
	escapedZero  = 0xff // behind a 00 that does not end the bytes
	maxIntBytes  = 8
	floatBytes   = 8
	canonicalNaN = 0x7ff8000000000000
)

// ErrMalformed means that bytes are not a key, or that the next element is of
// another type.
var ErrMalformed = errors.New("tuple: malformed key")

// AppendBytes appends b as an element.
func AppendBytes(dst, b []byte) []byte {
	dst = append(dst, codeBytes)
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			dst = append(dst, b...)
			return append(dst, 0)
		}
		dst = append(dst, b[:i]...)
		dst = append(dst, 0, escapedZero)
		b = b[i+1:]
	}
}

// AppendString appends s as an element: the same one as its bytes.
func AppendString(dst []byte, s string) []byte { return AppendBytes(dst, bytesOf(s)) }

// AppendInt appends v as an element.
func AppendInt(dst []byte, v int64) []byte {
	magnitude, invert := uint64(v), uint64(0)
	if v < 0 {
		magnitude, invert = -magnitude, math.MaxUint64
	}
	n := (bits.Len64(magnitude) + 7) / 8
	code := codeInt + n
	if v < 0 {
		code = codeInt - n
	}
	var b [1 + maxIntBytes]byte
	binary.BigEndian.PutUint64(b[1:], magnitude^invert)
	b[maxIntBytes-n] = byte(code)
	return append(dst, b[maxIntBytes-n:]...)
}

// AppendFloat appends v as an element.
func AppendFloat(dst []byte, v float64) []byte {
	pattern := math.Float64bits(v)
	switch {
	case v == 0:
		pattern = 0
	case math.IsNaN(v):
		pattern = canonicalNaN
	}
	if pattern>>63 == 0 {
		pattern |= 1 << 63
	} else {
		pattern = ^pattern
	}
	return binary.BigEndian.AppendUint64(append(dst, codeFloat), pattern)
}

// TakeBytes reads bytes from the front of a key. b shares the key's memory
// unless it holds a zero byte. The error matches ErrMalformed.
func TakeBytes(key []byte) (b, rest []byte, err error) {
	s, tail, err := TakeString(unsafe.String(unsafe.SliceData(key), len(key)))
	if err != nil {
		return nil, nil, err
	}
	rest = key[len(key)-len(tail):]
	if s == "" {
		return []byte{}, rest, nil
	}
	return unsafe.Slice(unsafe.StringData(s), len(s)), rest, nil
}

// TakeString is TakeBytes for strings.
func TakeString(key string) (s, rest string, err error) {
	if len(key) == 0 || key[0] != codeBytes {
		return "", "", malformed(key, "bytes")
	}
	end, zeros := bytesEnd(key)
	if end < 0 {
		return "", "", malformed(key, "bytes")
	}
	s, rest = key[1:end-1], key[end:]
	if zeros > 0 {
		s = strings.ReplaceAll(s, "\x00\xff", "\x00")
	}
	return s, rest, nil
}

// bytesEnd is the length of the bytes at the front of key, code and end
// included, and the number of escaped zeros in them; -1 if they do not end.
func bytesEnd(key string) (end, zeros int) {
	for i := 1; ; i++ {
		j := strings.IndexByte(key[i:], 0)
		if j < 0 {
			return -1, 0
		}
		i += j + 1
		if i == len(key) || key[i] != escapedZero {
			return i, zeros
		}
		zeros++
	}
}

// TakeInt reads an integer from the front of a key. The error matches ErrMalformed.
func TakeInt[K string | []byte](key K) (v int64, rest K, err error) {
	if len(key) == 0 || key[0] < codeInt-maxIntBytes || key[0] > codeInt+maxIntBytes {
		return 0, rest, malformed(key, "an integer")
	}
	n, negative := int(key[0])-codeInt, false
	if n < 0 {
		n, negative = -n, true
	}
	if len(key) <= n {
		return 0, rest, malformed(key, "an integer")
	}
	magnitude := uint64(0)
	for i := 1; i <= n; i++ {
		c := key[i]
		if negative {
			c = ^c
		}
		magnitude = magnitude<<8 | uint64(c)
	}
	v = int64(magnitude)
	if negative {
		v = -v
	}
	if (bits.Len64(magnitude)+7)/8 != n || n > 0 && (v < 0) != negative {
		return 0, rest, malformed(key, "an integer")
	}
	return v, key[1+n:], nil
}

// TakeFloat reads a float from the front of a key. The error matches ErrMalformed.
func TakeFloat[K string | []byte](key K) (v float64, rest K, err error) {
	if len(key) <= floatBytes || key[0] != codeFloat {
		return 0, rest, malformed(key, "a float")
	}
	pattern := uint64(0)
	for i := 1; i <= floatBytes; i++ {
		pattern = pattern<<8 | uint64(key[i])
	}
	if pattern>>63 == 0 {
		pattern = ^pattern
	} else {
		pattern &^= 1 << 63
	}
	v = math.Float64frombits(pattern)
	if math.IsNaN(v) && pattern != canonicalNaN || v == 0 && pattern != 0 {
		return 0, rest, malformed(key, "a float")
	}
	return v, key[1+floatBytes:], nil
}

func malformed[K string | []byte](key K, want string) error {
	if len(key) > 32 {
		key = key[:32]
	}
	return fmt.Errorf("%w: no %s at % x", ErrMalformed, want, string(key))
}

// PrefixLen is the length in bytes of a key's first n elements; ok is false
// if it has fewer, or they do not end.
func PrefixLen(key string, n int) (length int, ok bool) {
	for ; n > 0; n-- {
		if length >= len(key) {
			return 0, false
		}
		size := 0
		switch code := int(key[length]); {
		case code == codeBytes:
			size, _ = bytesEnd(key[length:])
		case code >= codeInt && code <= codeInt+maxIntBytes:
			size = 1 + code - codeInt
		case code < codeInt && code >= codeInt-maxIntBytes:
			size = 1 + codeInt - code
		case code == codeFloat:
			size = 1 + floatBytes
		default:
			size = -1
		}
		if length += size; size < 0 || length > len(key) {
			return 0, false
		}
	}
	return length, true
}

// PrefixEnd is the smallest key behind every key that begins with prefix; nil
// if there is none, which is so when prefix is empty or all FF.
func PrefixEnd(prefix []byte) []byte { return RaiseToEnd(bytes.Clone(prefix)) }

// RaiseToEnd is PrefixEnd in the memory of the prefix, which it writes over.
func RaiseToEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			prefix[i]++
			return prefix[:i+1]
		}
	}
	return nil
}

// bytesOf is s as bytes, without a copy. They must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

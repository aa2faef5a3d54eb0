package resp

import (
	"math"
	"strconv"
)

// ParseInt reads a decimal integer of 64 bits with Redis's strictness:
// what it accepts is exactly what printing the result gives back. So there
// is no plus, no blank, no leading zero and no -0.
func ParseInt(b []byte) (int64, bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	// 19 digits hold every int64, and never overflow a uint64.
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(b) == 1
	}
	var n uint64
	for _, c := range digits {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	if negative {
		return -int64(n), n <= -math.MinInt64
	}
	return int64(n), n <= math.MaxInt64
}

// ParseDouble reads a float as Redis reads a score: what C's strtod takes,
// all of it. That includes inf and infinity in any case, hexadecimal with or
// without an exponent, and a plus. It excludes blanks, NaN, and numbers that
// are too large or that would become zero.
func ParseDouble(b []byte) (float64, bool) {
	n, ok := scanNumeral(b)
	if !ok {
		return 0, false
	}
	if n.infinite {
		return math.Inf(n.sign()), true
	}
	text := string(b)
	if n.hex && !n.hasExponent {
		text += "p0" // C needs no exponent, Go does
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || (f == 0 && !n.zero) {
		return 0, false
	}
	return f, true
}

// AppendDouble appends f as Redis 7.0 sends scores: with 17 significant
// digits, as %.17g prints them, so that 0.1 is 0.10000000000000001.
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	}
	if i := int64(f); float64(i) == f && -1e15 < f && f < 1e15 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, i, 10) // the same digits, sooner
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

// AppendHumanDouble appends f as Redis prints coordinates: with up to 17
// decimals and no trailing zeros.
func AppendHumanDouble(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return AppendDouble(dst, f)
	}
	from := len(dst)
	return trimDecimals(strconv.AppendFloat(dst, f, 'f', humanDecimals, 64), from)
}

// humanDecimals is the precision of Redis's human format. It was chosen
// there so that most short decimals come back as they were typed.
const humanDecimals = 17

// trimDecimals removes the zeros at the end of the decimals in dst[from:],
// and the point and the sign with them if nothing is left to them.
func trimDecimals(dst []byte, from int) []byte {
	end := len(dst)
	for dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	if string(dst[from:end]) == "-0" {
		return append(dst[:from], '0')
	}
	return dst[:end]
}

// numeral is a float that C's strtod would read to its end, taken apart.
type numeral struct {
	negative    bool
	infinite    bool
	zero        bool   // every digit is 0
	hex         bool   // digits are hexadecimal and the exponent is binary
	whole       []byte // digits in front of the point
	fraction    []byte // digits behind it
	hasExponent bool
	exponent    int // within ±maxExponent; what is past it is cut off
}

// maxExponent is beyond any exponent that matters, after the digits of the
// longest numeral have been counted in, and far from overflowing an int.
const maxExponent = 1 << 30

func (n numeral) sign() int {
	if n.negative {
		return -1
	}
	return 1
}

// scanNumeral takes b apart. It returns false for NaN and for whatever
// strtod would not read to its end.
func scanNumeral(b []byte) (numeral, bool) {
	var n numeral
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		n.negative = b[0] == '-'
		b = b[1:]
	}
	if equalFold(b, "inf") || equalFold(b, "infinity") {
		n.infinite = true
		return n, true
	}
	if len(b) >= 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		n.hex = true
		b = b[2:]
	}
	n.whole, b = n.takeDigits(b)
	if len(b) > 0 && b[0] == '.' {
		n.fraction, b = n.takeDigits(b[1:])
	}
	if len(n.whole)+len(n.fraction) == 0 {
		return n, false
	}
	n.zero = allZero(n.whole) && allZero(n.fraction)
	if len(b) == 0 {
		return n, true
	}
	mark := byte('e')
	if n.hex {
		mark = 'p'
	}
	if b[0]|0x20 != mark {
		return n, false
	}
	n.hasExponent = true
	var ok bool
	n.exponent, ok = scanExponent(b[1:])
	return n, ok
}

// takeDigits splits b behind the digits that it begins with.
func (n *numeral) takeDigits(b []byte) (digits, rest []byte) {
	i := 0
	for i < len(b) {
		_, isHex := hexDigit(b[i])
		if !isHex || (!n.hex && b[i] > '9') {
			break
		}
		i++
	}
	return b[:i], b[i:]
}

// scanExponent reads all of b as an exponent, cut off at maxExponent.
func scanExponent(b []byte) (int, bool) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	exponent := 0
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		exponent = min(exponent*10+int(d), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

func allZero(digits []byte) bool {
	for _, c := range digits {
		if c != '0' {
			return false
		}
	}
	return true
}

// equalFold compares b with lower, which is in lower-case letters.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

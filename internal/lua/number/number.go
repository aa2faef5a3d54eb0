// Package number converts between text and Lua's numbers as the C library does
// that Redis's Lua is built on.
//
// Lua 5.1 leaves its numbers to C: text becomes a number by strtod, a number
// becomes text by printf's %.14g, and an integer by a cast. Go's conversions
// differ from all three in details that scripts can see.
package number

import (
	"math"
	"strconv"
	"strings"
)

// Precision is the number of digits of a number that tostring and the
// concatenation show.
const Precision = 14

// Parse returns the number that s stands for, as tonumber(s) and arithmetic on
// strings do. White space around the number is allowed, and the text ends at
// its first NUL, if it has one.
func Parse(s string) (f float64, ok bool) {
	if nul := strings.IndexByte(s, 0); nul >= 0 {
		s = s[:nul]
	}
	f, n := Prefix(s)
	if n == 0 {
		return 0, false
	}
	for _, c := range []byte(s[n:]) {
		if !isSpace(c) {
			return 0, false
		}
	}
	return f, true
}

// Prefix returns the number at the beginning of s, and how many bytes it takes
// with the white space before it: what strtod does. It takes 0 bytes where
// there is no number.
func Prefix(s string) (f float64, n int) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	sign := 1.0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		if s[i] == '-' {
			sign = -1
		}
		i++
	}
	f, taken := unsigned(s[i:])
	if taken == 0 {
		return 0, 0
	}
	return math.Copysign(f, sign), i + taken
}

// unsigned reads a number without a sign.
func unsigned(s string) (f float64, n int) {
	if len(s) == 0 {
		return 0, 0
	}
	switch c := s[0]; {
	case c == 'i' || c == 'I':
		return infinity(s)
	case c == 'n' || c == 'N':
		return notANumber(s)
	case c == '0' && len(s) > 1 && s[1]|0x20 == 'x':
		return hexadecimal(s)
	}
	n, digits := mantissa(s, isDigit)
	if digits == 0 {
		return 0, 0
	}
	n += exponent(s[n:], 'e')
	f, _ = strconv.ParseFloat(s[:n], 64) // out of range it is 0 or infinite, as in C
	return f, n
}

// mantissa returns the length of digits with at most one point among them, and
// how many digits there are.
func mantissa(s string, is func(byte) bool) (n, digits int) {
	point := false
	for n < len(s) {
		switch {
		case is(s[n]):
			digits++
		case s[n] == '.' && !point:
			point = true
		default:
			return n, digits
		}
		n++
	}
	return n, digits
}

// exponent returns the length of an exponent at the beginning of s. An
// exponent without digits is none.
func exponent(s string, letter byte) int {
	if len(s) < 2 || s[0]|0x20 != letter {
		return 0
	}
	i := 1
	if s[i] == '-' || s[i] == '+' {
		i++
	}
	first := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == first {
		return 0
	}
	return i
}

// hexadecimal reads what begins with 0x. Where no digit follows it is a zero,
// and the x is not part of it.
func hexadecimal(s string) (f float64, n int) {
	n, digits := mantissa(s[2:], isHex)
	if digits == 0 {
		return 0, 1
	}
	n += 2
	exp := exponent(s[n:], 'p')
	text := s[:n+exp]
	if exp == 0 {
		text += "p0" // Go wants an exponent
	}
	f, _ = strconv.ParseFloat(text, 64)
	return f, n + exp
}

func infinity(s string) (f float64, n int) {
	switch {
	case hasFold(s, "infinity"):
		n = len("infinity")
	case hasFold(s, "inf"):
		n = len("inf")
	}
	return math.Inf(1), n
}

// notANumber reads nan and nan(letters). Its bits are those that C makes.
func notANumber(s string) (f float64, n int) {
	if !hasFold(s, "nan") {
		return 0, 0
	}
	n = len("nan")
	if n < len(s) && s[n] == '(' {
		end := n + 1
		for end < len(s) && isWord(s[end]) {
			end++
		}
		if end < len(s) && s[end] == ')' {
			n = end + 1
		}
	}
	return math.Float64frombits(0x7FF8000000000000), n
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isWord(c byte) bool  { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// String returns f as tostring shows it.
func String(f float64) string {
	if i := int64(f); float64(i) == f && -1e14 < i && i < 1e14 && i != 0 {
		return strconv.FormatInt(i, 10) // small ones take no memory
	}
	return string(Append(nil, f, Precision))
}

// Append appends f with a number of significant digits, at least 1, as
// printf's %.<digits>g writes it.
func Append(to []byte, f float64, digits int) []byte {
	switch {
	case math.IsNaN(f):
		if math.Signbit(f) {
			to = append(to, '-')
		}
		return append(to, "nan"...)
	case math.IsInf(f, 1):
		return append(to, "inf"...)
	case math.IsInf(f, -1):
		return append(to, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < math.Pow10(min(digits, 15)) && f != 0:
		return strconv.AppendInt(to, int64(f), 10) // most numbers of scripts
	}
	var space [32]byte
	e := strconv.AppendFloat(space[:0], f, 'e', digits-1, 64)
	at := strings.IndexByte(string(e), 'e')
	exp, _ := strconv.Atoi(string(e[at+1:]))
	if exp < -4 || exp >= digits {
		return append(append(to, withoutZeros(e[:at])...), e[at:]...)
	}
	fixed := strconv.AppendFloat(space[:0], f, 'f', digits-1-exp, 64)
	return append(to, withoutZeros(fixed)...)
}

// withoutZeros cuts the zeros that end a fraction, and the point if nothing of
// the fraction is left.
func withoutZeros(digits []byte) []byte {
	if strings.IndexByte(string(digits), '.') < 0 {
		return digits
	}
	end := len(digits)
	for digits[end-1] == '0' {
		end--
	}
	if digits[end-1] == '.' {
		end--
	}
	return digits[:end]
}

// Int64 returns f as C casts it to a signed integer of 64 bits on x86-64: the
// fraction is cut, and what has no such integer becomes the smallest one.
func Int64(f float64) int64 {
	if f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// Uint64 returns f as C casts it to an unsigned integer of 64 bits on x86-64.
func Uint64(f float64) uint64 {
	if f >= 1<<63 {
		return uint64(Int64(f-1<<63)) ^ 1<<63
	}
	return uint64(Int64(f))
}

// Int32 returns f as C casts it to a signed integer of 32 bits on x86-64.
func Int32(f float64) int32 {
	if f > -1<<31-1 && f < 1<<31 {
		return int32(f)
	}
	return math.MinInt32
}

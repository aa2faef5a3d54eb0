package lua

import (
	"math"
	"strconv"
	"strings"
)

// formatNumber writes a number as Lua does, with %.14g.
func formatNumber(n float64) string {
	if i := int64(n); float64(i) == n && i > -1e14 && i < 1e14 && (i != 0 || !math.Signbit(n)) {
		return strconv.FormatInt(i, 10)
	}
	return string(formatG(nil, n, 14, false))
}

// special is what C prints for a number that is none.
func special(n float64) (string, bool) {
	switch {
	case math.IsNaN(n) && math.Signbit(n):
		return "-nan", true
	case math.IsNaN(n):
		return "nan", true
	case math.IsInf(n, 1):
		return "inf", true
	case math.IsInf(n, -1):
		return "-inf", true
	}
	return "", false
}

// formatG appends a number as C's %g does. With keep, zeros at the end stay.
func formatG(b []byte, n float64, precision int, keep bool) []byte {
	if text, ok := special(n); ok {
		return append(b, text...)
	}
	if precision == 0 {
		precision = 1
	}
	e := strconv.FormatFloat(n, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(e, "e")
	x, _ := strconv.Atoi(exponent)
	if x >= -4 && x < precision {
		f := strconv.FormatFloat(n, 'f', precision-1-x, 64)
		return append(b, trimZeros(f, keep)...)
	}
	b = append(b, trimZeros(mantissa, keep)...)
	b = append(b, 'e')
	return append(b, exponent...)
}

func trimZeros(s string, keep bool) string {
	if keep {
		if !strings.Contains(s, ".") {
			s += "."
		}
		return s
	}
	if strings.Contains(s, ".") {
		s = strings.TrimRight(s, "0")
		s = strings.TrimSuffix(s, ".")
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// parseNumber reads a whole string as a number, as Lua does: with C's strtod,
// which knows hexadecimal numbers, inf and nan, and with spaces around.
func parseNumber(s string) (float64, bool) {
	s, _, _ = strings.Cut(s, "\x00") // C sees no more
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	n, size := strtod(s)
	if size == 0 {
		return 0, false
	}
	for _, c := range []byte(s[size:]) {
		if !isSpace(c) {
			return 0, false
		}
	}
	return n, true
}

// strtod reads a number at the beginning of a string, and says how long it is.
func strtod(s string) (float64, int) {
	i := 0
	negative := false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		negative = s[i] == '-'
		i++
	}
	n, size := strtodUnsigned(s[i:])
	if size == 0 {
		return 0, 0
	}
	if negative {
		n = -n
	}
	return n, i + size
}

func strtodUnsigned(s string) (float64, int) {
	lower := strings.ToLower(s[:min(len(s), 8)])
	switch {
	case strings.HasPrefix(lower, "infinity"):
		return math.Inf(1), 8
	case strings.HasPrefix(lower, "inf"):
		return math.Inf(1), 3
	case strings.HasPrefix(lower, "nan"):
		return math.Float64frombits(0x7ff8 << 48), nanSize(s)
	case strings.HasPrefix(lower, "0x"):
		if size := numeralSize(s[2:], isHex, 'p'); size > 0 {
			text := s[:2+size]
			if !strings.ContainsAny(text, "pP") {
				text += "p0"
			}
			n, _ := strconv.ParseFloat(text, 64)
			return n, 2 + size
		}
	}
	size := numeralSize(s, isDigit, 'e')
	if size == 0 {
		return 0, 0
	}
	n, _ := strconv.ParseFloat(s[:size], 64)
	return n, size
}

// nanSize is the length of nan, or of nan(…).
func nanSize(s string) int {
	if len(s) > 3 && s[3] == '(' {
		for i := 4; i < len(s); i++ {
			if s[i] == ')' {
				return i + 1
			}
			if c := s[i]; c != '_' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
				break
			}
		}
	}
	return 3
}

// numeralSize is the length of digits with at most one point and an exponent.
func numeralSize(s string, digit func(byte) bool, mark byte) int {
	i, digits, point := 0, 0, false
	for ; i < len(s); i++ {
		if digit(s[i]) {
			digits++
		} else if s[i] == '.' && !point {
			point = true
		} else {
			break
		}
	}
	if digits == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == mark {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			i = j
		}
	}
	return i
}

// modulo is Lua's %.
func modulo(a, b float64) float64 {
	return a - float64(math.Floor(a/b)*b)
}

// toInteger converts as C's cast to a 64-bit integer does on x86.
func toInteger(n float64) int64 {
	if n >= -0x1p63 && n < 0x1p63 {
		return int64(n)
	}
	return math.MinInt64
}

// toUnsigned converts as C's cast to an unsigned 64-bit integer does on x86.
func toUnsigned(n float64) uint64 {
	if n >= 0x1p63 {
		return uint64(toInteger(n-0x1p63)) ^ 1<<63
	}
	return uint64(toInteger(n))
}

func compute(op int, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	case '%':
		return modulo(a, b)
	}
	return power(a, b)
}

// power is C's pow, whose results for exact squares and the like Go's has too.
func power(a, b float64) float64 {
	switch {
	case b == 2:
		return a * a
	case b == 0.5 && a >= 0 && !math.IsInf(a, 0):
		return math.Sqrt(a)
	}
	return negativeNaN(math.Pow(a, b), a, b)
}

// negativeNaN gives a new NaN the sign that it has on x86.
func negativeNaN(v float64, operands ...float64) float64 {
	if v == v {
		return v
	}
	for _, x := range operands {
		if x != x {
			return x
		}
	}
	return math.Float64frombits(0xfff8 << 48)
}

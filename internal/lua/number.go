package lua

import (
	"math"
	"strconv"
	"strings"

	numbers "github.com/firndb/firn/internal/lua/number"
)

// formatNumber writes a number as Lua does.
func formatNumber(n float64) string { return numbers.String(n) }

// parseNumber reads a whole string as a number, as Lua does.
func parseNumber(s string) (float64, bool) { return numbers.Parse(s) }

// toInteger and toUnsigned convert as C's casts do.
func toInteger(n float64) int64   { return numbers.Int64(n) }
func toUnsigned(n float64) uint64 { return numbers.Uint64(n) }

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

// modulo is Lua's %.
func modulo(a, b float64) float64 {
	return a - float64(math.Floor(a/b)*b)
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

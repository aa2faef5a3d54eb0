package lua

import (
	"strconv"
	"strings"

	"github.com/firndb/firn/internal/lua/val"
)

// directive is one % of string.format.
type directive struct {
	minus, plus, space, sharp, zero bool
	width, precision                int // -1: none
	verb                            byte
}

func stringFormat(th *thread, args []value) []value {
	format := stringArg(th, args, 1)
	var b strings.Builder
	n := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			growText(th, &b, 1)
			b.WriteByte(format[i])
			continue
		}
		if i++; i < len(format) && format[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n++; n > len(args) {
			th.argError(n, "no value")
		}
		d, end := readDirective(th, format, i)
		text := formatOne(th, d, args, n)
		growText(th, &b, len(text))
		b.WriteString(text)
		i = end
	}
	return th.one(val.String(b.String()))
}

// readDirective reads one, and is where its verb stands.
func readDirective(th *thread, format string, i int) (d directive, end int) {
	start := i
	for i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0 {
		switch format[i] {
		case '-':
			d.minus = true
		case '+':
			d.plus = true
		case ' ':
			d.space = true
		case '#':
			d.sharp = true
		case '0':
			d.zero = true
		}
		i++
	}
	if i-start >= 6 {
		th.libError("invalid format (repeated flags)")
	}
	d.width, i = twoDigits(format, i)
	d.precision = -1
	if i < len(format) && format[i] == '.' {
		d.precision, i = twoDigits(format, i+1)
		d.precision = max(d.precision, 0)
	}
	if i < len(format) && isDigit(format[i]) {
		th.libError("invalid format (width or precision too long)")
	}
	if i < len(format) {
		d.verb = format[i]
	}
	return d, i
}

func twoDigits(s string, i int) (n, end int) {
	start := i
	for i < len(s) && i < start+2 && isDigit(s[i]) {
		n = n*10 + int(s[i]-'0')
		i++
	}
	if i == start {
		return -1, i
	}
	return n, i
}

func formatOne(th *thread, d directive, args []value, n int) string {
	switch d.verb {
	case 'c':
		c := byte(0) // of what is no int, as C's cast on x86 has it
		if x := numberArg(th, args, n); x > -0x80000001 && x < 0x80000000 {
			c = byte(int32(x))
		}
		return cString([]byte(d.pad(string([]byte{c}), false)))
	case 'd', 'i':
		return d.signed(toInteger(numberArg(th, args, n)))
	case 'o', 'u', 'x', 'X':
		return d.unsigned(toUnsigned(numberArg(th, args, n)))
	case 'e', 'E', 'f', 'g', 'G':
		return d.float(numberArg(th, args, n))
	case 'q':
		return quoted(stringArg(th, args, n))
	case 's':
		s := stringArg(th, args, n)
		if d.precision < 0 && len(s) >= 100 {
			return s
		}
		s = cString([]byte(s))
		if d.precision >= 0 && d.precision < len(s) {
			s = s[:d.precision]
		}
		return d.pad(s, false)
	case 0:
		th.libError("invalid option '%%' to 'format'")
	}
	th.libError("invalid option '%%%c' to 'format'", rune(d.verb))
	return ""
}

// pad fills up to the width. Of numbers, zeros come behind the sign.
func (d directive) pad(s string, zeros bool) string {
	n := d.width - len(s)
	if n <= 0 {
		return s
	}
	if d.minus {
		return s + strings.Repeat(" ", n)
	}
	if !zeros || !d.zero {
		return strings.Repeat(" ", n) + s
	}
	sign := 0
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		sign = 1
	}
	if len(s) >= sign+2 && s[sign] == '0' && s[sign+1]|0x20 == 'x' {
		sign += 2
	}
	return s[:sign] + strings.Repeat("0", n) + s[sign:]
}

func (d directive) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.plus:
		return "+"
	case d.space:
		return " "
	}
	return ""
}

// digits gives an integer its precision: at least so many digits, and none for
// a zero with none.
func (d directive) digits(s string) string {
	if d.precision == 0 && s == "0" {
		return ""
	}
	if n := d.precision - len(s); n > 0 {
		return strings.Repeat("0", n) + s
	}
	return s
}

func (d directive) signed(n int64) string {
	s := strings.TrimPrefix(strconv.FormatInt(n, 10), "-")
	return d.pad(d.sign(n < 0)+d.digits(s), d.precision < 0)
}

func (d directive) unsigned(n uint64) string {
	base := 10
	switch d.verb {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
	}
	s := d.digits(strconv.FormatUint(n, base))
	if d.sharp {
		switch {
		case base == 8 && !strings.HasPrefix(s, "0"):
			s = "0" + s
		case base == 16 && n != 0:
			s = "0x" + s
		}
	}
	if d.verb == 'X' {
		s = strings.ToUpper(s)
	}
	return d.pad(s, d.precision < 0)
}

func (d directive) float(n float64) string {
	if text, ok := special(n); ok {
		s := strings.TrimPrefix(text, "-")
		s = d.sign(text != s) + s
		if d.verb < 'a' {
			s = strings.ToUpper(s)
		}
		return d.pad(s, false)
	}
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	negative := n < 0 || n == 0 && 1/n < 0
	if negative {
		n = -n
	}
	var s string
	switch d.verb | 0x20 {
	case 'f':
		s = strconv.FormatFloat(n, 'f', precision, 64)
	case 'e':
		s = strconv.FormatFloat(n, 'e', precision, 64)
	default:
		s = string(formatG(nil, n, precision, d.sharp))
	}
	if d.sharp && !strings.Contains(s, ".") {
		mantissa, exponent, has := strings.Cut(s, "e")
		if s = mantissa + "."; has {
			s += "e" + exponent
		}
	}
	if d.verb < 'a' {
		s = strings.ToUpper(s)
	}
	return d.pad(d.sign(negative)+s, true)
}

// quoted is a string as Lua reads it.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\r':
			b.WriteString(`\r`)
		case 0:
			b.WriteString(`\000`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package number_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
	"github.com/firndb/firn/internal/seed"
)

// Numbers become text, and text becomes numbers, as in Redis's Lua.

// library has the conversions under names of its own; Redis's side of a case
// uses Lua's.
func library() luatest.Library {
	return luatest.Library{Name: "number", Library: arg.Library{Members: []arg.Member{
		{Name: "parse", Function: func(c arg.Call) int {
			c.Push(val.Nil)
			if f, ok := number.Parse(arg.String(c, 1)); ok {
				c.Push(val.Number(f))
			}
			return 1
		}},
		{Name: "show", Function: func(c arg.Call) int {
			c.Push(val.String(number.String(arg.Number(c, 1))))
			return 1
		}},
		{Name: "format", Function: func(c arg.Call) int {
			c.Push(val.String(number.Append(nil, arg.Number(c, 2), int(arg.Integer(c, 1)))))
			return 1
		}},
	}}}
}

const either = `local n = rawget(_G, 'number') or {parse = tonumber, show = tostring, format = function(d, v) return string.format('%.'..d..'g', v) end} `

func parse(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, "\\%03d", text[i])
	}
	return either + "return n.parse('" + out.String() + "')"
}

func TestTextBecomesRedissNumber(t *testing.T) {
	pair := luatest.NewPair(t, library())
	var cases []string
	for _, text := range []string{
		"", " ", "1", " 1 ", "\t\n\v\f\r1\t\n\v\f\r", "1 2", "+1", "-1", "- 1", "+-1", "--1", "1.", ".1", ".", "-.", "1..2", "1.2.3", "1e1", "1e", "1e+", "1e-", "1e+5", "1E5", "1e5.5", "e5", ".e5", "1e400", "-1e400", "1e-400", "1e99999999999999999999",
		"0x", "0X", "0x1", "0XfF", "0xg", "0x.", "0x.8", "0x1.8", "0x1.8p", "0x1.8p1", "0x1p-1", "0x1P+4", "-0x10", "0x1p99999", "0x123456789abcdef01", "0x10000000000000081", "0x1e5", "10x", "x10", "0x 1", "1p5", "0x1p1.5",
		"inf", "INF", "Infinity", "-inf", "+inf", "infi", "infinit", "infinityx", "nan", "NAN", "-nan", "nan()", "nan(a1_)", "nan(", "nan(-)", "nanx", "1\x00", "1\x00x", "\x001", "0x1\x00g", "1_000", "1,5", "1f", "1d", "1L", "0b1", "0o7", "017",
		"9007199254740993", "123456789012345678901234567890", "0.1", "0.30000000000000004", "2.2250738585072011e-308", "4.9e-324", "2e-324", "1.7976931348623159e308", "179769313486231580793e289", "1 .", "١", "1\xa0", "0e0", "-0", "00", "0.0", "1e0",
	} {
		cases = append(cases, parse(text))
	}
	r := seed.Fresh(t).Rand(0)
	const bytes = "0123456789..eExX+-pPaAfFnNiItTyY( )\x00 _"
	for range seed.Steps(t, 6000) {
		text := make([]byte, r.IntN(10))
		for i := range text {
			text[i] = bytes[r.IntN(len(bytes))]
		}
		if r.IntN(2) == 0 {
			text = append(strconv.AppendFloat(nil, random(r), 'g', 1+r.IntN(25), 64), text[:len(text)/3]...)
		}
		cases = append(cases, parse(string(text)))
	}
	pair.Compare(cases)
}

func TestNumbersBecomeRedissText(t *testing.T) {
	pair := luatest.NewPair(t, library())
	var cases []string
	for _, text := range strings.Fields(`0 -0 1 -1 10 100000 999999 1000000 99999999999999 100000000000000 999999999999999 1e15 1e16 -1e14 0.1 0.5 1/3 2/3 -1/3 1e-4 1e-5 0.00012345678901234567 1e100 5e-324
		1.7976931348623157e308 99999999999999.5 999999999999999.5 9.99999999999995 9.999999999999995 0.099999999999999995 123456.789 2^53 2^63 2^64 1/0 -1/0 0/0 -(0/0) 1e-310 12345678901234567890`) {
		cases = append(cases, either+"return n.show("+text+")")
		for digits := 1; digits <= 17; digits++ {
			cases = append(cases, fmt.Sprintf("%sreturn n.format(%d, %s)", either, digits, text))
		}
	}
	r := seed.Fresh(t).Rand(0)
	for range seed.Steps(t, 6000) {
		cases = append(cases, fmt.Sprintf("%sreturn n.format(%d, %s), n.show(%[3]s)", either, 1+r.IntN(17), strconv.FormatFloat(random(r), 'g', -1, 64)))
	}
	pair.Compare(cases)
}

// random is a number of any size, often with few digits.
func random(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return float64(r.Int64N(1<<r.IntN(62) + 1))
	case 1:
		return math.Round((r.Float64()-0.5)*1e6) / math.Pow10(r.IntN(12))
	case 2:
		return (r.Float64() - 0.5) * math.Pow10(r.IntN(40)-20)
	}
	for {
		f := math.Float64frombits(r.Uint64())
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

func TestIntegersAreCutAsByC(t *testing.T) {
	for _, c := range []struct {
		f        float64
		signed   int64
		unsigned uint64
	}{
		{1.9, 1, 1},
		{-1.9, -1, math.MaxUint64},
		{1 << 62, 1 << 62, 1 << 62},
		{1 << 63, math.MinInt64, 1 << 63},
		{-1 << 63, math.MinInt64, 1 << 63},
		{-1 << 64, math.MinInt64, 1 << 63},
		{1 << 64, math.MinInt64, 0},
		{math.Inf(1), math.MinInt64, 0},
		{math.Inf(-1), math.MinInt64, 1 << 63},
		{math.NaN(), math.MinInt64, 1 << 63},
	} {
		if got := number.Int64(c.f); got != c.signed {
			t.Errorf("%v: got %d, want %d", c.f, got, c.signed)
		}
		if got := number.Uint64(c.f); got != c.unsigned {
			t.Errorf("%v: got %d, want %d", c.f, got, c.unsigned)
		}
	}
}

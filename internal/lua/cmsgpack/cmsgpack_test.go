package cmsgpack_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/seed"
)

// MessagePack is written and read as Redis's library does it, with the same
// errors and in the same order.

func TestValuesAreWrittenAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	var cases []string
	for _, n := range strings.Fields(`0 -0 1 127 128 255 256 65535 65536 4294967295 4294967296 2^53 2^62 2^63 2^63-1024 2^64 1e19 1e300 -1 -32 -33 -128 -129 -32768 -32769 -2147483648 -2147483649
		-2^53 -2^63 -2^64 0.5 0.1 1.5 -0.1 1/3 1e-50 1/0 -1/0 0/0 -(0/0) 3.4028234663852886e38 1e39 16777217.5`) {
		cases = append(cases, "return cmsgpack.pack("+n+")", "return cmsgpack.unpack(cmsgpack.pack("+n+"))")
	}
	for _, v := range []string{
		"", "nil", "true", "false", "''", "'a'", "nil, nil", "1, 'a', {}, true", "type", "{}", "{1}", "{1,2,3}", "{nil,2}", "{1,nil,3}", "{a=1}", "{[0]=1}", "{[1]=1}", "{[2]=1}",
		"{[1.5]=1}", "{[2^31-1]=1}", "{[2^31]=1}", "{[2^40]=1}", "{[-1]=1}", "{[true]=1}", "{[{}]={}}", "{['1']=1}", "{{{}}}", "{a={b={}}}", "{[1]=1,[2]=2,[4]=4}", "setmetatable({}, {__index={1}})", "{type}", "{type, type}", "{[type]=1}",
	} {
		cases = append(cases, "return cmsgpack.pack("+v+")")
	}
	for _, n := range []int{31, 32, 33, 255, 256, 257, 65535, 65536, 70000} {
		cases = append(cases,
			fmt.Sprintf("local s = cmsgpack.pack(string.rep('x', %d)) return #s, string.sub(s, 1, 8)", n),
			fmt.Sprintf("local t = {} for i = 1, %d do t[i] = 1 end local s = cmsgpack.pack(t) return #s, string.sub(s, 1, 8)", n),
			fmt.Sprintf("local t = {} for i = 1, %d do t['k'..i] = 1 end local s = cmsgpack.pack(t) return #s, string.sub(s, 1, 100)", n))
	}
	for _, n := range []int{14, 15, 16, 17, 40} {
		cases = append(cases,
			fmt.Sprintf("local t = {} for i = 1, %d do t = {t} end return cmsgpack.pack(t)", n),
			fmt.Sprintf("local t = {} for i = 1, %d do t = {a=t} end return cmsgpack.pack(t)", n),
			fmt.Sprintf("local t = {} for i = 1, %d do t = {[t]=1} end return cmsgpack.pack(t)", n),
			fmt.Sprintf("local t = {} for i = 1, %d do t = {} end return cmsgpack.pack(t, {t, {t}})", n))
	}
	pair.Compare(append(cases, "local t = {} t[1] = t return cmsgpack.pack(t)", "local t = {} t.x = t return cmsgpack.pack(t)", "return pcall(cmsgpack.pack)", "return cmsgpack:pack()",
		"return cmsgpack._NAME, cmsgpack._VERSION, cmsgpack._COPYRIGHT, cmsgpack._DESCRIPTION"))
}

// readers are the functions that read, with their arguments behind the text.
var readers = []string{
	"unpack(%s)", "unpack_one(%s)", "unpack_one(%s, 0)", "unpack_one(%s, 1)", "unpack_one(%s, 2.5)", "unpack_limit(%s, 1)", "unpack_limit(%s, 2, 1)", "unpack_limit(%s, 0)", "unpack_limit(%s, 0, 1)", "unpack_limit(%s, 100, 0)",
}

func TestMessagePackIsReadAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	cases := []string{
		"return cmsgpack.unpack()", "return cmsgpack.unpack(nil)", "return cmsgpack.unpack({})", "return cmsgpack.unpack(5)", "return cmsgpack.unpack('')", "return cmsgpack.unpack_one('')", "return cmsgpack.unpack_limit('', 1)",
		"return cmsgpack.unpack_one()", "return cmsgpack.unpack_limit()", "return cmsgpack.unpack_limit('a')", "return cmsgpack.unpack_limit('a', 'x')", "return cmsgpack.unpack_one('a', 'x')", "return cmsgpack.unpack_one('a', {})",
		"return cmsgpack.unpack_one('abc', -1)", "return cmsgpack.unpack_one('abc', 4)", "return cmsgpack.unpack_one('abc', 3)", "return cmsgpack.unpack_limit('abc', -1)", "return cmsgpack.unpack_limit('abc', 1, -1)",
		"return cmsgpack.unpack_limit('abc', 2^40, 0)", "return cmsgpack.unpack_limit('abc', 1, 2^40)", "return cmsgpack.unpack_one('abc', 2^32)", "return cmsgpack.unpack('abc', 1, 2)", "return cmsgpack:unpack('a')", "return cmsgpack.unpack_one('abc', '1')",
	}
	for _, n := range []int{3998, 3999, 4000, 7998, 7999, 8000} {
		for _, s := range []string{`\145`, `\129`, `\129\001`, `\001`, `\220\000\001`, `\145\129\001`, `\144`, `\128`} {
			for _, tail := range []string{"''", `'\001'`, `'\001\001'`, `'\144'`} {
				cases = append(cases, fmt.Sprintf("return select('#', cmsgpack.unpack(string.rep('%s', %d)..%s))", s, n, tail),
					fmt.Sprintf("return select('#', cmsgpack.unpack_limit(string.rep('%s', %d)..%s, 10000))", s, n, tail))
			}
		}
	}
	for first := range 256 {
		for _, rest := range []string{``, `\000`, `\001`, `\255\255`, `\000\000\000\001\161x`, `\001\002\003\004\005\006\007\008`, `\255\255\255\255\255\255\255\255`, `\127\240\000\000\000\000\000\000`, `\192\001`, `\202\127\192\000\000\001`, `\203\255\248\000\000\000\000\000\000\001`} {
			cases = append(cases, fmt.Sprintf("return cmsgpack.unpack('\\%03d%s')", first, rest))
		}
	}
	pair.Compare(cases)
}

func TestRandomValuesGoThroughAsInRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	r := seed.Fresh(t).Rand(0)
	var cases []string
	for range seed.Steps(t, 3000) {
		cases = append(cases,
			"return cmsgpack.pack("+randomValue(r, 4)+")",
			"return cmsgpack.pack(cmsgpack.unpack(cmsgpack.pack("+randomValue(r, 4)+")))")
	}
	pair.Compare(cases)
}

func TestRandomBytesAreReadAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	r := seed.Fresh(t).Rand(0)
	var cases []string
	for range seed.Steps(t, 8000) {
		cases = append(cases, fmt.Sprintf("return cmsgpack."+readers[r.IntN(len(readers))], quoted(randomPack(r, 3))))
	}
	pair.Compare(cases)
}

// randomPack is MessagePack of any kind, now and then cut or changed.
func randomPack(r *rand.Rand, depth int) []byte {
	var out []byte
	for range 1 + r.IntN(3) {
		out = appendPack(r, out, depth)
	}
	if len(out) > 0 && r.IntN(3) == 0 {
		out[r.IntN(len(out))] = byte(r.UintN(256))
	}
	if r.IntN(4) == 0 {
		out = out[:r.IntN(len(out)+1)]
	}
	return out
}

func appendPack(r *rand.Rand, out []byte, depth int) []byte {
	kinds := 6
	if depth == 0 {
		kinds = 3
	}
	n := r.IntN(4)
	switch r.IntN(kinds) {
	case 0:
		return append(out, byte(r.UintN(256)))
	case 1:
		out = append(out, byte(0xc0+r.IntN(0x20)))
		for range r.IntN(10) {
			out = append(out, byte(r.UintN(256))>>r.IntN(8))
		}
		return out
	case 2:
		return append(append(out, byte(0xa0+n)), "abcd"[:n]...)
	case 3:
		out = append(out, byte(0x90+n))
	case 4:
		out = append(out, 0xdc, 0, byte(n))
	default:
		out = append(out, byte(0x80+n))
		n *= 2
	}
	for range n {
		out = appendPack(r, out, depth-1)
	}
	return out
}

// randomValue returns Lua for a value.
func randomValue(r *rand.Rand, depth int) string {
	kinds := 8
	if depth == 0 {
		kinds = 5
	}
	switch r.IntN(kinds) {
	case 0:
		return quoted(randomBytes(r, 40))
	case 1:
		return strconv.Itoa(r.IntN(300) - 100)
	case 2:
		return strconv.FormatFloat((r.Float64()-0.5)*float64(uint64(1)<<r.IntN(63)), 'g', 1+r.IntN(17), 64)
	case 3:
		return []string{"true", "false", "nil"}[r.IntN(3)]
	case 4:
		return strconv.FormatInt(r.Int64()>>r.IntN(64), 10)
	default:
		var out strings.Builder
		for range r.IntN(5) {
			if r.IntN(3) == 0 {
				out.WriteString("[" + randomKey(r) + "]=")
			}
			out.WriteString(randomValue(r, depth-1) + ",")
		}
		return "{" + out.String() + "}"
	}
}

func randomKey(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return strconv.Itoa(r.IntN(30) - 2)
	case 1:
		return strconv.FormatFloat(r.Float64()*10, 'g', 1+r.IntN(17), 64)
	case 2:
		return "true"
	}
	return quoted(randomBytes(r, 6))
}

func randomBytes(r *rand.Rand, most int) []byte {
	b := make([]byte, r.IntN(most))
	for i := range b {
		b[i] = byte(r.UintN(256)) >> r.IntN(3)
	}
	return b
}

// quoted returns bytes as a string of Lua.
func quoted(b []byte) string {
	var out strings.Builder
	out.WriteByte('\'')
	for _, c := range b {
		fmt.Fprintf(&out, "\\%03d", c)
	}
	return out.String() + "'"
}

package structs_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/seed"
)

// Formats pack and unpack to what Redis's library gives, with the same errors.

func TestFormatsGiveWhatRedisGives(t *testing.T) {
	pair := luatest.NewPair(t)
	pair.Compare(formatCases())
	numbers := strings.Fields(`0 -0 1 -1 127 128 255 256 -128 -129 1.5 -1.5 1e10 -1e10 9223372036854775807 9223372036854775808
		18446744073709551615 18446744073709551616 1e300 -1e300 1/0 -1/0 0/0 '12' '0x1F' '\t3\n' 'x' '' nil true {}`)
	var cases []string
	for _, n := range numbers {
		for _, f := range strings.Fields("b B h H l L T i I i0 i1 i2 i3 i5 i7 i8 i9 i16 i32 I3 I8 I16 f d s c c0 c2 x") {
			cases = append(cases,
				fmt.Sprintf("return struct.pack('<%s', %s)", f, n),
				fmt.Sprintf("return struct.pack('>!8b%s', 1, %s)", f, n),
				fmt.Sprintf("return struct.unpack('%s', struct.pack('%s', %s))", f, f, n),
				fmt.Sprintf("return struct.unpack('>%s', struct.pack('>%s', %s))", f, f, n))
		}
	}
	pair.Compare(cases)
}

func formatCases() []string {
	var cases []string
	for _, f := range []string{
		"", "b", "z", "5", "?", "\\200", "i33", "i32", "i99999999999", "c99999999999", "c2147483647", "!0", "!3", "!", "!16", "!1073741824d",
		"s", "c0", "c", "c5", "!4 b i3", "!4 b i", "!8 b d", "!2 b d", "b\\0i", " < > ! x", "bi16", "!32bi32", "!16bi12", "b!d", "T", "xxx", "c1000000000c2000000000c2000000000",
	} {
		cases = append(cases,
			fmt.Sprintf("return struct.size('%s')", f),
			fmt.Sprintf("return struct.pack('%s', 1, 2, 3)", f),
			fmt.Sprintf("return struct.pack('%s')", f),
			fmt.Sprintf("return struct.pack('%s', 'hello', 'world')", f),
			fmt.Sprintf("return struct.unpack('%s', string.rep('\\1\\2', 40))", f),
			fmt.Sprintf("return struct.unpack('%s', 'abc')", f),
			fmt.Sprintf("return struct.unpack('%s', '')", f))
	}
	return append(cases,
		"return struct.pack()", "return struct.pack({})", "return struct.pack(5)", "return struct.size()", "return struct.unpack()", "return struct.unpack('b')",
		"return struct.unpack('b', 'a', 0)", "return struct.unpack('b', 'a', -1)", "return struct.unpack('', 'a', -5)", "return struct.unpack('', 'a', 2)",
		"return struct.unpack('', 'a', 3)", "return struct.unpack(' ', 'a', 3)", "return struct.unpack('b', 'ab', 2)", "return struct.unpack('b', 'ab', 2.9)",
		"return struct.unpack('b', 'ab', '2')", "return struct.unpack('b', 'ab', 'x')", "return struct.unpack('b', 'ab', nil, 7)", "return struct.unpack('b', 5)",
		"return struct.unpack('bc0', '\\3abcdef')", "return struct.unpack('bc0b', '\\3abcdef')", "return struct.unpack('c0', 'abc')", "return struct.unpack('sc0', '2\\0abc')",
		"return struct.unpack('bc0', '\\255abc')", "return struct.unpack('dc0', struct.pack('d', 1e20)..'abc')", "return struct.unpack('dc0', struct.pack('d', 1.9)..'abc')",
		"return struct.unpack('dc0', struct.pack('d', 0/0)..'abc')", "return struct.unpack('ss', 'a\\0b')", "return struct.unpack('s', 'abc')",
		"return select('#', struct.unpack(string.rep('b', 7996), string.rep('x', 8000)))", "return select('#', struct.unpack(string.rep('b', 7997), string.rep('x', 8000)))",
		"return select('#', struct.unpack(string.rep('b', 7998), string.rep('x', 8000)))", "return select('#', struct.unpack(string.rep('b', 9000), string.rep('x', 9000)))",
		"return struct:pack(1)", "return struct.pack('c6', 'hello')", "return struct.pack('bc6', 1, 'hello')", "return struct.pack('bb', 1)", "return struct.pack('bs', 1)",
		"return pcall(struct.pack, 'z')", "return struct.pack('b', 1, 2, 3)", "return #struct.pack('c0', string.rep('x', 100000))")
}

const letters = "bBhHlLTiIfdxsc<>! 0123456789"

func TestRandomFormatsGiveWhatRedisGives(t *testing.T) {
	pair := luatest.NewPair(t)
	r := seed.Fresh(t).Rand(0)
	var cases []string
	for range seed.Steps(t, 4000) {
		format := randomFormat(r)
		switch r.IntN(3) {
		case 0:
			cases = append(cases, fmt.Sprintf("return struct.size(%q)", format))
		case 1:
			cases = append(cases, fmt.Sprintf("return struct.pack(%q%s)", format, randomArguments(r)))
		default:
			cases = append(cases, fmt.Sprintf("return struct.unpack(%q, %s, %d)", format, quoted(randomBytes(r, 40)), r.IntN(6)))
		}
	}
	pair.Compare(cases)
}

func randomFormat(r *rand.Rand) string {
	var out strings.Builder
	for range r.IntN(8) {
		out.WriteByte(letters[r.IntN(len(letters))])
	}
	return out.String()
}

func randomArguments(r *rand.Rand) string {
	var out strings.Builder
	for range r.IntN(9) {
		out.WriteString(", ")
		switch r.IntN(4) {
		case 0:
			out.WriteString(quoted(randomBytes(r, 12)))
		case 1:
			fmt.Fprintf(&out, "%.17g", (r.Float64()-0.5)*float64(uint64(1)<<r.IntN(64)))
		default:
			fmt.Fprint(&out, r.Int64N(70000)-35000)
		}
	}
	return out.String()
}

func randomBytes(r *rand.Rand, most int) []byte {
	b := make([]byte, r.IntN(most))
	for i := range b {
		b[i] = byte(r.UintN(256)) >> r.IntN(8)
	}
	return b
}

// quoted returns bytes as a string of Lua.
func quoted(b []byte) string {
	var out strings.Builder
	out.WriteByte('\'')
	for _, c := range b {
		out.WriteString("\\" + fmt.Sprintf("%03s", strconv.Itoa(int(c))))
	}
	return out.String() + "'"
}

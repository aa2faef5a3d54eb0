package cjson_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/seed"
)

// JSON is written and read as Redis's library does it, with the same errors and
// in the same order.

func TestValuesAreWrittenAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	var cases []string
	for _, v := range []string{
		"1", "-1", "0", "-0", "1.5", "0.1", "1/3", "1e14", "1e15", "123456789012345", "99999999999999", "1e100", "-1e-7", "0.0001", "0.00001", "5e-324", "1.7976931348623157e308",
		"1/0", "-1/0", "0/0", "true", "false", "nil", "cjson.null", "'x'", "''", "{}", "{1}", "{1,2,3}", "{nil,2}", "{1,nil,3}", "{[3]=1}", "{[10]=1}", "{[11]=1}", "{[21]=1,[1]=1}",
		"{a=1}", "{[0]=1}", "{[-1]=1}", "{[1.5]=1}", "{[1e10]=1}", "{[2^31]=1}", "{[2^31-1]=1}", "{['1']=1}", "{[true]=1}", "{[{}]=1}", "{[1/0]=1}", "{[cjson.null]=1}", "{1,a=2}",
		"{{}}", "{{{}}}", "{a={b={c={}}}}", "{{1,2},{3}}", "type", "{type}", "{a=type}", "coroutine.create(function() end)", "{cjson.null,cjson.null}", "{[1]=1,[2]=2,[4]=4}",
		`'\\0\\1\\8\\9\\10\\11\\12\\13\\27\\31 \"/\\\\\\127\\128\\255'`, "'a/b'", "'é'", "{['a\\\"b']=1}", "{[1e15]='x'}", "{[123456789]=1}", "{[0.1]=true}",
		"setmetatable({}, {__index={1,2}})", "setmetatable({1}, {__len=function() return 5 end})",
	} {
		cases = append(cases, "return cjson.encode("+v+")")
	}
	pair.Compare(append(cases,
		"return cjson.encode()", "return cjson.encode(1, 2)", "return cjson:encode()", "return cjson:encode(1)", "return pcall(cjson.encode)",
		"local t = {} t[1] = t return cjson.encode(t)", "local t = {} t.a = t return cjson.encode(t)",
		"local t = {} for i = 1, 999 do t = {t} end return cjson.encode(t)", "local t = {} for i = 1, 1000 do t = {t} end return cjson.encode(t)",
		"local t = {} for i = 1, 3000 do t = {a = t} end return cjson.encode(t)",
	))
}

func TestJSONIsReadAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	var cases []string
	for _, json := range texts {
		cases = append(cases, "return cjson.decode("+quoted(json)+")")
	}
	pair.Compare(append(cases,
		"return cjson.decode()", "return cjson.decode(5)", "return cjson.decode(1.5)", "return cjson.decode(nil)", "return cjson.decode({})", "return cjson.decode(true)",
		"return cjson.decode('1', 2)", "return cjson:decode('1')", "return cjson.decode('null') == cjson.null", "return cjson.decode('[null]')[1] == cjson.null, type(cjson.null)",
		"return cjson.decode(string.rep('[', 1000))", "return cjson.decode(string.rep('[', 1001))", "return cjson.decode(string.rep('[', 1000)..string.rep(']', 1000)) ~= nil",
		"return cjson.decode(string.rep('{\"a\":', 1000)..'1'..string.rep('}', 1000)) ~= nil", "return cjson.decode(string.rep('{\"a\":', 1001))",
		"return cjson.decode(string.rep(' ', 5)..string.rep('[', 1001))", "return #cjson.decode('['..string.rep('1,', 5000)..'2]')",
	))
}

var texts = []string{
	"", " ", "1", "-1", "+1", "01", "-01", "0", "-0", "1.", ".5", "-.5", "1.5e3", "1e", "1e+", "1E5", "1e400", "-1e400", "1e-400", "0x10", "0X1p4", "0x", "-0x1F", "1x", "-", "--1", "+", "- 1",
	"inf", "Infinity", "-inf", "-Infinity", "INF", "infinit", "nan", "NaN", "-nan", "nan(12)", "-NaN(x)", "+inf", "+nan", "i", "n", "N", "I", "in", "na",
	"true", "false", "null", "tru", "True", "nul", "nulll", "truefalse", "true false", "[true,false]", "t", "f", "falsx", "x", "'a'", "\x01", "\xff",
	`"a"`, `""`, `"`, `"a`, `"\"`, `"\\"`, `"\/\b\f\n\r\t\""`, `"\x"`, `"\`, `"\u"`, `"\u00"`, `"\u0041"`, `"\u00e9\u20AC"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00"`,
	`"\ud83d\ude0"`, `"\uD83D\\"`, `"\u0000"`, `"\uFFFF"`, `"\ud7ff\ue000"`, `"\uzzzz"`, "\"\n\"", "\"\x7f\x80\xff\"", "\"a\x00b\"", "1\x00junk", "[1\x00]", " \x00", "\x001", "1 \x00",
	"[]", "[ ]", "[1]", "[1,2]", "[1,]", "[,1]", "[,]", "[1 2]", "[1", "[", "]", "[1,", "[[]", "[[],[[]]]", "[1]]", "[1] x", "[}", "[1}", "[:", "[null,1,null]", "[\"a\",{\"b\":[]}]",
	"{}", "{ }", "{", "}", `{"a":1}`, `{"a":1,"b":2}`, `{"a":1,"a":2}`, `{"a":}`, `{"a"}`, `{"a":1,}`, `{,}`, `{a:1}`, `{1:2}`, `{"a":1 "b":2}`, `{"a" 1}`, `{"a":1`, `{"a":`, `{"a"`, `{"":null}`, `{"1":1,"2":2}`,
	`{"a":nul}`, `{"a":1}}`, `{"a":[1,{"b":"c"}]}`, "\t\n\r 1 \t\n\r", "\v1", "\f1", "1\v", "//", "/* */1", "1,2", "1:2", ",", ":", "12345678901234567890", "0.1", "1e5x", "1.2.3", "1-2", "00", "0e1", "0.0", "-0.0e-0",
}

func TestOptionsAreAsInRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	setters := strings.Fields("encode_sparse_array encode_max_depth decode_max_depth encode_number_precision encode_keep_buffer encode_invalid_numbers decode_invalid_numbers")
	values := strings.Fields(`nil true false 0 1 2 5 14 15 -1 1.9 2147483647 2147483648 4294967297 1e100 'on' 'off' 'null' 'ON' '3' {} cjson.null 'on\0x' 0/0`)
	var cases []string
	for _, f := range setters {
		cases = append(cases, fmt.Sprintf("return cjson.new().%s()", f), fmt.Sprintf("return cjson.new().%s(1, 2, 3, 4)", f))
		for _, v := range values {
			cases = append(cases,
				fmt.Sprintf("local c = cjson.new() local f = c.%s return f(%s)", f, v),
				fmt.Sprintf("local c = cjson.new() pcall(c.%[1]s, %[2]s) return c.%[1]s()", f, v),
				fmt.Sprintf("local c = cjson.new() return c.%s(nil, %s)", f, v),
				fmt.Sprintf("local c = cjson.new() return c.encode_sparse_array(nil, nil, %s)", v))
		}
	}
	for _, body := range []string{
		"c.encode_sparse_array(true) return c.encode({[100]=1})", "c.encode_sparse_array(true, 3, 5) return c.encode({[5]=1}), c.encode({[6]=1})", "c.encode_sparse_array(false, 0) return #c.encode({[10000]=1})",
		"c.encode_sparse_array(false, 2147483647, 3) return pcall(c.encode, {1,nil,nil,nil,nil,nil,nil,nil,nil,nil,nil,12})", "c.encode_sparse_array(true, 1, 0) return c.encode({1,2,3})",
		"c.encode_number_precision(3) return c.encode({1/3, 1234, 12345, 1e10, 0.00012345, 999.9})", "c.encode_number_precision(1) return c.encode({1/3, 15, 9.99})",
		"c.encode_invalid_numbers('null') return c.encode({1/0, 0/0, -1/0})", "c.encode_invalid_numbers(true) return c.encode({1/0, -1/0}), c.encode(0/0), c.encode(-(0/0)), c.encode({[1/0]=1})",
		"c.decode_invalid_numbers(false) return c.decode('[1,2.5,-3e5,0,-0.1]')", "c.decode_invalid_numbers(false) return c.decode('0x10')", "c.decode_invalid_numbers(false) return c.decode('01')",
		"c.decode_invalid_numbers(false) return c.decode('-inf')", "c.decode_invalid_numbers(false) return c.decode('nan')", "c.decode_invalid_numbers(false) return c.decode('+1')", "c.decode_invalid_numbers(false) return c.decode('-')",
		"c.decode_invalid_numbers(false) return c.decode('-x')", "c.decode_invalid_numbers(false) return c.decode('0')", "c.decode_invalid_numbers(false) return c.decode('-00')",
		"c.encode_max_depth(1) return c.encode({}), c.encode({{}})", "c.encode_max_depth(2) return c.encode({a={}})", "c.decode_max_depth(1) return c.decode('[1]'), c.decode('{\"a\":{}}')",
		"c.encode_max_depth(1e5) local t = {} for i = 1, 9000 do t = {t} end return c.encode(t)", "c.encode_max_depth(1e5) local t = {} for i = 1, 9000 do t = {a=t} end return c.encode(t)",
		"c.encode_max_depth(1e5) local t = {} for i = 1, 7990 do t = {t} end return #c.encode(t)", "c.encode_max_depth(1e5) local t = {} t[1] = t return c.encode(t)", "c.encode_max_depth(1e5) local t = {} t[1] = {a=t} return c.encode(t)",
		"c.decode_max_depth(1e5) return c.decode(string.rep('[', 9000))", "c.decode_max_depth(1e5) return c.decode(string.rep('{\"a\":', 9000))", "c.decode_max_depth(1e5) return c.decode(string.rep('[{\"a\":', 9000))",
		"c.encode_keep_buffer(false) return c.encode({1}), pcall(c.encode, type), c.encode({2})", "return c._NAME, c._VERSION, c.null == cjson.null, c.null",
	} {
		cases = append(cases, "local c = cjson.new() "+body)
	}
	pair.Compare(cases)
}

func TestRandomValuesAreWrittenAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	r := seed.Fresh(t).Rand(0)
	var cases []string
	for range seed.Steps(t, 4000) {
		cases = append(cases,
			"return cjson.encode("+randomValue(r, 4)+")",
			"return cjson.encode(cjson.decode(cjson.encode("+randomValue(r, 4)+")))")
	}
	pair.Compare(cases)
}

// randomValue returns Lua for a value.
func randomValue(r *rand.Rand, depth int) string {
	kinds := 8
	if depth == 0 {
		kinds = 5
	}
	switch r.IntN(kinds) {
	case 0:
		return quoted(randomBytes(r, 10))
	case 1:
		return strconv.Itoa(r.IntN(300) - 100)
	case 2:
		return randomNumber(r)
	case 3:
		return []string{"true", "false", "cjson.null", "nil"}[r.IntN(4)]
	case 4:
		return "'" + strconv.Itoa(r.IntN(1000)) + "'"
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

// randomKey returns Lua for a key. No index is so great that Redis overflows.
func randomKey(r *rand.Rand) string {
	switch r.IntN(5) {
	case 0:
		return strconv.Itoa(r.IntN(30) - 2)
	case 1:
		return strconv.FormatFloat(r.Float64()*10, 'g', 1+r.IntN(17), 64)
	case 2:
		return strconv.FormatInt(-r.Int64(), 10)
	}
	return quoted(randomBytes(r, 6))
}

func randomNumber(r *rand.Rand) string {
	f := (r.Float64() - 0.5) * float64(uint64(1)<<r.IntN(63))
	if r.IntN(3) == 0 {
		return fmt.Sprintf("%.3fe%d", f, r.IntN(60)-30)
	}
	return strconv.FormatFloat(f, 'g', 1+r.IntN(17), 64)
}

func TestRandomJSONIsReadAsByRedis(t *testing.T) {
	pair := luatest.NewPair(t)
	r := seed.Fresh(t).Rand(0)
	var cases []string
	for range seed.Steps(t, 8000) {
		cases = append(cases, "return cjson.decode("+quoted(randomJSON(r))+")")
	}
	pair.Compare(cases)
}

// randomJSON joins and mutates texts of JSON.
func randomJSON(r *rand.Rand) string {
	pick := func() string { return texts[r.IntN(len(texts))] }
	var b []byte
	switch r.IntN(4) {
	case 0:
		b = []byte(pick())
	case 1:
		b = []byte("[" + pick() + "," + pick() + "]")
	case 2:
		b = []byte(`{"k":` + pick() + `,"` + pick() + `":` + pick() + `}`)
	default:
		b = []byte(`"` + pick() + pick() + `"`)
	}
	for range r.IntN(4) {
		if len(b) == 0 {
			break
		}
		at := r.IntN(len(b))
		switch r.IntN(3) {
		case 0:
			b = append(b[:at], b[at+1:]...)
		case 1:
			const bytes = "{}[]:,\"\\u0123456789abcdefEx+-.ntINa\x00 "
			b[at] = bytes[r.IntN(len(bytes))]
		default:
			b = append(b[:at:at], b[at/2:]...)
		}
	}
	return string(b)
}

func randomBytes(r *rand.Rand, most int) string {
	b := make([]byte, r.IntN(most))
	for i := range b {
		b[i] = byte(r.UintN(256)) >> r.IntN(3)
	}
	return string(b)
}

// quoted returns bytes as a string of Lua.
func quoted(s string) string {
	var out strings.Builder
	out.WriteByte('\'')
	for i := range len(s) {
		fmt.Fprintf(&out, "\\%03d", s[i])
	}
	return out.String() + "'"
}

package lua_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/seed"
)

// Strings are found, replaced and formatted as by Redis's library, with the
// same errors.

// names shortens the cases.
const names = "local S = string "

func pair(t *testing.T) *luatest.Pair {
	return luatest.NewPair(t)
}

func compare(t *testing.T, bodies []string) {
	t.Helper()
	for i := range bodies {
		bodies[i] = names + bodies[i]
	}
	pair(t).Compare(bodies)
}

func TestPartsOfStringsAreRediss(t *testing.T) {
	var cases []string
	positions := strings.Fields("nil 0 1 2 3 5 6 7 -1 -2 -5 -6 -100 100 1.9 -1.9 1e10 -1e10 1e300 '2' 'x' {} 2^31 2^32+1 0/0")
	for _, f := range []string{"sub", "byte", "rep", "char"} {
		cases = append(cases, "return S."+f+"()", "return S."+f+"(nil)", "return S."+f+"({})", "return S."+f+"('hello')", "return S."+f+"(12)")
		for _, i := range positions {
			if f == "rep" && strings.ContainsAny(i, "e^") {
				continue // gigabytes
			}
			cases = append(cases, fmt.Sprintf("return S.%s('hello', %s)", f, i), fmt.Sprintf("return S.%s(%s)", f, i))
			if f == "rep" {
				continue
			}
			for _, j := range positions {
				cases = append(cases, fmt.Sprintf("return S.%s('hello', %s, %s)", f, i, j))
			}
		}
	}
	for _, f := range strings.Fields("len lower upper reverse dump gmatch gfind find match gsub format") {
		for _, args := range []string{"", "nil", "{}", "true", "5", "'aZ[`{é\\0\\255'", "'a', 'b'", "'abc', nil", "'abc', 'b', nil", "'abc', 'b', {}", "'abc', 'b', 'c', 'd'", "'abc', 'b', true", "'abc', 5, 6"} {
			if f == "dump" || strings.HasPrefix(f, "g") && f != "gsub" {
				args = strings.TrimPrefix(args, "'a', 'b'")
			}
			cases = append(cases, fmt.Sprintf("return S.%s(%s)", f, args))
		}
	}
	compare(t, append(cases, "return #S.rep('ab', 100000)", "return S.rep('', 1000)", "return S.rep('x', 2^32)", "return S.byte(S.rep('x', 9000), 1, -1)", "return select('#', S.byte(S.rep('x', 7997), 1, -1))",
		"return select('#', S.byte(S.rep('x', 7998), 1, -1))", "return S.char(0, 255, '65')", "return S.char(1, 256)", "return S.char(-1)", "return S:len()", "return pcall(S.rep)"))
}

func TestFormatsAreRediss(t *testing.T) {
	values := strings.Fields(`0 1 -1 65 255 1.5 -1.5 0.1 -0 1e15 1e16 123456789 -123456789 1e-5 0.0001 2^31 2^53 2^63 -2^63 2^64 1e300 -1e300 1/0 -1/0 0/0 -(0/0) 3.14159265358979 '10' 'x' 'hello' 'a\0b' '' nil true {}`)
	var cases []string
	for _, verb := range "cdiouxXeEfgGqsap%z5" {
		for _, flags := range []string{"", "5", "-5", "05", "+", " ", "#", "+5", "+05", "-05", "+ ", "#5", "#05", ".0", ".1", ".3", ".10", "8.3", "-8.3", "08.3", "+.3", "#.0", "#.3", "20.10", "-+ #0", "99", ".99", ".", "5.", "100", ".100", "------", "#+8.4"} {
			for i, v := range values {
				if (i+len(flags))%3 == 0 || flags == "" {
					cases = append(cases, fmt.Sprintf("return S.format('<%%%s%c>', %s)", flags, verb, v))
				}
			}
		}
	}
	compare(t, append(cases,
		"return S.format('%')", "return S.format('%', 1)", "return S.format('%5', 1)", "return S.format('%.', 1)", "return S.format('%d')", "return S.format('%d %d', 1)", "return S.format('%%')", "return S.format('%\\0d', 1)", "return S.format('a\\0b%d', 1)",
		"return S.format('%s', S.rep('x', 99)..'\\0y')", "return S.format('%s', S.rep('x', 100)..'\\0y')", "return S.format('%5s', S.rep('x', 200))", "return S.format('%.5s', S.rep('x', 200))", "return S.format('%q', 'a\\r\\n\\t\\0\"\\\\\\127\\200')",
		"return S.format('%q', 5)", "return S.format('%q')", "return S.format('%5q', 'x')", "return S.format('%99.99f', 1e300)", "return S.format('%s %d', 'a', 1, 2)", "return S.format(5)", "return S.format('%s', setmetatable({}, {__tostring=function() return 'x' end}))",
	))
}

// parts of patterns.
var parts = []string{
	"a", "b", "c", ".", "%a", "%d", "%s", "%w", "%p", "%x", "%z", "%l", "%u", "%c", "%A", "%D", "%S", "%W", "%Z", "%.", "%%", "%-", "[abc]", "[^abc]", "[a-c]", "[%d]", "[%w_]", "[]]", "[^]]", "[a-]", "[-a]", "[%]]", "[a-%d]", "[", "]", "[^", "[a", "[%", "%",
	"(", ")", "()", "(a)", "(.)", "(.-)", "(%w+)", "%1", "%2", "%0", "%9", "^", "$", "*", "+", "-", "?", "a*", "a+", "a-", "a?", ".*", ".-", "%bab", "%b()", "%b", "%bx", "%f[a]", "%f[%w]", "%f[%z]", "%f", "%fa", "%f[", "\\0", "é", "%g", "%q", "1", "x", "_", " ",
}

var subjects = []string{"", "a", "abc", "aaab", "hello world", "THE (quick) fox", "((a)(b))", "a1b2c3", "key=value, k2=v2", "  trim  ", "x^2$%", "aaaaaaaaaaaaaaab", "\\0a\\0", "éa", "a.b", "abcabcabc", "[x]", "axbaxb"}

func randomPattern(r *rand.Rand) string {
	var out strings.Builder
	if r.IntN(5) == 0 {
		out.WriteString("^")
	}
	for range r.IntN(6) {
		out.WriteString(parts[r.IntN(len(parts))])
	}
	return out.String()
}

func TestPatternsMatchAsInRedis(t *testing.T) {
	r := seed.Fresh(t).Rand(0)
	replacements := []string{"'x'", "'<%0>'", "'%1%2'", "'%9'", "'%'", "'%%%a'", "5", "{a='A', abc=false, [1]=7}", "function(...) return select('#', ...)..'' end", "function(a, b) return b end", "function() return {} end", "setmetatable({}, {__index=function(t, k) return k..'!' end})", "''", "true", "nil"}
	var cases []string
	for _, p := range parts {
		for _, s := range subjects {
			cases = append(cases, fmt.Sprintf("return S.find('%s', '%s')", s, p))
		}
	}
	for range seed.Steps(t, 12000) {
		s, p := subjects[r.IntN(len(subjects))], randomPattern(r)
		switch r.IntN(5) {
		case 0:
			cases = append(cases, fmt.Sprintf("return S.find('%s', '%s', %d)", s, p, r.IntN(20)-10))
		case 1:
			cases = append(cases, fmt.Sprintf("return S.match('%s', '%s')", s, p))
		case 2:
			cases = append(cases, fmt.Sprintf("local out = {} for a, b in S.gmatch('%s', '%s') do out[#out+1] = {a, b} if #out > 30 then break end end return out", s, p))
		case 3:
			cases = append(cases, fmt.Sprintf("return S.find('%s', '%s', 1, %s)", s, p, []string{"true", "false", "1", "nil"}[r.IntN(4)]))
		default:
			limit := ""
			if r.IntN(4) == 0 {
				limit = ", " + strconv.Itoa(r.IntN(5)-1)
			}
			cases = append(cases, fmt.Sprintf("return S.gsub('%s', '%s', %s%s)", s, p, replacements[r.IntN(len(replacements))], limit))
		}
	}
	compare(t, append(cases,
		"return S.find('a', S.rep('(', 33))", "return S.find('a', S.rep('()', 32))", "return S.find('a', S.rep('()', 33))", "return S.find('x', '%f[%w]%w+', 5)", "return S.gsub('abc', '%w', '%%%0', 2)", "return S.gsub('abc', '', '-')", "return S.gsub('hello', 'l', {l=1})",
		"return S.gmatch('abc', '%f')()", "return S.gmatch('abc', 'x')()", "return S.gsub('a', 'a', '%1')", "return S.gsub('a', '(a)', '%2')", "return S.gsub('abc', '()', '%1')", "return S.find('a\\nb', 'a.b')", "return S.find('aXb', '%u')", "return S.match('2024-01-02', '(%d+)-(%d+)-(%d+)')",
		"return S.gsub('abc def', '(%w+) (%w+)', '%2 %1')", "return S.find(S.rep('a', 1000), S.rep('a?', 1000)..S.rep('a', 10))", "return S.match(S.rep('a', 100000)..'b', '.-b') ~= nil", "return #S.gsub(S.rep('a', 100000), 'a', 'bc')", "return S.find('abc', 'b', -1)", "return S.find('', '')", "return S.find('abc', '', 10)",
		"return S.find('abc', '', 4)", "return S.gsub('abc', '%w', function(c) error('no '..c) end)",
	))
}

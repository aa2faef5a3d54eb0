package lua_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
)

// The base, table and math libraries answer what Redis's answer, with the same
// errors.

func TestTablesAreRediss(t *testing.T) {
	values := strings.Fields("nil 0 1 2 3 4 -1 1.5 1e10 -1e10 2^31 '2' 'x' {} true 0/0")
	var cases []string
	for _, f := range strings.Fields("concat insert remove sort maxn getn setn foreach foreachi") {
		cases = append(cases, "return table."+f+"()", "return table."+f+"(1)", "return table."+f+"({})", "return table."+f+"({1,2,3})", "return pcall(table."+f+")")
		for _, v := range values {
			if strings.Contains(v, "^") || strings.Contains(v, "e1") {
				continue // loops for minutes
			}
			cases = append(cases, fmt.Sprintf("local t = {1,2,3} return table.%s(t, %s), t", f, v))
			for _, w := range values {
				if !strings.ContainsAny(v+w, "^1/") && !strings.Contains(v+w, "e1") {
					cases = append(cases, fmt.Sprintf("local t = {1,2,3} return t, table.%s(t, %s, %s), t", f, v, w))
				}
			}
		}
	}
	for _, list := range []string{"{}", "{1}", "{1,2,3}", "{'a','b'}", "{1,'b',2.5}", "{{},1}", "{nil,1}", "{1,nil,3}", "{1,2,nil}", "{true}", "{n=3}", "{1,2,3,n=5}", "{[0]=0,1}", "{[1.5]=1}", "{[100]=1}", "{1,2,3,4,5,6,7,8,9,nil,nil,12}", "{nil,nil,3}"} {
		for _, call := range []string{"table.concat(t)", "table.concat(t, ',')", "table.concat(t, ',', 2)", "table.concat(t, ',', 1, 2)", "table.concat(t, ',', 3, 1)", "table.concat(t, 0, 1, 1)", "table.concat(t, {}, 1)", "table.maxn(t)", "table.getn(t)", "#t", "unpack(t)", "unpack(t, 2)", "unpack(t, 0, 2)", "unpack(t, -1, 1)", "unpack(t, 2, 1)",
			"table.insert(t, 'x')", "table.insert(t, 1, 'x')", "table.insert(t, 2, 'x')", "table.insert(t, 10, 'x')", "table.remove(t)", "table.remove(t, 1)", "table.remove(t, 2)", "table.remove(t, 0)", "table.sort(t)", "table.sort(t, function(a, b) return a > b end)", "table.sort(t, function(a, b) return true end)", "table.sort(t, 1)", "table.foreachi(t, function(i, v) if i == 2 then return v end end)", "table.foreach(t, function(k) if k == 1 then return 'one' end end)",
			"next(t)", "next(t, 1)", "next(t, 'x')", "next(t, {})", "rawget(t, 1)", "rawset(t, 1, 5)", "rawset(t, nil, 5)", "rawset(t, 0/0, 5)", "rawequal(t, t)", "ipairs(t)(t, 0)", "select('#', unpack(t))", "select(2, unpack(t))", "select(-1, unpack(t))"} {
			cases = append(cases, fmt.Sprintf("local t = %s return t, #t, %s, t, #t", list, call))
		}
	}
	luatest.NewPair(t).Compare(append(cases,
		"return #table.concat({string.rep('x', 100000), 'y'}, string.rep(',', 10))", "local t = {} for i = 1, 100 do t[i] = (i * 37) % 101 end table.sort(t) return t", "local t = {5,3,'x'} table.sort(t)", "local t = {1,2,{}} table.sort(t)",
		"local t = {} for i = 1, 8000 do t[i] = i end return select('#', unpack(t))", "local t = {} for i = 1, 7000 do t[i] = i end return select('#', unpack(t))", "return select('#', unpack({}, 1, 7998))", "return select('#', unpack({}, 1, 7999))", "return select('#', unpack({}, 1, 8000))", "return unpack({}, 1, 1e8)",
		"local t = setmetatable({}, {__index=function(t,k) return k end, __len=function() return 3 end}) return #t, unpack(t, 1, 3)", "local t = setmetatable({1,2}, {__newindex=function() error('no') end}) table.insert(t, 3) return t", "local out = {} for k in pairs({a=1,b=2,c=3,d=4,e=5,1,2,3}) do out[#out+1] = tostring(k) end return table.concat(out, ' ')",
		"local t = {} for i = 1, 10 do t['k'..i] = i end for i = 1, 10, 2 do t['k'..i] = nil end local out = {} for k, v in pairs(t) do out[#out+1] = k end return table.concat(out, ' ')", "local t = {1,2,3,4} for k in pairs(t) do t[k] = nil end return next(t)", "local t = {} t[1]=1 t[2]=2 t[4]=4 return #t", "local t = {1,2,3,4} t[4]=nil return #t", "local t = {1,2,3,4} t[2]=nil t[4]=nil return #t",
		"local out = {} for k in pairs(cjson) do out[#out+1] = k end return table.concat(out, ' ')", "local out = {} for k in pairs(cmsgpack) do out[#out+1] = k end return table.concat(out, ' ')", "local out = {} for k in pairs(struct) do out[#out+1] = k end return table.concat(out, ' ')", "local out = {} for k in pairs(bit) do out[#out+1] = k end return table.concat(out, ' ')",
		"local out = {} for k in pairs(string) do out[#out+1] = k end return table.concat(out, ' ')", "local out = {} for k in pairs(table) do out[#out+1] = k end return table.concat(out, ' ')", "local out = {} for k in pairs(math) do out[#out+1] = k end return table.concat(out, ' ')", "local out = {} for k in pairs(coroutine) do out[#out+1] = k end return table.concat(out, ' ')",
		"return cjson.encode({a=1,b=2,c={x=1,y=2,z=3},d='e'})", "return cjson.encode(cjson.decode('{\"z\":1,\"y\":{\"b\":[],\"a\":{}},\"x\":[1,2]}'))", "return cmsgpack.pack({a=1,b={c=2,d=3}})", "return cmsgpack.pack(cmsgpack)",
	))
}

// shown calls a function of math and shows twelve digits of its results: the
// last ones may differ. Random numbers are those that follow a seed.
const shown = "math.randomseed(3) local function show(a, b) return a and ('%%.12g'):format(a), b and ('%%.12g'):format(b) end return show(math.%s(%s))"

func TestMathIsRediss(t *testing.T) {
	values := strings.Fields("nil 0 -0 1 -1 0.5 -0.5 1.5 2.5 -2.5 3 10 100 1e10 1e15 1e300 -1e300 1e-300 2^31 2^53 1/0 -1/0 '2' '0x10' 'x' {} true")
	var cases []string
	for _, f := range strings.Fields("abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp ldexp log log10 max min mod modf pow rad random randomseed sin sinh sqrt tan tanh") {
		cases = append(cases, "return math."+f+"()", "return pcall(math."+f+")", fmt.Sprintf(shown, f, "1, 2, 3"))
		for _, v := range values {
			cases = append(cases, fmt.Sprintf(shown, f, v))
			for _, w := range values {
				if (f != "pow" || v != "-0") && (f != "random" || w != "2^31" && v != "2^31" && v != "1e15") {
					cases = append(cases, fmt.Sprintf(shown, f, v+", "+w))
				}
			}
		}
	}
	luatest.NewPair(t).Compare(append(cases, "return math.pi, math.huge", "math.randomseed(0) local t = {} for i = 1, 20 do t[i] = math.random() end return t", "math.randomseed(1) local t = {} for i = 1, 20 do t[i] = math.random(100) end return t", "math.randomseed(42) local t = {} for i = 1, 20 do t[i] = math.random(-5, 5) end return t", "math.randomseed(-1.5) return math.random(1e9)", "math.randomseed(2^40) return math.random(), math.random()"))
}

func TestBaseIsRediss(t *testing.T) {
	values := strings.Fields(`nil true false 0 -0 1 1.5 -1 1e15 1e100 1/0 0/0 '' 'x' '10' '0x1F' '\t5\n' '1e2' '5\0' {} {1,2} type setmetatable({},{__tostring=function()return'T'end}) setmetatable({},{__metatable='M'}) cjson.null`)
	var cases []string
	for _, f := range strings.Fields("assert error getmetatable ipairs loadstring next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall load collectgarbage gcinfo dofile print getfenv setfenv require module newproxy loadfile") {
		if f == "collectgarbage" || f == "gcinfo" {
			cases = append(cases, "return type("+f+")")
			continue
		}
		cases = append(cases, "return "+f+"()", "return pcall("+f+")")
		for _, v := range values {
			if f == "tostring" && strings.Contains(v, "__metatable") || f == "loadstring" && strings.Contains(v, `\0`) {
				continue // an address, or a name that ends where Redis's does not
			}
			if (f == "tostring" || f == "pairs" || f == "ipairs" || f == "error" || f == "assert") && (v == "type" || strings.HasPrefix(v, "{")) {
				continue
			}
			cases = append(cases, fmt.Sprintf("return %s(%s)", f, v))
			for _, w := range []string{"nil", "1", "2", "'x'", "{}", "type", "36", "16", "2.5", "-1", "0"} {
				if f == "error" && w == "type" || f == "assert" {
					continue
				}
				cases = append(cases, fmt.Sprintf("return %s(%s, %s)", f, v, w))
			}
		}
	}
	for _, op := range strings.Fields("+ - * / % ^ .. == ~= < <= > >= and or") {
		for _, v := range values {
			for _, w := range values {
				if op == "^" && v != "1" && w != "1" {
					continue // the last digits may differ
				}
				cases = append(cases, fmt.Sprintf("local a, b = %s, %s local r = a %s b return type(r) == 'table' or type(r) == 'function' or r", v, w, op))
			}
		}
	}
	for _, v := range values {
		cases = append(cases, "local a = "+v+" return -a", "local a = "+v+" return #a", "local a = "+v+" return not a", "local a = "+v+" return a.x", "local a = "+v+" a.x = 1", "local a = "+v+" return a()", "local a = "+v+" for i = a, 3 do return i end", "local a = "+v+" for i = 1, a do return i end", "local a = "+v+" for i = 1, 2, a do return i end", "local a = "+v+" for k in a do return k end", "local a = {} a["+v+"] = 1", "return ("+v+"):len()")
	}
	luatest.NewPair(t).Compare(cases)
}

func TestControlIsRediss(t *testing.T) {
	var cases []string
	for _, program := range programs {
		cases = append(cases, fmt.Sprintf("local f, problem = loadstring(%s, '@program') if not f then return problem end return f()", quoted(program)))
	}
	luatest.NewPair(t).Compare(cases)
}

// programs are compiled by loadstring, since some are wrong.
var programs = []string{
	"for i = 1, 0 do return i end return 'none'", "local n = 0 for i = 1, 2, 0.25 do n = n + 1 end return n", "for i = 10, 1, -3 do if i < 5 then return i end end", "for i = 1, 1e300, 1e299 do if i > 5e299 then return i end end",
	"local function f(...) return select('#', ...), ... end return f(), f(nil), f(nil, nil)", "local function f(...) local a, b = ... return a, b, arg == nil end return f(1, 2)", "return (function(...) return arg.n, arg[1] end)(5)", "return (function() return 1, 2, 3 end)(), 4",
	"return ((function() return 1, 2, 3 end)())", "local t = {(function() return 1, 2 end)(), (function() return 1, 2 end)()} return #t", "local a <const> = 1", "goto x", "local x = 1 do local x = 2 end return x", "local s = 0 repeat local k = s s = s + 1 until k > 3 return s",
	"while true do break end return 1", "local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return co(1), co(5)", "local co = coroutine.create(function() error('x') end) return coroutine.resume(co)", "local co = coroutine.create(function() error({}) end) return type(select(2, coroutine.resume(co)))",
	"local co = coroutine.create(function() return 1 end) coroutine.resume(co) return coroutine.resume(co)", "return coroutine.status(coroutine.create(type))", "return coroutine.running()", "return coroutine.yield(1)", "local co co = coroutine.create(function() return coroutine.resume(co) end) return coroutine.resume(co)",
	"local co = coroutine.wrap(function() error('x') end) co()", "local co = coroutine.wrap(function() end) co() co()", "return pcall(coroutine.yield)", "return coroutine.resume(1)", "return coroutine.wrap(1)", "return coroutine.status(1)",
	"local function f() return f() end", "local function r(n) if n == 0 then return 0 end return 1 + r(n - 1) end return r(1000)", "local function r(n) return 1 + r(n + 1) end return r(1)", "local function r() local ok, e = pcall(r) return e end return r()", "return string.gsub('x', 'x', function() error('in gsub') end)",
	"local t = setmetatable({}, {__index=function(t, k) error('idx '..k) end}) return t.foo", "local t = setmetatable({}, {__add=function(a, b) return 'sum' end, __concat=function() return 'cat' end, __eq=function() return true end, __lt=function() return true end, __le=function() return false end, __call=function(self, a) return a end, __unm=function() return 'neg' end}) return t + 1, 1 + t, t..'x', 'x'..t, t < t, t <= t, t(7), -t, t == setmetatable({}, getmetatable(t))",
	"local t = {} t.t = t return t.t.t == t", "error('msg')", "error('msg', 0)", "error('msg', 1)", "error('msg', 2)", "error('msg', 3)", "error()", "error(nil)", "error({1})", "error(5)", "local function f() error('deep', 2) end f()", "assert(false)", "assert(nil, 'm')", "assert(1, 2, 3)", "assert()", "return assert(1, 2, 3)",
	"return xpcall(function() error('x') end, function(m) return 'h:'..m end)", "return xpcall(function() error('x') end, function(m) error('y') end)", "return xpcall(function() return 1, 2 end, type)", "return pcall(pcall)", "return pcall(pcall, error)", "return pcall(error, 'x', 2)", "return pcall(1)", "return pcall(nil)", "return xpcall(1, 2)", "return xpcall()",
	"local x = nil x()", "local x = {} x.y.z = 1", "local x = {} x.y()", "local x = {} x:y()", "local x = 'a' x:y()", "string.nope()", "local a = {} return a < a", "return {} < 1", "return 'a' < 1", "return 1 < 'a'", "return nil .. 'x'", "return {} .. 'x'", "local t = {} return 'a' .. t.x", "local t = {} return 1 + t.x", "local t = {} return 1 + t", "return #nil", "return -{}", "return 2 ^ {}", "return 'abc' + 1", "return '10' + 1, '0x10' * 2, 10 .. 20",
	"return 1e15, 1e14, 123456789012345, 0.1 + 0.2, 1/3, -0, 100 .. '', 2^53, 1e100 .. ''", "return 5 % 3, -5 % 3, 5 % -3, -5 % -3, 5.5 % 2, 5 % 0, 0 % 5, 1 % (1/0), -1 % (1/0)", "return 2^0.5, (-8)^(1/3), 0^0", "return 7 / 0, -7 / 0, 0 / 0 ~= 0 / 0", "return 1 == 1.0, '1' == 1, 0 == -0, nil == false", "return not nil, not 0, nil and 1, false or 'x', 1 and 2",
	"return loadstring('return 1')()", "return loadstring('x x')", "return loadstring('return 1', 'name')()", "return loadstring('error(\"e\")', '=name')()", "return loadstring('error(\"e\")', '@name')()", "return pcall(loadstring('error(\"e\")', 'some code\\nmore'))", "return load(function() return nil end)", "local n = 0 return load(function() n = n + 1 if n == 1 then return 'return 5' end end)()", "return loadstring(string.dump and '\\27Lua' or '')", "return loadstring('')()",
	"return 'a\\98\\x', \"\\z\"", "return '\\999'", "return 0x", "return 1..2", "return 3e", "return 'abc", "return [[a]]", "return [==[a]]b]==]", "x = = 1", "return return", "local function end", "if x then", "for i do end", "for 1 = 1, 2 do end", "local 1 = 2", "f(", "a.b:c = 1", "(a) = 1", "a, b += 1", "break", "return ...", "local t = {1, 2; 3, [4] = 5, x = 6} return #t", "return -2 ^ 2, not 1 == 2, 1 .. 2 == '12', 2 ^ 3 ^ 2", "--[[x]] return 1 --y", "return 1;", ";return 1", "return 1,",
	"return tostring(1e15), tostring(-0), tostring(1/0), tostring(-1/0), tostring(2^63), tostring(0.1), tostring(100), tostring(1e-10)", "return tostring(nil), tostring(true)", "return tonumber('10', 2), tonumber('zz', 36), tonumber('8', 8), tonumber('7', 8), tonumber('-ff', 16), tonumber('ff ', 16), tonumber('1e1', 16), tonumber('', 10), tonumber('10', 1), tonumber('10', 37)", "return tonumber(10, 2)", "return tonumber('99999999999999999999', 10), tonumber('ffffffffffffffffff', 16), tonumber('-1', 16), tonumber('1.5', 10)",
	"local a = {} for i = 1, 300 do a[i] = 'local v'..i..' = '..i end return loadstring(table.concat(a, '\\n'))", "return loadstring('return '..string.rep('(', 300)..'1'..string.rep(')', 300))", "return loadstring(string.rep('do ', 300)..string.rep('end ', 300))", "return loadstring('local a = '..string.rep('{', 300)..string.rep('}', 300))", "return select('#', loadstring('return '..string.rep('1,', 250)..'1')())", "return loadstring('return '..string.rep('-', 300)..'1')", "return loadstring('x = '..string.rep('a..', 300)..'a')",
	"local t = {} for i = 1, 260 do t[i] = 'a'..i end return loadstring('local function f('..table.concat(t, ',')..') end')", "return loadstring('f('..string.rep('1,', 300)..'1)')", "local s = 'local x = 0 ' for i = 1, 70 do s = s..'local u'..i..' = 1 ' end s = s..'return function() return x' for i = 1, 70 do s = s..'+u'..i end return loadstring(s..' end')",
}

// quoted returns bytes as a string of Lua.
func quoted(text string) string {
	var out strings.Builder
	out.WriteByte('\'')
	for i := range len(text) {
		fmt.Fprintf(&out, "\\%03d", text[i])
	}
	return out.String() + "'"
}

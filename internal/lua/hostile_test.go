package lua

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Hostile programs end: with an error that they can see, or with one that they
// cannot catch. They never end the process, and never take much longer or much
// more memory than they may.

// hostile are programs, and what ends them; nil: an error of Lua, or nothing.
var hostile = []struct {
	name, source string
	want         error
}{
	{"a loop", `while true do end`, ErrDeadline},
	{"a loop in pcall", `while true do pcall(function() while true do end end) end`, ErrDeadline},
	{"a loop in an error handler", `xpcall(function() error() end, function() while true do end end)`, ErrDeadline},
	{"a loop in a coroutine", `coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()`, ErrDeadline},
	{"a loop in a metamethod", `local t = setmetatable({}, {__index = function() while true do end end}) return t.x`, ErrDeadline},
	{"repeat", `repeat until false`, ErrDeadline},
	{"a for of no step", `for i = 2, 1, 0 do end`, ErrDeadline},
	{"a for of goto kind", `for i = 1, math.huge do end`, ErrDeadline},
	{"an iterator without end", `for x in function() return 1 end do end`, ErrDeadline},
	{"tail calls", `local function f() return f() end return f()`, ErrDeadline},
	{"tail calls of two", `local f, g function f() return g() end function g() return f() end return f()`, ErrDeadline},
	{"recursion", `local function f() return 1 + f() end return f()`, nil},
	{"recursion through pcall", `local function f() return pcall(f), 1 end return f()`, nil},
	{"recursion through a metamethod", `local t t = setmetatable({}, {__add = function(a) return a + 1 end}) return t + 1`, nil},
	{"recursion through tostring", `local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) return tostring(t)`, nil},
	{"recursion through gsub", `local function f(s) return (s:gsub("x", f)) end return f("x")`, nil},
	{"recursion through sort", `local function f() table.sort({1, 2, 3}, f) end f()`, nil},
	{"recursion in an error handler", `local function h(e) error(e) end xpcall(function() error("x") end, h)`, nil},
	{"recursion of much", "local function f() return " + strings.Repeat("(", 150) + "1 + f()" + strings.Repeat(")", 150) + " end return f()", nil},
	{"string.rep", `return string.rep("x", 1e10)`, ErrMemory},
	{"string.rep many times", `local t = {} for i = 1, 1e6 do t[i] = string.rep("x", 1e6 + i) end`, ErrMemory},
	{"string.rep in pcall", `while true do pcall(string.rep, "x", 1e9) end`, ErrMemory},
	{"a string doubled", `local s = "x" while true do s = s .. s end`, ErrMemory},
	{"concatenation of many", "local a = ('x'):rep(2^20) while true do a = " + strings.Repeat("a..", 180) + "a end", ErrMemory},
	{"a table that grows", `local t = {} while true do t[#t + 1] = #t end`, ErrMemory},
	{"a table of tables", `local t = {} while true do t = {t} end`, ErrMemory},
	{"a table of keys", `local t, i = {}, 0 while true do i = i + 1 t["k" .. i] = i end`, ErrMemory},
	{"a high index", `local t = {} t[2^26] = 1 t[67108863] = 1 t[1e15] = 1 return #t`, nil},
	{"many high indexes", `local t = {} for i = 1, 26 do t[2^i - 1] = 1 end return #t`, nil},
	{"closures", `local t = {} while true do t[#t + 1] = function() return t end end`, ErrMemory},
	{"coroutines", `local t = {} while true do local c = coroutine.wrap(function() coroutine.yield() end) c() t[#t + 1] = c end`, ErrMemory},
	{"coroutines in coroutines", `local function f() return coroutine.wrap(f)() end f()`, nil},
	{"deep coroutines", `local t = {} local function r(n) if n == 0 then coroutine.yield() end return 1 + r(n - 1) end
		while true do local c = coroutine.wrap(r) c(10000) t[#t + 1] = c end`, ErrMemory},
	{"pieces of long strings", `local t = {} for i = 1, 1e6 do t[i] = (("x"):rep(1e6) .. i):sub(5, 10) end return #t`, ErrDeadline},
	{"temporaries of a recursion", `local function f() return #(("x"):rep(1e6) .. tostring(f())) end f()`, ErrMemory},
	{"arguments of a recursion", `local function f(...) return f(("x"):rep(1e6), ...) + 1 end f()`, ErrMemory},
	{"operands of a recursion", `local function f() return (("x"):rep(1e5)):len() + f() end f()`, nil},
	{"table.concat", `local t = {} for i = 1, 1e5 do t[i] = ("x"):rep(1e4) end return table.concat(t)`, ErrMemory},
	{"table.concat of one string", `local s, t = ("x"):rep(1e6), {} for i = 1, 1e4 do t[i] = s end return #table.concat(t)`, ErrMemory},
	{"gsub that grows", `local s = ("x"):rep(1e6) return #s:gsub("x", ("y"):rep(1e4))`, ErrMemory},
	{"string.format", `return string.format("%99999d", 1)`, nil},
	{"string.format of many", `local s = ("x"):rep(1e7) local f = ("%s"):rep(200) local function a(n) if n == 0 then return s end return s, a(n - 1) end return #f:format(a(199))`, ErrMemory},
	{"a pattern that goes back", `return ("a"):rep(40):find(("a?"):rep(40) .. ("a"):rep(41))`, ErrDeadline},
	{"a pattern of stars", `return ("a"):rep(1e4):find((".-"):rep(30) .. "b")`, ErrDeadline},
	{"a long pattern", `return ("a"):rep(1e5):find(("a?"):rep(1e5))`, nil},
	{"captures", `return ("a"):rep(1e5):gsub("(((((.*)))))", "%1%2%3%4%5")`, nil},
	{"unpack of many", `return unpack({}, 1, 1e7)`, nil},
	{"unpack of unpack", `local t = {unpack({}, 1, 7000)} for i = 1, 1e5 do t = {unpack(t, 1, 7000), unpack(t, 1, 7000)} end`, nil},
	{"sort without end", `local t = {} for i = 1, 1e5 do t[i] = i end while true do table.sort(t, function(a, b) return a > b end) end`, ErrDeadline},
	{"sort with errors", `local t = {} for i = 1, 1e4 do t[i] = i end while true do pcall(table.sort, t, function() return true end) end`, ErrDeadline},
	{"a chain of __index", `local t = {} for i = 1, 1e6 do t = setmetatable({}, {__index = t}) end return t.x`, nil},
	{"insert at the front", `local t = {} for i = 1, 1e7 do table.insert(t, 1, i) end`, ErrDeadline},
	{"tables without end", `for i = 1, 1e12 do local t = {1, 2, 3} end`, ErrDeadline},
	{"loadstring in loadstring", `local s = "return 1" for i = 1, 1e5 do s = "return loadstring(" .. string.format("%q", s) .. ")" end`, nil},
	{"programs without end", `while true do loadstring("return 1 + 1") end`, ErrDeadline},
	{"a long program", `return loadstring("return 1" .. ("+1"):rep(1e6))`, nil},
	{"a program of braces", `return loadstring(("{"):rep(1e6))`, nil},
	{"a program of calls", `return loadstring("f" .. ("()"):rep(4e5))`, nil},
	{"a program of elseif", `return loadstring("if a then " .. ("elseif a then "):rep(5e4) .. " end")()`, nil},
	{"a program of functions", `return loadstring(("return function() "):rep(500))`, nil},
	{"load without end", `return load(function() return "x = 1 " end)`, nil},
	{"a wide table", `local s = {} for i = 1, 1e5 do s[i] = "1" end return #loadstring("return {" .. table.concat(s, ",") .. "}")()`, nil},
	{"next without end", `local t = {1} while true do next(t) end`, ErrDeadline},
	{"bytes of a long string", `local s = ("x"):rep(1e7) while true do s:upper() s:reverse() end`, ErrDeadline},
	{"find in a long string", `local s = ("a"):rep(1e7) while true do s:find("b", 1, true) end`, ErrDeadline},
	{"long keys", `local t, s = {}, ("x"):rep(1e7) while true do t[s] = 1 end`, ErrDeadline},
	{"long keys that are read", `local t, s = {a = 1}, ("x"):rep(1e7) while true do local x = t[s], rawget(t, s) end`, ErrDeadline},
	{"long strings compared", `local a, b = ("x"):rep(1e7), ("x"):rep(1e7) while a == b and a <= b do end`, ErrDeadline},
	{"errors without end", `while true do pcall(error, {}) end`, ErrDeadline},
	{"cjson without end", `local t = {} t.t = t return cjson.encode(t)`, nil},
}

func TestHostileProgramsEnd(t *testing.T) {
	const limit, most = 32 << 20, 100 * time.Millisecond
	goroutines := runtime.NumGoroutine()
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			s := New(nil)
			begin := time.Now()
			may := most
			if errors.Is(h.want, ErrMemory) {
				may = 100 * most // it ends before that
			}
			_, err := run(t, s, &Guard{Bytes: limit, Deadline: begin.Add(may)}, h.source)
			took := time.Since(begin)
			if h.want != nil && !errors.Is(err, h.want) {
				t.Errorf("got %v, want %v", err, h.want)
			}
			if took > 20*may {
				t.Errorf("it took %v, and may take %v", took, may)
			}
			if got, err := run(t, s, nil, "return 1 + 1"); got != "2" || err != nil {
				t.Errorf("the next program: got %s, %v, want 2", got, err)
			}
		})
	}
	// Those of the runtime come and go; those of coroutines would be hundreds.
	if n := runtime.NumGoroutine(); n > goroutines+50 {
		t.Errorf("%d goroutines, there were %d", n, goroutines)
	}
}

// TestMemoryIsBounded looks at the process: what a program takes is near its
// limit at worst.
func TestMemoryIsBounded(t *testing.T) {
	const limit = 32 << 20
	before := heapBytes()
	for _, h := range hostile {
		if !errors.Is(h.want, ErrMemory) {
			continue
		}
		_, _ = run(t, New(nil), &Guard{Bytes: limit, Deadline: time.Now().Add(5 * time.Second)}, h.source)
		if after := heapBytes(); after > before+6*limit {
			t.Errorf("%s: the process holds %d MiB more, and the program may hold %d MiB", h.name, (after-before)>>20, limit>>20)
		}
	}
}

// TestSourcesEndTheCompiler compiles what nests and repeats.
func TestSourcesEndTheCompiler(t *testing.T) {
	for _, piece := range []string{"(", "{", "[", "do ", "if x then ", "while x do ", "function f() ", "x=", "x,", "x.", "x[", "x(", "x:y", "-", "not ", "a+", "a..", "a^", "a and ", "'", "[[", "[=[", "--[[", "1", "0x", "return ", "repeat ", "for i=1,2 do ", "for k in ", "local x=", "{x=", "{[", "f{", "f'", "x.y=", "\\", "\x00", "\xff"} {
		for _, n := range []int{1, 10, 199, 201, 5000, maxSource / len(piece)} {
			if _, err := Compile("x", strings.Repeat(piece, n)); err != nil && !strings.HasPrefix(err.Error(), "x:") {
				t.Errorf("%q × %d: got %v, want a position", piece, n, err)
			}
		}
	}
}

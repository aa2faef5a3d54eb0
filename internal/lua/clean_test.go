package lua

import (
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// Nothing that a program does is seen by the next one in the same state.

// reachable shows all that a program finds, without addresses.
const reachable = `
local seen, out = {}, {}
local function look(name, v)
	out[#out + 1] = name .. ":" .. type(v) .. ((type(v) == "string" or type(v) == "number" or type(v) == "boolean") and tostring(v) or "")
	if type(v) ~= "table" or seen[v] then return end
	seen[v] = true
	for k, x in next, v do look(name .. "." .. tostring(k), x) end
	local mt = getmetatable(v)
	if mt then look(name .. ".meta", mt) end
end
look("_G", _G) look("string", getmetatable(""))
out[#out + 1] = cjson.encode({cjson.decode("1.123456789012345")}) .. tostring(cjson.encode_max_depth()) .. tostring(cjson.encode_sparse_array()) .. tostring(coroutine.running())
out[#out + 1] = tostring(pcall(function() return undefined end)) .. ("x"):rep(3) .. #arg0()
return table.concat(out, "\n")`

// vandals try to change what others find.
var vandals = []string{
	`x = 1`, `_G.x = 1`, `rawset(_G, "x", 1)`, `string.rep = nil`, `string.x = 1`, `rawset(string, "rep", nil)`,
	`setmetatable(_G, {})`, `setmetatable(string, {})`, `getmetatable("").__index = nil`, `getmetatable(_G).__index = nil`,
	`rawset(getmetatable(""), "__index", function() return 5 end)`, `table.insert(table, 1)`, `table.sort(math)`,
	`table.remove(_G)`, `for k in pairs(_G) do _G[k] = nil end`, `for k in pairs(string) do rawset(string, k, nil) end`,
	`function string.rep() end`, `KEYS = {1}`, `cjson.encode_sparse_array(true)`, `cjson.encode_number_precision(3)`,
	`cjson.encode_max_depth(2)`, `cjson.decode_max_depth(3)`, `cjson.encode_invalid_numbers(true)`, `cjson.null = 1`,
	`math.randomseed(5)`, `error("x")`, `error({})`, `local function f() return 1 + f() end f()`,
	`local function f() return pcall(f) end f()`, `while true do end`, `coroutine.wrap(function() coroutine.yield() end)()`,
	`coroutine.wrap(function() while true do end end)()`, `string.rep("x", 1e10)`,
	`xpcall(function() error() end, function() error() end)`, `loadstring("x = 1")()`, `loadstring("return " .. ("("):rep(300))`,
	`collectgarbage("stop")`, `return unpack({}, 1, 7000)`, `local t = {} for i = 1, 1e5 do t[i] = i end return t`,
	`table.sort({1, 2, 3}, function() error("x") end)`, `("x"):gsub("x", function() error("x") end)`,
	`return setmetatable({}, {__gc = function() _G.x = 1 end, __mode = "k"})`, `load(function() error("x") end)`,
	`pcall(pcall, pcall, error)`, `return coroutine.create(function() end)`, `arg0 = nil`, `local t = arg0() t[1] = 5`,
	`KEYS[1] = "changed"`, `setmetatable(KEYS, {__index = function() return 1 end})`, `table.foreach(_G, function(k) _G[k] = 1 end)`,
}

func newClean() *State {
	return New(func(s *State) {
		s.globals.setString(&s.meter, "arg0", &function{native: func(th *thread, _ []value) []value {
			return th.one(th.newTable(0, 0))
		}})
	})
}

func TestStatesAreCleanAfterEachProgram(t *testing.T) {
	r := seed.Fresh(t).Rand(0)
	fresh := func(s *State) string {
		s.SetGlobal("KEYS", s.Strings(nil))
		got, err := run(t, s, nil, reachable)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := fresh(newClean())
	s := newClean()
	for range 300 {
		var body []string
		for range 1 + r.IntN(3) {
			v := vandals[r.IntN(len(vandals))]
			if r.IntN(2) == 0 {
				v = "pcall(function() " + v + " end)"
			}
			body = append(body, "do "+v+" end")
		}
		source := strings.Join(body, "\n")
		_, _ = run(t, s, &Guard{Steps: 200_000, Bytes: 16 << 20}, source)
		if got := fresh(s); got != want {
			t.Fatalf("after\n%s\n got %s\nwant %s", source, got, want)
		}
	}
}

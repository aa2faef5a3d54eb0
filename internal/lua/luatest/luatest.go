// Package luatest compares libraries of Lua with those of a real Redis.
package luatest

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/redistest"
)

// Library is a library under test and the name that scripts know it by.
type Library struct {
	Name string
	arg.Library
}

// Pair runs the same Lua here and in a redis-server.
type Pair struct {
	t         testing.TB
	libraries []Library
	conn      net.Conn
	in        *bufio.Reader
}

// NewPair starts a redis-server. The test is skipped where there is none.
func NewPair(t testing.TB, libraries ...Library) *Pair {
	conn, err := net.Dial("unix", redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &Pair{t: t, libraries: libraries, conn: conn, in: bufio.NewReader(conn)}
}

// perScript is how many cases one script holds. A compiled function of Lua has
// a limit of constants and of functions inside it, far above.
const perScript = 200

// dump is what both sides show a case's results with: types, bytes in
// hexadecimal, all bits of numbers, tables in the order of their keys.
const dump = `
local function hex(s)
  return (string.gsub(s, '.', function(c) return string.format('%02x', string.byte(c)) end))
end
local bits = rawget(_G, 'numberbits') or function(v) return hex(struct.pack('>d', v)) end
local show
local function showTable(t, depth)
  local out = {}
  for k, v in pairs(t) do out[#out+1] = show(k, depth+1)..'='..show(v, depth+1) end
  table.sort(out)
  return '{'..table.concat(out, ',')..'}'
end
show = function(v, depth)
  local kind = type(v)
  if kind == 'string' then
    if string.find(v, '[^\32-\126]') then return '0x'..hex(v) end
    return '"'..v..'"'
  elseif kind == 'number' then
    return v ~= v and 'nan' or bits(v)
  elseif kind == 'table' then
    return depth > 40 and 'deep' or showTable(v, depth)
  elseif kind == 'userdata' or kind == 'function' then
    return kind
  end
  return tostring(v)
end
local out = {}
local function keep(...)
  local text = {}
  for i = 1, select('#', ...) do text[i] = show((select(i, ...)), 0) end
  out[#out+1] = table.concat(text, ' ')
end
local function case(f) keep(pcall(f)) end
`

// Compare runs each case, the body of a Lua function, on both sides and
// reports those whose results or errors differ.
func (p *Pair) Compare(cases []string) {
	p.t.Helper()
	for len(cases) > 0 {
		n := min(len(cases), perScript)
		p.compare(cases[:n])
		cases = cases[n:]
	}
}

// maxReports is how many differences of one batch are shown.
const maxReports = 10

func (p *Pair) compare(cases []string) {
	p.t.Helper()
	var script strings.Builder
	script.WriteString(dump)
	for _, body := range cases {
		fmt.Fprintf(&script, "case(function() %s end)\n", body)
	}
	script.WriteString("return out")
	want := p.eval(script.String())
	got := p.here(script.String())
	if len(got) != len(cases) || len(want) != len(cases) {
		p.t.Fatalf("%d cases, but %d results here and %d of Redis", len(cases), len(got), len(want))
	}
	reports := 0
	for i, body := range cases {
		if got[i] != want[i] && reports < maxReports {
			reports++
			p.t.Errorf("%s\n got %s\nwant %s", short(body), short(got[i]), short(want[i]))
		}
	}
}

// short cuts what is too long to read.
func short(text string) string {
	const most = 1500
	if len(text) > most {
		return text[:most] + fmt.Sprintf("… (%d bytes)", len(text))
	}
	return text
}

// here runs a script with the libraries under test.
func (p *Pair) here(script string) []string {
	p.t.Helper()
	L := NewState(p.libraries...)
	defer L.Close()
	fn, err := L.Load(strings.NewReader(script), "user_script")
	if err != nil {
		p.t.Fatalf("compile: %v\n%s", err, script)
	}
	arg.MarkMethods(fn.Proto)
	L.Push(fn)
	if err := L.PCall(0, 1, nil); err != nil {
		p.t.Fatalf("run: %v", err)
	}
	var out []string
	table := L.Get(-1).(*glua.LTable)
	for i := 1; i <= table.Len(); i++ {
		out = append(out, table.RawGetInt(i).String())
	}
	return out
}

func init() {
	// A table takes memory for every index below its greatest one. Tests that
	// use any indexes need not be slow.
	glua.MaxArrayIndex = 1 << 18
}

// NewState returns a state with gopher-lua's own libraries and those given.
func NewState(libraries ...Library) *glua.LState {
	L := glua.NewState(glua.Options{RegistrySize: 1 << 14, RegistryMaxSize: 1 << 20})
	for _, l := range libraries {
		L.SetGlobal(l.Name, arg.OpenGopher(L, l.Library))
	}
	L.SetGlobal("numberbits", L.NewFunction(numberBits))
	return L
}

// numberBits returns the bits of a number in hexadecimal.
func numberBits(L *glua.LState) int {
	L.Push(glua.LString(fmt.Sprintf("%016x", math.Float64bits(float64(L.CheckNumber(1))))))
	return 1
}

// eval runs a script in Redis, which returns an array of strings.
func (p *Pair) eval(script string) []string {
	p.t.Helper()
	fmt.Fprintf(p.conn, "*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(script), script)
	reply, err := redistest.ReadReply(p.in)
	if err != nil {
		p.t.Fatal(err)
	}
	if reply[0] != '*' {
		p.t.Fatalf("redis-server: %s\n%s", reply, short(script))
	}
	var out []string
	rest := string(reply[strings.Index(string(reply), "\n")+1:])
	for rest != "" {
		header, body, _ := strings.Cut(rest, "\r\n")
		size, err := strconv.Atoi(strings.TrimPrefix(header, "$"))
		if err != nil {
			p.t.Fatalf("redis-server: %q", header)
		}
		out, rest = append(out, body[:size]), body[size+2:]
	}
	return out
}

// Package luatest compares Lua and its libraries with a real Redis's.
package luatest

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
	"github.com/firndb/firn/internal/redistest"
)

// Library is a library that a test adds, and the name that scripts know it by.
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

// NewPair starts a redis-server. The test is skipped where there is none. The
// libraries are added here, not there.
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
local function bits(v) return hex(struct.pack('>d', v)) end
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

// here runs a script in a state with the libraries.
func (p *Pair) here(script string) []string {
	p.t.Helper()
	chunk, err := lua.Compile("user_script", script)
	if err != nil {
		p.t.Fatalf("compile: %v\n%s", err, script)
	}
	s := lua.New(func(s *lua.State) {
		for _, l := range p.libraries {
			s.Register(l.Name, l.Library)
		}
	})
	v, err := s.Call(s.Load(chunk), nil)
	if err != nil {
		p.t.Fatalf("run: %v", err)
	}
	var out []string
	table := v.(lua.Table)
	for i := 1; table.Index(i) != val.Nil; i++ {
		out = append(out, table.Index(i).String())
	}
	return out
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

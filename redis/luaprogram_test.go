package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// luaNode is a piece of a program: a template whose holes are filled by kids,
// in their order. A hole is a $ with the letter of a kind.
type luaNode struct {
	kind byte
	text string
	kids []*luaNode
}

// luaProgram is a program as a list of statements behind a prelude, each of
// which can be left out, and what it returns.
type luaProgram struct {
	shebang    string
	statements []*luaNode
	result     *luaNode
	keys, args []string
	readOnly   bool // it is run by EVAL_RO
}

// luaPrelude declares what statements use. show renders any value, tables in
// one order of their keys: what pairs gives has none.
const luaPrelude = `local out = {}
local function show(v, d)
  if type(v) ~= 'table' then return type(v) == 'function' and 'function' or type(v):sub(1, 1) .. ':' .. tostring(v) end
  if d > 4 then return '...' end
  local all = {}
  for k, x in pairs(v) do all[#all + 1] = show(k, d + 1) .. '=' .. show(x, d + 1) end
  table.sort(all)
  return '{' .. table.concat(all, ',') .. '}'
end
local function put(...)
  for i = 1, select('#', ...) do out[#out + 1] = show((select(i, ...)), 0) end
end
local n1, n2, s1, s2, b1 = 3, -0.5, 'abc', '10', true
local t1, t2, f1, f2 = {1, 2, 3}, {k = 'v'}, function(...) return ... end, function(a, b) return b, a end
local m1 = setmetatable({}, {__index = function(t, k) return k end, __call = function(t, a) return a end,
  __add = function(a, b) return 'add' end, __concat = function(a, b) return 'cat' end, __eq = function() return true end,
  __lt = function() return true end, __le = function() return false end, __unm = function() return 'unm' end, __tostring = function() return 'm1' end})
`

// text is the program's source.
func (p *luaProgram) text() string { return p.shebang + luaPrelude + p.body() }

// body is what follows the prelude.
func (p *luaProgram) body() string {
	var b strings.Builder
	for _, s := range p.statements {
		s.write(&b)
		b.WriteByte('\n')
	}
	b.WriteString("return ")
	p.result.write(&b)
	return b.String()
}

func (n *luaNode) write(b *strings.Builder) {
	kid, rest := 0, n.text
	for {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			return
		}
		n.kids[kid].write(b)
		kid++
		rest = after[1:]
	}
}

// luaGenerator draws programs.
type luaGenerator struct {
	*rand.Rand
	commands *generator
	calls    []string // the templates of commands that a script's call may be compared of
}

// draw makes a node of a kind; small says how much may still be nested.
func (g *luaGenerator) draw(kind byte, depth int) *luaNode {
	n := &luaNode{kind: kind}
	switch kind {
	case 'c':
		n.text = g.call()
		return n
	case 'p':
		n.text = luaQuote(g.pattern())
		return n
	case 'q':
		n.text = luaQuote(g.format())
		return n
	case 'j':
		n.text = luaQuote(g.json(3))
		return n
	}
	from := luaLeaves[kind]
	if depth > 0 && (len(from) == 0 || g.IntN(5) > 0) && len(luaBranches[kind]) > 0 {
		from = luaBranches[kind]
	}
	n.text = from[g.IntN(len(from))]
	for rest := n.text; ; {
		_, after, found := strings.Cut(rest, "$")
		if !found {
			return n
		}
		n.kids = append(n.kids, g.draw(after[0], depth-1))
		rest = after[1:]
	}
}

// program draws a whole one.
func (g *luaGenerator) program() *luaProgram {
	p := &luaProgram{result: &luaNode{kind: 'v', text: "out"}}
	for range 1 + g.IntN(8) {
		p.statements = append(p.statements, g.draw('S', 1+g.IntN(4)))
	}
	if g.IntN(3) == 0 {
		p.result = g.draw('R', 1+g.IntN(4))
	}
	for range g.IntN(4) {
		p.keys = append(p.keys, string(g.commands.draw("$key")))
	}
	for range g.IntN(4) {
		p.args = append(p.args, string(g.commands.draw("$value")))
	}
	switch g.IntN(16) {
	case 0:
		p.shebang = "#!lua\n"
	case 1:
		p.shebang = "#!lua flags=no-writes\n"
	case 2:
		p.shebang = "#!lua flags=" + luaFlags[g.IntN(len(luaFlags))] + "\n"
	case 3, 4:
		p.readOnly = true
	}
	return p
}

var luaFlags = []string{"allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys", "no-writes,allow-oom", "", "nosuch", "no-writes,,"}

// call draws a call of a command, of which the words are literals or what the
// script was given.
func (g *luaGenerator) call() string {
	words := g.commands.fill(g.calls[g.IntN(len(g.calls))])
	var args []string
	for _, w := range words {
		args = append(args, luaQuote(string(w)))
	}
	if len(args) > 1 && g.IntN(6) == 0 {
		args[1] = "(KEYS[1] or 'a')"
	}
	if last := len(args) - 1; last > 1 && g.IntN(8) == 0 && !timedCommand(words) {
		args[last] = []string{"(ARGV[1] or 'b')", "n1", "s1", "1e15", "0.1", "-3"}[g.IntN(6)]
	}
	if g.IntN(40) == 0 {
		args = args[:1]
	}
	how := []string{"redis.pcall", "redis.pcall", "redis.pcall", "redis.call"}[g.IntN(4)]
	text := how + "(" + strings.Join(args, ", ") + ")"
	if g.commands.unordered[string(words[0])] > 0 {
		return "type(" + text + ")"
	}
	return text
}

// timedCommand says whether one of a command's arguments is a time from now.
func timedCommand(words [][]byte) bool {
	text := string(bytes.ToUpper(bytes.Join(words, []byte(" "))))
	return strings.Contains(text, "EX") || strings.Contains(text, "PX") || strings.Contains(text, "IDLE") || strings.Contains(text, "TIME")
}

// luaQuote is a Lua literal of any bytes.
func luaQuote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~' || c == '$':
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

var luaPatternPieces = []string{
	"a", "b", "%a", "%d", "%s", "%w", "%p", "%x", "%A", "%D", "%S", "%W", "%c", "%l", "%u", "%z", ".", "[abc]", "[^abc]", "[a-c]", "[%a_]", "[%]]", "[]]", "[^]x]",
	"(", ")", "()", "(a)", "(%w+)", "(.-)", "%1", "%b()", "%bxy", "%f[%w]", "%f[%W]", "-", "*", "+", "?", "^", "$", "%%", "%.", " ", "1", "0", "l", "o",
	"[", "%", "%f", "%b", "[a-", "[a-%]", "%2", "(((", "\x00", "\xff", "[\x00-\xff]",
}

func (g *luaGenerator) pattern() string {
	var b strings.Builder
	if g.IntN(4) == 0 {
		b.WriteByte('^')
	}
	for range g.IntN(5) {
		piece := luaPatternPieces[g.IntN(len(luaPatternPieces)-g.IntN(2)*11)]
		b.WriteString(piece)
		if g.IntN(3) == 0 {
			b.WriteByte("*+-?"[g.IntN(4)])
		}
	}
	if g.IntN(6) == 0 {
		b.WriteByte('$')
	}
	return b.String()
}

// format draws a format of string.format with some directives.
func (g *luaGenerator) format() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString([]string{"", "x", " ", "%%"}[g.IntN(4)])
		b.WriteByte('%')
		b.WriteString([]string{"", "", "", "-", "+", " ", "#", "0", "-+", "00000", "+ #0-", "      "}[g.IntN(12)])
		b.WriteString([]string{"", "", "", "5", "10", "1", "99", "100"}[g.IntN(8)])
		b.WriteString([]string{"", "", "", ".0", ".3", ".10", ".", ".99", ".100"}[g.IntN(9)])
		b.WriteByte("ddiuxXocfgGeEsssqdfgA "[g.IntN(22)])
	}
	return strings.ReplaceAll(b.String(), "%A", "%a")
}

// json draws a document, mostly a good one, whose objects have one member.
func (g *luaGenerator) json(depth int) string {
	leaves := []string{
		"1", "0", "-1", "1.5", "1e3", "1E-2", "-0", "12345678901234567890", "0.1", "true", "false", "null", `""`, `"a"`, `"\u00e9\n"`, `"\ud83d\ude00"`, `"a\/b"`, "[]", "{}",
		" 1 ", "nan", "Infinity", "-inf", "0x10", "01", "1.", ".5", "+1", `"\ud83d"`, `"\x"`, `"abc`, "[1,", "tru", "[1 2]", "{1:2}", `{"a"}`, "", "\"\x01\"", "\"\xff\"", `"\u0000"`,
	}
	switch g.IntN(3 + depth) {
	case 3:
		return fmt.Sprintf("[%s, %s]", g.json(depth-1), g.json(depth-1))
	case 4:
		return fmt.Sprintf(`{"k":%s}`, g.json(depth-1))
	case 5:
		return fmt.Sprintf(`{"%d" : [%s]}`, g.IntN(4), g.json(depth-1))
	}
	return leaves[g.IntN(len(leaves)-g.IntN(4)*5)]
}

// smaller are programs that a failing one may be reduced to, largest steps
// first.
func (p *luaProgram) smaller() (all []*luaProgram) {
	if p.shebang != "" {
		q := *p
		q.shebang = ""
		all = append(all, &q)
	}
	for i := range p.statements {
		q := *p
		q.statements = append(append([]*luaNode(nil), p.statements[:i]...), p.statements[i+1:]...)
		all = append(all, &q)
	}
	for i, s := range p.statements {
		for _, other := range s.smaller() {
			q := *p
			q.statements = append([]*luaNode(nil), p.statements...)
			q.statements[i] = other
			all = append(all, &q)
		}
	}
	for _, other := range p.result.smaller() {
		q := *p
		q.result = other
		all = append(all, &q)
	}
	return all
}

// smaller are nodes of the same kind with less in them.
func (n *luaNode) smaller() (all []*luaNode) {
	for _, kid := range n.kids {
		if kid.kind == n.kind || n.kind == 'v' || n.kind == 'R' {
			all = append(all, &luaNode{kind: n.kind, text: kid.text, kids: kid.kids})
		}
	}
	if leaves := luaLeaves[n.kind]; len(leaves) > 0 && n.text != leaves[0] && !strings.Contains(leaves[0], "$") {
		all = append(all, &luaNode{kind: n.kind, text: leaves[0]})
	}
	for i, kid := range n.kids {
		for _, other := range kid.smaller() {
			kids := append([]*luaNode(nil), n.kids...)
			kids[i] = other
			all = append(all, &luaNode{kind: n.kind, text: n.text, kids: kids})
		}
	}
	return all
}

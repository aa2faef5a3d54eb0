package lua

import (
	"bytes"
	"strings"

	"github.com/firndb/firn/internal/lua/val"
)

var stringFunctions map[string]native

func init() {
	stringFunctions = map[string]native{
		"byte":    stringByte,
		"char":    stringChar,
		"dump":    stringDump,
		"find":    func(th *thread, args []value) []value { return searchText(th, args, true) },
		"format":  stringFormat,
		"gfind":   stringGMatch,
		"gmatch":  stringGMatch,
		"gsub":    stringGSub,
		"len":     stringLen,
		"lower":   func(th *thread, args []value) []value { return mapBytes(th, args, 'A', 'Z', 0x20) },
		"match":   func(th *thread, args []value) []value { return searchText(th, args, false) },
		"rep":     stringRep,
		"reverse": stringReverse,
		"sub":     stringSub,
		"upper":   func(th *thread, args []value) []value { return mapBytes(th, args, 'a', 'z', 0x20) },
	}
}

// newText makes a string of a program, and counts it.
func newText(th *thread, s string) value {
	th.m.charge(int64(len(s)) + 16)
	return val.String(s)
}

// pieceOf is a part of a string. A short part of a long string is copied, so
// that the long one can go.
func pieceOf(th *thread, s string, from, to int) value {
	if n := to - from; n*2 < len(s) && n > 0 {
		th.m.charge(int64(n) + 16)
		return val.String(strings.Clone(s[from:to]))
	}
	th.m.charge(16)
	return val.String(s[from:to])
}

// fromEnd is a position, which counts from the end when it is negative.
func fromEnd(at, size int) int {
	if at < 0 {
		at += size + 1
	}
	return max(at, 0)
}

func stringLen(th *thread, args []value) []value {
	return th.one(number(float64(len(stringArg(th, args, 1)))))
}

func stringSub(th *thread, args []value) []value {
	s := stringArg(th, args, 1)
	from := max(fromEnd(integerArg(th, args, 2), len(s)), 1)
	to := min(fromEnd(optInteger(th, args, 3, -1), len(s)), len(s))
	if from > to {
		return th.one(val.String(""))
	}
	return th.one(pieceOf(th, s, from-1, to))
}

func stringReverse(th *thread, args []value) []value {
	s := stringArg(th, args, 1)
	th.m.charge(int64(len(s)))
	th.m.spend(int64(len(s)) >> 6)
	b := make([]byte, len(s))
	for i := range b {
		b[i] = s[len(s)-1-i]
	}
	return th.one(val.String(b))
}

// mapBytes flips bits of the bytes of a range.
func mapBytes(th *thread, args []value, low, high, flip byte) []value {
	s := stringArg(th, args, 1)
	th.m.charge(int64(len(s)) + 16)
	th.m.spend(int64(len(s)) >> 6)
	b := []byte(s)
	for i, c := range b {
		if c >= low && c <= high {
			b[i] = c ^ flip
		}
	}
	return th.one(val.String(b))
}

func stringRep(th *thread, args []value) []value {
	s, n := stringArg(th, args, 1), intArg(th, args, 2)
	if n <= 0 || s == "" {
		return th.one(val.String(""))
	}
	size := int64(len(s)) * int64(n)
	th.m.charge(size + 16)
	th.m.spend(size >> 8)
	return th.one(val.String(strings.Repeat(s, n)))
}

func stringByte(th *thread, args []value) []value {
	s := stringArg(th, args, 1)
	start := optInteger(th, args, 2, 1)
	from := fromEnd(start, len(s))
	to := fromEnd(optInteger(th, args, 3, from), len(s))
	from, to = max(from, 1), min(to, len(s))
	if from > to {
		return nil
	}
	n := to - from + 1
	if n > maxStack-len(args) {
		th.libError("stack overflow (string slice too long)")
	}
	r := make([]value, n)
	for i := range r {
		r[i] = number(float64(s[from-1+i]))
	}
	return r
}

func stringChar(th *thread, args []value) []value {
	b := make([]byte, len(args))
	for i := range args {
		c := intArg(th, args, i+1)
		if c != int(byte(c)) {
			th.argError(i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	return th.one(newText(th, string(b)))
}

func stringDump(th *thread, args []value) []value {
	functionArg(th, args, 1)
	th.libError("unable to dump given function")
	return nil
}

// searchText is string.find, or string.match.
func searchText(th *thread, args []value, find bool) []value {
	s, p := stringArg(th, args, 1), stringArg(th, args, 2)
	at := fromEnd(optInteger(th, args, 3, 1), len(s)) - 1
	at = min(max(at, 0), len(s))
	if find && (truth(argAt(args, 4)) || !strings.ContainsAny(cString([]byte(p)), "^$*+?.([%-")) {
		th.m.spend(int64(len(s)-at) >> 5)
		i := strings.Index(s[at:], p)
		if i < 0 {
			return th.one(vnil)
		}
		return th.two(number(float64(at+i+1)), number(float64(at+i+len(p))))
	}
	m := newMatcher(th, s, p)
	anchored := m.anchor()
	for {
		if end := m.from(at); end >= 0 {
			if !find {
				return m.captures(at, end, true)
			}
			r := []value{number(float64(at + 1)), number(float64(end))}
			return append(r, m.captures(at, end, false)...)
		}
		if at++; at > len(s) || anchored {
			return th.one(vnil)
		}
	}
}

func stringGMatch(th *thread, args []value) []value {
	s, p := stringArg(th, args, 1), stringArg(th, args, 2)
	at := 0
	return th.one(&function{name: "gmatch", native: func(th *thread, _ []value) []value {
		m := newMatcher(th, s, p)
		for ; at <= len(s); at++ {
			if end := m.from(at); end >= 0 {
				start := at
				if at = end; end == start {
					at++
				}
				return m.captures(start, end, true)
			}
		}
		return nil
	}, ups: []*cell{{v: val.String(s)}, {v: val.String(p)}}})
}

func stringGSub(th *thread, args []value) []value {
	s, p := stringArg(th, args, 1), stringArg(th, args, 2)
	most := optInt(th, args, 4, len(s)+1) // looked at before the third, as in Lua
	switch argAt(args, 3).Type() {
	case val.TypeNumber, val.TypeString, val.TypeFunction, val.TypeTable:
	default:
		th.argError(3, "string/function/table expected")
	}
	g := &replacer{th: th, with: args[2], m: newMatcher(th, s, p)}
	anchored := g.m.anchor()
	n, at := 0, 0
	for n < most {
		end := g.m.from(at)
		if end >= 0 {
			n++
			g.add(at, end)
		}
		switch {
		case end > at:
			at = end
		case at < len(s):
			growBytes(th, &g.out, 1)
			g.out.WriteByte(s[at])
			at++
		default:
			return g.done(s, at+1, n)
		}
		if anchored {
			break
		}
	}
	return g.done(s, at, n)
}

// replacer is a running string.gsub.
type replacer struct {
	th   *thread
	m    *matcher
	with value
	out  bytes.Buffer
}

func (g *replacer) done(s string, at, n int) []value {
	if at < len(s) {
		growBytes(g.th, &g.out, len(s)-at)
		g.out.WriteString(s[at:])
	}
	return g.th.two(newText(g.th, g.out.String()), number(float64(n)))
}

func growBytes(th *thread, b *bytes.Buffer, n int) {
	th.m.spend(1 + int64(n)>>6)
	if n > b.Available() {
		th.m.charge(int64(2*b.Cap() + n))
	}
}

// add writes what takes the place of a match.
func (g *replacer) add(at, end int) {
	var v value
	switch with := g.with.(type) {
	case *table:
		v = g.th.current().index(with, g.m.capture(0, at, end), 0, nil)
	case val.String, val.Number:
		text, _ := textOf(with)
		g.expand(text, at, end)
		return
	default:
		m := g.th.mark()
		args := append([]value(nil), g.m.captures(at, end, true)...)
		v = g.th.first(with, args...)
		g.th.release(m)
	}
	if !truth(v) {
		g.write(g.m.s[at:end])
		return
	}
	text, ok := textOf(v)
	if !ok {
		g.th.libError("invalid replacement value (a %s)", typeName(v))
	}
	g.write(text)
}

func (g *replacer) write(s string) {
	growBytes(g.th, &g.out, len(s))
	g.out.WriteString(s)
}

func (g *replacer) expand(text string, at, end int) {
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			g.write(text[i : i+1])
			continue
		}
		if i++; i >= len(text) {
			g.write("\x00")
			return
		}
		switch c := text[i]; {
		case !isDigit(c):
			g.write(text[i : i+1])
		case c == '0':
			g.write(g.m.s[at:end])
		default:
			s, _ := textOf(g.m.capture(int(c-'1'), at, end))
			g.write(s)
		}
	}
}

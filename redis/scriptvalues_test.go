package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/resp"
)

// What scripts return, and what commands reply to them, is to the byte what it
// is in Redis.

// TestRandomValuesOfScriptsAgreeWithRealRedis draws nested values of Lua, and
// compares what both reply to clients of both protocols.
func TestRandomValuesOfScriptsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	for _, proto := range []string{"2", "3"} {
		t.Run("proto="+proto, func(t *testing.T) {
			p := newCouple(t, connect(), proto, firn.Options{})
			g := luaValues{seed.Fixed(t, 1).Rand(0)}
			for range seed.Steps(t, 4_000) {
				script := fmt.Sprintf("redis.setresp(%d) local n = tonumber(ARGV[1]) return %s", 2+g.IntN(2), g.value(4))
				p.ask(t, []byte("EVAL"), []byte(script), []byte("0"), []byte("0"))
			}
		})
	}
}

// luaValues draws values as Lua writes them. n is a variable with 0.
type luaValues struct{ *rand.Rand }

func (g luaValues) one(of ...string) string { return of[g.IntN(len(of))] }

// value is a value of up to so many levels.
func (g luaValues) value(levels int) string {
	switch n := g.IntN(12); {
	case n == 0:
		return g.one("true", "false", "nil", "nil", "redis.call", "coroutine.create(function() end)", "function() end")
	case n < 4:
		return g.number()
	case n < 6 || levels == 0:
		return g.text()
	case n < 9:
		return g.array(levels)
	}
	return g.named(levels)
}

func (g luaValues) number() string {
	if g.IntN(3) == 0 {
		return fmt.Sprintf("%d", int64(g.Uint64())>>g.IntN(64))
	}
	return g.one("0", "1", "-1", "3.99", "-3.99", "1e15", "1e17", "2^53", "2^53+1", "-2^53", "2^62", "2^63", "-2^63", "1e300", "-1e300", "1/3", "0.1",
		"-1e-7", "1e-320", "n/n", "-(n/n)", "1/(n+0)", "-1/(n+0)", "123456789.5", "4294967296", "1e18", "9007199254740993")
}

// text is a string with what could end a line, or a string of C.
func (g luaValues) text() string {
	var b strings.Builder
	b.WriteByte('\'')
	for range g.IntN(6) {
		b.WriteString(g.one("a", "ERR ", " ", "-", "MINE x", "\\r", "\\n", "\\r\\n", "\\0", "\\255", "+OK", ":1", "txt", "é", "$5"))
	}
	b.WriteByte('\'')
	return b.String()
}

func (g luaValues) array(levels int) string {
	var parts []string
	for range g.IntN(5) {
		parts = append(parts, g.value(levels-1))
	}
	for range g.IntN(6) / 4 {
		parts = append(parts, fmt.Sprintf("[%s]=%s", g.one("0", "-1", "1.5", "'x'", "true", "7"), g.value(levels-1)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// named is a table with fields that say what it is, or look as if they did.
func (g luaValues) named(levels int) string {
	var fields []string
	for range 1 + g.IntN(5)/4 {
		name := g.one("ok", "err", "double", "big_number", "verbatim_string", "map", "set")
		v := g.fitting(name, levels)
		if g.IntN(5) == 0 {
			v = g.one(g.text(), g.number(), "true", "nil", "redis.call")
		}
		fields = append(fields, name+"="+v)
	}
	if g.IntN(6) == 0 {
		fields = append(fields, g.value(levels-1), "ignore_error_stats_update=true")
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func (g luaValues) fitting(name string, levels int) string {
	switch name {
	case "double":
		return g.number()
	case "verbatim_string":
		return fmt.Sprintf("{format=%s,string=%s}", g.text(), g.text())
	case "map":
		return g.members(func() string { return g.value(levels - 1) })
	case "set":
		return g.members(func() string { return g.one("true", "1") })
	}
	return g.text()
}

// members is a table of one member with any key, or of several whose order
// depends on what they are.
func (g luaValues) members(value func() string) string {
	if g.IntN(3) == 0 {
		return fmt.Sprintf("{[%s]=%s}", g.one("{1,2}", "{ok='x'}", "redis.call"), value())
	}
	var members []string
	for range 1 + g.IntN(6) {
		members = append(members, fmt.Sprintf("[%s]=%s", g.key(), value()))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// key is a value that a table may have as a key.
func (g luaValues) key() string {
	return g.one("1", "2", "3", "2.5", "'k'", "''", "'field'", "'another'", "true", "false", "-0.5", "1e10", g.text(), g.text())
}

// TestRepliesOfReadsAreTheSameThroughScripts: what a read replies is what a
// script returns that calls it, but for what Lua cannot tell apart.
func TestRepliesOfReadsAreTheSameThroughScripts(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		t.Run("proto="+proto, func(t *testing.T) {
			o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
			o.tell(t, []byte("HELLO"), []byte(proto))
			g := newGenerator(t)
			templates := strings.Split(g.reads+"\n"+g.ownReads, "\n")
			asked := map[string]int{}
			for range seed.Steps(t, 6_000) {
				if words := g.command(); g.IntN(2) == 0 && !g.fleeting && !isTransaction(words[0]) {
					o.tell(t, words...)
				}
				template := templates[g.IntN(len(templates))]
				if words := g.fill(template); template != "" && sameThroughScript(t, o, proto, words) {
					asked[string(words[0])]++
				}
			}
			if len(asked) < 50 {
				t.Errorf("got %d commands whose replies were compared, want 50 and more: %v", len(asked), asked)
			}
		})
	}
}

func isTransaction(name []byte) bool {
	return slices.Contains([]string{"MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH", "SELECT", "SWAPDB"}, string(name))
}

// sameThroughScript compares a command's reply with that of a script that calls
// it; false if they could not be the same.
func sameThroughScript(t *testing.T, o *ours, proto string, words [][]byte) bool {
	t.Helper()
	const attempts = 5 // at least one pair is of one millisecond, which replies tell
	script := "redis.setresp(" + proto + ") return redis.pcall(unpack(ARGV))"
	var got, want []byte
	for range attempts {
		if want = o.tell(t, words...); !throughLua(want, proto) {
			return false
		}
		got = o.tell(t, append([][]byte{[]byte("EVAL"), []byte(script), []byte("0")}, words...)...)
		want = bytes.ReplaceAll(want, []byte("*-1\r\n"), []byte("$-1\r\n")) // both are false
		if bytes.Equal(got, want) || hashed(t, got) == hashed(t, want) {
			return true
		}
	}
	t.Fatalf("%s\n got %.2000q\nwant %.2000q", quoteWords(words), got, want)
	return false
}

// hashed is a reply whose maps and sets have been in a table of Lua: they have
// lost their order.
func hashed(t *testing.T, reply []byte) string {
	t.Helper()
	v, _, err := parseValue(reply)
	if err != nil {
		t.Fatal(err)
	}
	return v.hashed()
}

func (v value) hashed() string {
	var parts []string
	for i, e := range v.elements {
		if v.mark == '%' && i%2 == 1 {
			parts[i/2] += e.hashed()
		} else {
			parts = append(parts, e.hashed())
		}
	}
	if v.mark == '%' || v.mark == '~' {
		slices.Sort(parts)
	}
	return fmt.Sprintf("%c%t%q%s", v.mark, v.null, v.text, parts)
}

// throughLua says whether Lua can hold a reply as it is: a null in an array of
// protocol 3 ends it, numbers have 53 bits, and coordinates more digits.
func throughLua(reply []byte, proto string) bool {
	v, rest, err := parseValue(reply)
	return err == nil && len(rest) == 0 && holds(v, proto)
}

func holds(v value, proto string) bool {
	for _, e := range v.elements {
		if e.null && proto == "3" || !holds(e, proto) {
			return false
		}
	}
	switch v.mark {
	case ':':
		return len(v.text) < 16
	case ',':
		f, ok := resp.ParseDouble([]byte(v.text))
		return ok && string(resp.AppendDouble(nil, f)) == v.text
	}
	return true
}

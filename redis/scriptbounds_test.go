package redis

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/scripting"
)

// Replies of scripts end: in depth where Redis's end, and in size.

// TestDeepRepliesOfScriptsAgreeWithRealRedis: tables in tables are replied up to
// the depth at which C Lua's stack is full, which depends on what they are.
func TestDeepRepliesOfScriptsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	levels := []string{"{t}", "{1,t}", "{map={a=t}}", "{map={[t]=1}}", "{set={[t]=1}}", "{ok=1,t}"}
	for _, proto := range []string{"2", "3"} {
		p := newCouple(t, connect(), proto, firn.Options{})
		draw, full := seed.Fixed(t, 1).Rand(0), 0
		ask := func(level string, n int) {
			script := fmt.Sprintf("local t = {} for i=1,%d do t = %s end return t", n, level)
			words := [][]byte{[]byte("EVAL"), []byte(script), []byte("0")}
			reply := p.mine.tell(t, words...)
			if bytes.Contains(reply, []byte("-ERR reached lua stack limit\r\n")) {
				full++
			}
			p.note(words)
			p.compare(t, words, reply, p.redis.tell(t, words...))
		}
		for i, level := range levels {
			slots := []int{1, 1, 3, 4, 3, 1}[i]
			for n := (maxDepth-2)/slots - 1; n < maxDepth/slots+1; n++ {
				ask(level, n)
			}
		}
		for range 5 {
			ask(levels[draw.IntN(len(levels))], draw.IntN(maxDepth+10))
		}
		if full < len(levels) {
			t.Errorf("proto %s: got %d replies that are too deep, want more", proto, full)
		}
	}
}

// maxDepth is how deep arrays in arrays are before Redis's stack is full.
const maxDepth = 7996

// TestRepliesOfScriptsAreBounded: a table that holds others twice has a reply
// without end, which Redis makes until its memory is full.
func TestRepliesOfScriptsAreBounded(t *testing.T) {
	o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	const large = "-ERR script's reply is larger than script-max-memory\r\n"
	for _, script := range []string{
		"local t = {} for i=1,40 do t = {t,t} end return t",
		"local t = {} for i=1,40 do t = {map={a=t,b=t}} end return t",
	} {
		if got := string(o.tell(t, []byte("EVAL"), []byte(script), []byte("0"))); got != large {
			t.Errorf("%s\n got %.100q\nwant %q", script, got, large)
		}
	}
}

// TestErrorsThatRedisDiesOf: these raise what has no text, which ends a real
// server.
func TestErrorsThatRedisDiesOf(t *testing.T) {
	o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	for _, script := range []string{"error({})", "error({ok='x'})", "error({err={}})", "error({err=true})", "error(setmetatable({},{__index=error}))"} {
		got := string(o.tell(t, []byte("EVAL"), []byte(script), []byte("0")))
		if !strings.HasPrefix(got, "-ERR unknown error") {
			t.Errorf("%s: got %q", script, got)
		}
	}
}

// TestWhatIsHeldForScriptsIsBounded: what a script writes stays in memory until it
// is committed, and so does what MONITOR and CLIENT TRACKING are to be told.
func TestWhatIsHeldForScriptsIsBounded(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	o := newOurs(t, srv)
	o.ask(t, "HELLO 3")
	o.ask(t, "CONFIG SET script-max-memory 1048576")
	held, _ := wire(scripting.ErrHeld)
	ends := "-" + held + "\r\n"
	o.bounded(t, ends, "many elements", "for i=1,1e5 do redis.call('SADD','s',i) end")
	o.bounded(t, ends, "long strings of short commands", "for i=1,8 do redis.call('SETRANGE','k'..i,1000000,'x') end")
	o.bounded(t, ends, "caught", "for i=1,1e5 do pcall(redis.call,'RPUSH','l',i) end")
	o.bounded(t, "_\r\n", "one key again and again", "for i=1,2e4 do redis.call('SET','k',i) end redis.call('DEL','k')")
	o.ask(t, "MULTI")
	for range 3 {
		o.ask(t, `EVAL "for i=1,4000 do redis.call('RPUSH','l',i) end" 0`)
	}
	if got := string(o.tell(t, []byte("EXEC"))); got != ends {
		t.Errorf("scripts that write much together: got %q, want %q", got, ends)
	}
	o.ask(t, "CLIENT TRACKING ON")
	o.bounded(t, ends, "reads that are tracked", "for i=1,1e5 do redis.call('GET','k') end")
	o.ask(t, "CLIENT TRACKING OFF")
	newOurs(t, srv).ask(t, "MONITOR")
	o.bounded(t, ends, "lines of MONITOR", "for i=1,1e5 do redis.pcall('LPOP','k') end")
	if got := o.ask(t, "DBSIZE"); got != "(integer) 0" {
		t.Errorf("DBSIZE: got %q, want none", got)
	}
}

// bounded runs a script and looks at its reply.
func (o *ours) bounded(t *testing.T, want, name, script string) {
	t.Helper()
	if got := string(o.tell(t, []byte("EVAL"), []byte(script), []byte("0"))); got != want {
		t.Errorf("%s:\n got %.200q\nwant %q", name, got, want)
	}
}

package redis

// The rule: a script that reads replies at a moment what it replied then, in a
// real Redis, whichever way the moment is asked for.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// pastScripts take the words of commands, with a bar between them.
var pastScripts = []string{
	followScript,
	`local all, words = {}, {} for i, w in ipairs(ARGV) do if w == '|' then all[#all + 1] = redis.pcall(unpack(words)) words = {} else words[#words + 1] = w end end ` +
		`local last = redis.pcall(unpack(words)) return {#all, all, last}`,
	`redis.setresp(3) local n = 0 for i, k in ipairs({'a', 'b', 'c', 'd', 'own2', 'two3'}) do if redis.pcall('EXISTS', k) == 1 then n = n + #redis.pcall('TYPE', k).ok end end return {double = n / 4}`,
	`local names = redis.pcall('KEYS', '*') table.sort(names) return {#names, names}`,
}

// scriptQuestion is a script that asks some commands. In Redis PFCOUNT writes, as
// far as scripts are concerned, and here it reads.
func (g *generator) scriptQuestion(templates []string) [][]byte {
	words := [][]byte{[]byte("EVAL_RO"), []byte(pastScripts[g.IntN(len(pastScripts))]), []byte("0")}
	for i := range 1 + g.IntN(4) {
		command := g.fill(templates[g.IntN(len(templates))])
		for g.unordered[string(command[0])] > 0 || string(command[0]) == "PFCOUNT" {
			command = g.fill(templates[g.IntN(len(templates))])
		}
		if i > 0 {
			words = append(words, []byte("|"))
		}
		words = append(words, command...)
	}
	return words
}

func TestRandomScriptsAtAMomentReplyWhatRealRedisReplied(t *testing.T) {
	connect := startRedis(t)
	for name, o := range coldOptions {
		if testing.Short() && name != "both" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p, redis := newCouple(t, connect(), "3", o), connect()
			redis.tell(t, []byte("HELLO"), []byte("3"))
			templates := strings.Split(p.g.reads, "\n")
			var asked []question
			for range seed.Steps(t, 10_000) / 20 {
				p.step(t)
				q := p.inquire(t, redis, templates)
				q.words = p.g.scriptQuestion(templates)
				q.inDB(t, redis)
				q.reply = redis.tell(t, q.words...)
				asked = append(asked, q)
			}
			p.finish(t)
			p.g.agree(t, asked, newThird(t, p))
		})
	}
}

// TestScriptsOfThePast: by name, under ASOF, in MULTI, and where the past is
// forgotten.
func TestScriptsOfThePast(t *testing.T) {
	o := newOurs(t, New(openStore(t, coldOptions["both"]), Options{}))
	o.Run(t, "SET k 1", "RPUSH l a b")
	then := o.lastTS(t)
	o.Run(t, "SET k 2", "DEL l", "SET other 1")
	const script = `"return {redis.pcall('GET', 'k'), redis.pcall('LRANGE', 'l', 0, -1), redis.pcall('TIME')[1] + 0 > 1}"`
	const before, now = "*3\r\n$1\r\n1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n:1\r\n", "*3\r\n$1\r\n2\r\n*0\r\n:1\r\n"
	Check(t, "now", o.Run(t, "EVAL_RO "+script+" 0"), now)
	Check(t, "AT", o.Run(t, "AT "+then+" EVAL_RO "+script+" 0"), before)
	sha := strings.TrimSpace(strings.TrimPrefix(o.Run(t, "SCRIPT LOAD "+script), "$40\r\n"))
	Check(t, "AT EVALSHA_RO", o.Run(t, "AT "+then+" EVALSHA_RO "+sha+" 0"), before)
	if got := o.Run(t, "AT "+then+" EVAL "+script+" 0"); !strings.HasPrefix(got, "-") {
		t.Errorf("AT EVAL: got %q, want an error", got)
	}
	Check(t, "ASOF", o.Run(t, "CLIENT ASOF "+then, "EVAL_RO "+script+" 0"), "+OK\r\n"+before)
	if got := o.Run(t, `EVAL "return redis.pcall('SET', 'k', 3)" 0`); !strings.HasPrefix(got, "-READONLY") {
		t.Errorf("EVAL under ASOF: got %q, want READONLY", got)
	}
	Check(t, "MULTI under ASOF", o.Run(t, "MULTI", "EVAL_RO "+script+" 0", "GET k", "EXEC"), "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n"+before+"$1\r\n1\r\n")
	Check(t, "ASOF OFF", o.Run(t, "CLIENT ASOF OFF", "EVAL_RO "+script+" 0"), "+OK\r\n"+now)
	Check(t, "MULTI", o.Run(t, "MULTI", "AT "+then+" EVAL_RO "+script+" 0", "EXEC"), "+OK\r\n+QUEUED\r\n*1\r\n"+before)
	if _, err := o.Store.Prune(t.Context(), o.Store.Bounds().Newest); err != nil {
		t.Fatal(err)
	}
	if got := o.Run(t, "AT "+then+" EVAL_RO "+script+" 0"); !strings.HasPrefix(got, "-COMPACTED oldest readable timestamp is ") {
		t.Errorf("below the horizon: got %q, want COMPACTED", got)
	}
}

// TestScriptsMeetWhatIsForgotten: a key whose past is gone is COMPACTED inside a
// script too, and never taken for one that was not there; with PARTIAL it is
// left out of walks.
func TestScriptsMeetWhatIsForgotten(t *testing.T) {
	o := newOurs(t, New(openStore(t, coldOptions["both"]), Options{}))
	o.Run(t, "SET short 1", "SET long 1")
	then := o.lastTS(t)
	o.Run(t, "DEL short", "SET long 2")
	if got := o.Run(t, "HISTORY CLEAR short"); got[0] == '-' {
		t.Fatalf("HISTORY CLEAR: %q", got)
	}
	get := func(key string) string {
		return fmt.Sprintf(`AT %s EVAL_RO "return redis.pcall('GET', '%s')" 0`, then, key)
	}
	Check(t, "a key with a past", o.Run(t, get("long")), "$1\r\n1\r\n")
	plain := o.Run(t, "AT "+then+" GET short")
	if got := o.Run(t, get("short")); !strings.HasPrefix(plain, "-COMPACTED") || !strings.HasPrefix(got, strings.TrimSpace(plain)) {
		t.Errorf("a key without: got %q, want COMPACTED as without a script, %q", got, plain)
	}
	keys := ` EVAL_RO "local names = redis.pcall('KEYS', '*') table.sort(names) return names" 0`
	if got := o.Run(t, "AT "+then+keys); !strings.HasPrefix(got, "-COMPACTED") {
		t.Errorf("KEYS: got %q, want COMPACTED", got)
	}
	Check(t, "KEYS with PARTIAL", o.Run(t, "AT "+then+" PARTIAL"+keys), "*1\r\n$4\r\nlong\r\n")
}

package redis

// The rule: a script that is followed is woken by what the commands that it
// calls are woken by, and by nothing else; what depends on no commit is refused
// inside of it, too.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/live"
)

// Scripts that run the commands in their arguments, one after the other or one
// if another says that there is something.
const (
	followScript = `local all, words = {}, {} for i, w in ipairs(ARGV) do if w == '|' then all[#all + 1] = redis.pcall(unpack(words)) words = {} else words[#words + 1] = w end end ` +
		`all[#all + 1] = redis.pcall(unpack(words)) return all`
	followIf      = `if redis.call('EXISTS', KEYS[1]) == 1 then return redis.pcall(unpack(ARGV)) end return 'none'`
	followSHA     = "1023e24d665c2c19f0bbb17860c8e1da598ec9dc"
	followLibrary = "#!lua name=follow\nredis.register_function{function_name='follow', callback=function(KEYS, ARGV) " + followScript + " end, flags={'no-writes'}}"
)

// followQuery draws the arguments of a command that can be followed; nil: there
// is nothing to draw them from.
func followQuery(name string) func(*followGrammar) string {
	switch name {
	case "eval_ro":
		return func(g *followGrammar) string {
			if g.IntN(2) == 0 {
				return `"` + followIf + `" 1 ` + g.any() + " " + g.called()
			}
			return `"` + followScript + `" 0 ` + g.called() + " | " + g.called()
		}
	case "evalsha_ro":
		return func(g *followGrammar) string {
			return followSHA + " 0 " + g.called() + " | " + g.called() + " | " + g.called()
		}
	case "fcall_ro":
		return func(g *followGrammar) string {
			if g.IntN(4) == 0 {
				return "words 0"
			}
			return "follow 0 " + g.called() + " | " + g.called()
		}
	}
	return followQueries[name]
}

// called draws a command for a script to call.
func (g *followGrammar) called() string {
	names := make([]string, 0, len(followQueries))
	for name := range followQueries {
		if name != "lolwut" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	name := names[g.IntN(len(names))]
	return strings.ToUpper(strings.ReplaceAll(name, "|", " ")) + " " + followQueries[name](g)
}

// loadFollowed has the rig's server know the scripts that are followed by name.
func (r *followRig) loadFollowed(t testing.TB) {
	t.Helper()
	Check(t, "SCRIPT LOAD", string(r.tell(t, []byte("SCRIPT"), []byte("LOAD"), []byte(followScript))), "$40\r\n"+followSHA+"\r\n")
	r.tell(t, []byte("FUNCTION"), []byte("LOAD"), []byte(followLibrary))
}

// TestScriptsAreNotWokenByWhatTheirCommandsAreNot: each query that knows what it
// depends on knows it inside a script as well.
func TestScriptsAreNotWokenByWhatTheirCommandsAreNot(t *testing.T) {
	r := newFollowRig(t, 0)
	drawn := seed.Fresh(t).Rand(1)
	for _, e := range followable(r.srv) {
		for _, tt := range exactQueries[e.Full] {
			r.tell(t, []byte("FLUSHALL"))
			for _, text := range exactState {
				r.tell(t, SplitWords(t, text)...)
			}
			r.matched(t)
			q := r.follow(t, 0, `EVAL_RO "return redis.call(unpack(ARGV))" 0 `+strings.ToUpper(e.Full)+" "+tt.query)
			if strings.Contains(q.reply, "ERR") {
				t.Fatalf("%s replied %q, which shows nothing", q.text, q.reply)
			}
			quiet := slices.Clone(tt.quiet)
			drawn.Shuffle(len(quiet), func(i, j int) { quiet[i], quiet[j] = quiet[j], quiet[i] })
			for _, text := range quiet {
				r.tell(t, SplitWords(t, text)...)
				r.matched(t)
				if q.stale.Load() {
					t.Errorf("%s: woken by %s (in %q)", q.text, text, quiet)
					break
				}
			}
			q.stop()
		}
	}
}

func TestScriptsAreFollowed(t *testing.T) {
	srv, l, w := newLivePair(t)
	w.Run(t, "SET a 1", "SET b 2", "HSET h f 1 g 2")
	const sum = `EVAL_RO "return redis.call('GET', KEYS[1]) + redis.call('GET', KEYS[2])" 2 a b`
	Check(t, "first replies", l.Run(t, "LIVE sum "+sum, `LIVE f EVAL_RO "return redis.call('HGET', 'h', 'f')" 0`), ":3\r\n$1\r\n1\r\n")
	w.Run(t, "SET b 5")
	p := l.expectPush(t, "sum", "6")
	Check(t, "AT the push's moment", w.Run(t, "AT "+p.ts+" "+sum), ":6\r\n")
	Check(t, "AT before it", w.Run(t, "AT "+p.token+" "+sum, "AT 0 "+sum)[:4], ":6\r\n")
	before := srv.LiveStats().Evaluations
	w.Run(t, "HSET h g 3", "SET other 1", "HSET h f 7")
	l.expectPush(t, "f", "7")
	if got := srv.LiveStats().Evaluations - before; got != 1 {
		t.Errorf("writes of which one concerns a script: %d evaluations, want 1", got)
	}
	w.Run(t, "SET a x")
	got := l.nextPush(t)
	if got.id != "sum" || !strings.HasPrefix(got.reply, "(error) ") {
		t.Errorf("a script that fails now: got %+v, want the error that ends it", got)
	}
}

func TestClientsShareTheEvaluationOfAScript(t *testing.T) {
	srv, l, w := newLivePair(t)
	other := &liveOurs{ours: newOurs(t, srv)}
	const script = `LIVE a EVAL_RO "return redis.call('GET', KEYS[1])" 1 k`
	Check(t, "first", l.Run(t, script), "_\r\n")
	other.Run(t, "HELLO 3")
	Check(t, "second", other.Run(t, script), "_\r\n")
	if got := srv.LiveStats().Queries; got != 1 {
		t.Errorf("queries: got %d, want 1", got)
	}
	before := srv.LiveStats().Evaluations
	w.Run(t, "SET k v")
	l.expectPush(t, "a", "v")
	other.expectPush(t, "a", "v")
	if got := srv.LiveStats().Evaluations - before; got != 1 {
		t.Errorf("evaluations of a script that two follow: got %d, want 1", got)
	}
}

func TestScriptsResume(t *testing.T) {
	_, l, w := newLivePair(t)
	const script = ` EVAL_RO "return redis.call('LRANGE', KEYS[1], 0, -1)" 1 k`
	w.Run(t, "RPUSH k 1")
	token := tokenOf(t, w, w.lastTS(t))
	Check(t, "unchanged", l.Run(t, "LIVE a RESUME "+token+script), "+UNCHANGED\r\n")
	w.Run(t, "RPUSH k 2")
	l.expectPush(t, "a", "*[1 2]")
	Check(t, "changed", l.Run(t, "UNLIVE a", "LIVE a RESUME "+token+script), ":1\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n")
}

// TestFunctionsAreFollowed, and so is who replaces them.
func TestFunctionsAreFollowed(t *testing.T) {
	_, l, w := newLivePair(t)
	load := func(body string) {
		t.Helper()
		library := "#!lua name=lib\nredis.register_function{function_name='f', flags={'no-writes'}, callback=function(keys) " + body + " end}"
		Check(t, "FUNCTION LOAD", string(w.tell(t, []byte("FUNCTION"), []byte("LOAD"), []byte("REPLACE"), []byte(library))), "$3\r\nlib\r\n")
	}
	load("return redis.call('GET', keys[1])")
	w.Run(t, "SET k 1")
	Check(t, "first reply", l.Run(t, "LIVE a FCALL_RO f 1 k"), "$1\r\n1\r\n")
	w.Run(t, "SET k 2")
	then := l.expectPush(t, "a", "2").ts
	load("return 'not ' .. redis.call('GET', keys[1])")
	l.expectPush(t, "a", "not 2")
	w.Run(t, "SET k 3")
	l.expectPush(t, "a", "not 3")
	Check(t, "AT", w.Run(t, "AT "+then+" FCALL_RO f 1 k"), "$1\r\n2\r\n")
	Check(t, "ASOF", w.Run(t, "CLIENT ASOF "+then, "FCALL_RO f 1 k", "CLIENT ASOF OFF"), "+OK\r\n$1\r\n2\r\n+OK\r\n")
	w.Run(t, "FUNCTION DELETE lib")
	if p := l.nextPush(t); p.id != "a" || p.reply != "(error) ERR Function not found" {
		t.Errorf("the function is gone: got %+v, want the error that ends it", p)
	}
}

// TestScriptsThatNoCommitWakesAreRefused, in the words of the command that is
// to blame.
func TestScriptsThatNoCommitWakesAreRefused(t *testing.T) {
	_, l, w := newLivePair(t)
	w.Run(t, "SET k v")
	for command, want := range map[string]string{
		"'TIME'":          "'time' is not a read of keys: LIVE runs nothing else",
		"'RANDOMKEY'":     "the reply of 'randomkey' depends on chance, a cursor or the clock: LIVE could not tell when it changes",
		"'TTL', 'k'":      "the reply of 'ttl' depends on chance, a cursor or the clock: LIVE could not tell when it changes",
		"'SCAN', 0":       "the reply of 'scan' depends on chance, a cursor or the clock: LIVE could not tell when it changes",
		"'SELECT', 1":     "'select' is not a read of keys: LIVE runs nothing else",
		"'SET', 'k', 'w'": "Write commands are not allowed from read-only scripts.",
	} {
		got := l.Run(t, `LIVE a EVAL_RO "return redis.call(`+command+`)" 0`)
		if !strings.HasPrefix(got, "-ERR "+want) {
			t.Errorf("a script that calls %s: got %q, want ERR %s", command, got, want)
		}
	}
	if got := l.Run(t, `LIVE a EVAL "return 1" 0`); !strings.HasPrefix(got, "-ERR 'eval' is not a read of keys") {
		t.Errorf("EVAL: got %q", got)
	}
	if got := l.Run(t, "LIVE a EVALSHA_RO ffffffffffffffffffffffffffffffffffffffff 0"); !strings.HasPrefix(got, "-NOSCRIPT") {
		t.Errorf("an unknown script: got %q", got)
	}
	Check(t, "LIVE LIST", l.Run(t, "LIVE LIST"), "*0\r\n")
}

// TestEndlessScriptsAreNotFollowed: at once, or when they become so.
func TestEndlessScriptsAreNotFollowed(t *testing.T) {
	_, l, w := newLivePair(t)
	began := time.Now()
	want := "ERR the script takes longer than two seconds, which is the most that LIVE gives one"
	Check(t, "LIVE", l.Run(t, `LIVE a EVAL_RO "while true do pcall(redis.call, 'GET', 'k') end" 0`), "-"+want+"\r\n")
	if took := time.Since(began); took < live.ScriptTime {
		t.Errorf("it ended after %v, which is before %v", took, live.ScriptTime)
	}
	Check(t, "LIVE", l.Run(t, `LIVE a EVAL_RO "if redis.call('GET', 'k') == 'on' then while true do end end return 0" 0`, "LIVE b GET k"), ":0\r\n_\r\n")
	w.Run(t, "SET k on")
	l.expectPush(t, "b", "on")
	l.expectPush(t, "a", "(error) "+want)
}

// TestScriptsHaveTheRightsOfTheirFollowers, also when these change.
func TestScriptsHaveTheRightsOfTheirFollowers(t *testing.T) {
	_, l, w := newLivePair(t)
	w.Run(t, "ACL SETUSER u on nopass ~k ~j +get +live +unlive +auth +hello +eval_ro", "SET k 1", "SET secret x")
	const refused = "NOPERM this user has no permissions to access one of the keys used as arguments"
	script := func(key string) string { return fmt.Sprintf(`EVAL_RO "return redis.call('GET', '%s')" 0`, key) }
	Check(t, "AUTH", l.Run(t, "AUTH u x"), "+OK\r\n")
	if got := l.Run(t, "LIVE s "+script("secret")); !strings.Contains(got, "No permissions to access a key") && !strings.Contains(got, refused) {
		t.Errorf("a key without a right to it: got %q", got)
	}
	Check(t, "a key with it", l.Run(t, "LIVE k "+script("k")), "$1\r\n1\r\n")
	w.Run(t, "ACL SETUSER u resetkeys ~j")
	if p := l.nextPush(t); p.id != "k" || !strings.HasPrefix(p.reply, "(error) ") {
		t.Errorf("the right is gone: got %+v, want the error that ends it", p)
	}
}

package redis

// The rule: a script is the transaction that its commands are in MULTI and EXEC:
// the same data, the same events in the same order, the same that other clients
// are told, one timestamp.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/command"
)

// runAll is a script that runs the commands in its arguments, whatever comes of
// them.
const runAll = `local words = {} for i, w in ipairs(ARGV) do if w == '|' then redis.pcall(unpack(words)) words = {} else words[#words + 1] = w end end ` +
	`redis.pcall(unpack(words)) return redis.status_reply('OK')`

// observed is a server, a client that writes, and others that are told of it.
type observed struct {
	writer           *ours
	events, tracking *ours
	asker            *ours
}

func newObserved(t *testing.T, clock *fakeClock) *observed {
	srv := New(openStore(t, firn.Options{Durability: firn.None, Now: clock.now}), Options{Now: clock.now})
	o := &observed{writer: newOurs(t, srv), events: newOurs(t, srv), tracking: newOurs(t, srv), asker: newOurs(t, srv)}
	o.writer.Run(t, "CONFIG SET notify-keyspace-events KEA")
	o.events.Run(t, "HELLO 3", "PSUBSCRIBE __key*")
	o.tracking.Run(t, "HELLO 3", "CLIENT TRACKING ON BCAST")
	return o
}

// told is what the others have been told since the last time.
func (o *observed) told(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("events:\n%s\ntracking:\n%s", pushedLines(o.events.take(t)), pushedLines(o.tracking.take(t)))
}

// pushedLines shows pushes, one a line.
func pushedLines(b []byte) string {
	var lines []string
	for len(b) > 0 {
		v, rest, err := parseValue(b)
		if err != nil {
			return fmt.Sprintf("%q: %v", b, err)
		}
		lines, b = append(lines, fmt.Sprintf("%q", oneLine(v))), rest
	}
	return strings.Join(lines, "\n")
}

// transactionCommand draws a command that can be in a script and in MULTI, and
// whose effect does not depend on chance.
func transactionCommand(g *generator, commands *command.Registry) [][]byte {
	for {
		words := g.fill(g.lines[g.IntN(len(g.lines))])
		name := string(words[0])
		e, _, err := commands.Resolve(words)
		switch {
		case err != nil || e.Flags&(command.NoScript|command.NoMulti|command.Admin) != 0:
		case strings.Contains(name, "RAND") || name == "SPOP" || name == "SELECT" || notInPrograms[name] && name != "FLUSHDB":
		case e.Flags&command.Writes == 0 || string(words[len(words)-1]) == "|":
		default:
			return words
		}
	}
}

func TestRandomScriptsAreTheTransactionOfTheirCommands(t *testing.T) {
	clock := newFakeClock()
	g := newGenerator(t)
	for i, line := range g.lines {
		if times, template, ok := strings.Cut(line, "* "); ok && times[0] <= '9' {
			g.lines[i] = template
		}
	}
	script, multi := newObserved(t, clock), newObserved(t, clock)
	commands := script.writer.session.Server().commands
	keys, wrote := 0, 0
	for step := range seed.Steps(t, 10_000) / 10 {
		clock.advance(time.Second)
		eval := [][]byte{[]byte("EVAL"), []byte(runAll), []byte("0")}
		var all [][][]byte
		for i := range 1 + g.IntN(6) {
			words := transactionCommand(g, commands)
			if i > 0 {
				eval = append(eval, []byte("|"))
			}
			eval, all = append(eval, words...), append(all, words)
		}
		if got := string(script.writer.tell(t, eval...)); got != "+OK\r\n" {
			t.Fatalf("seed %d, step %d: %s\n replied %q", g.seed, step, quoteWords(eval), got)
		}
		multi.writer.Run(t, "MULTI")
		for _, words := range all {
			multi.writer.tell(t, words...)
		}
		multi.writer.Run(t, "EXEC")
		got, want := script.told(t), multi.told(t)
		wrote += strings.Count(want, "\n") - 2
		if step%10 == 0 {
			got, want = got+allData(t, script.asker), want+allData(t, multi.asker)
			keys += strings.Count(want, "\n")
		}
		if got != want {
			t.Fatalf("seed %d, step %d: %s\n got %s\nwant, as in MULTI, %s", g.seed, step, quoteWords(eval), got, want)
		}
	}
	if keys == 0 || wrote < 100 {
		t.Errorf("%d lines of data and %d pushes: too little to say anything", keys, wrote)
	}
}

func TestAScriptIsOneTransaction(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	o, other := newOurs(t, srv), newOurs(t, srv)
	Check(t, "it reads what it wrote",
		o.Run(t, `EVAL "redis.call('SET', 'a', 1) redis.call('INCR', 'a') redis.call('RPUSH', 'l', redis.call('GET', 'a')) return {redis.call('GET', 'a'), redis.call('LRANGE', 'l', 0, -1), redis.call('DBSIZE')}" 0`),
		"*3\r\n$1\r\n2\r\n*1\r\n$1\r\n2\r\n:2\r\n")
	ts := o.lastTS(t)
	for _, key := range []string{"a", "l"} {
		if got := other.Run(t, "HISTORY GET "+key); !strings.Contains(got, ":"+ts+"\r\n") || strings.Count(got, "$9\r\noperation") != 1 {
			t.Errorf("%s: got %q, want one version, of %s", key, got, ts)
		}
	}
	if got := o.Run(t, `EVAL "redis.call('SET', 'b', 1) redis.call('LPUSH', 'b', 2) redis.call('SET', 'c', 1)" 0`); !strings.HasPrefix(got, "-WRONGTYPE") {
		t.Errorf("a script that fails: got %q", got)
	}
	Check(t, "what it wrote before stays, as in Redis", other.Run(t, "GET b", "GET c"), "$1\r\n1\r\n$-1\r\n")
	Check(t, "one commit of it", other.Run(t, "AT "+o.lastTS(t)+" GET b"), "$1\r\n1\r\n")
	before := other.Run(t, "HORIZON")
	o.Run(t, `EVAL "return redis.call('GET', 'a')" 0`, `EVAL "return redis.call('DEL', 'none')" 0`)
	Check(t, "one that wrote nothing commits nothing", other.Run(t, "HORIZON"), before)
	o.Run(t, "WATCH a", "MULTI", "SET x 1")
	other.Run(t, `EVAL "redis.call('SET', 'a', 3)" 0`)
	Check(t, "who watches is told", o.Run(t, "EXEC"), "*-1\r\n")
	o.Run(t, "WATCH a", "MULTI", "SET x 1")
	other.Run(t, `EVAL_RO "redis.call('GET', 'a')" 0`, `EVAL "return redis.call('GET', 'a')" 0`)
	Check(t, "and not of reads", o.Run(t, "EXEC"), "*1\r\n+OK\r\n")
	Check(t, "in MULTI", o.Run(t, "MULTI", "SET m 1", `EVAL "return redis.call('INCR', 'm')" 0`, "INCR m", "EXEC"),
		"+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n:2\r\n:3\r\n")
}

// TestHistoryTellsWhichScriptWrote: the operation of each command, and the
// script as reason, after the client's own.
func TestHistoryTellsWhichScriptWrote(t *testing.T) {
	o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	const script = `"redis.call('SET', 'a', 1) redis.call('RPUSH', 'l', 1)"`
	sha := strings.TrimSpace(strings.TrimPrefix(o.Run(t, "SCRIPT LOAD "+script), "$40\r\n"))
	o.Run(t, "EVALSHA "+sha+" 0")
	for key, operation := range map[string]string{"a": "SET", "l": "RPUSH"} {
		got := o.Run(t, "HISTORY GET "+key)
		if !strings.Contains(got, "operation\r\n$"+fmt.Sprint(len(operation))+"\r\n"+operation+"\r\n") || !strings.Contains(got, "\r\nEVALSHA "+sha+"\r\n") {
			t.Errorf("%s: got %q, want %s and EVALSHA %s", key, got, operation, sha)
		}
	}
	o.Run(t, "CLIENT SETINFO REASON because", "EVAL "+script+" 0")
	if got := o.Run(t, "HISTORY GET a REV LIMIT 1"); !strings.Contains(got, "\r\nbecause") || !strings.Contains(got, "EVALSHA "+sha+"\r\n") {
		t.Errorf("with a reason of the client: got %q", got)
	}
	o.Run(t, "SET plain 1")
	if got := o.Run(t, "HISTORY GET plain"); strings.Contains(got, "EVALSHA") {
		t.Errorf("a command after the script: got %q", got)
	}
}

package redis

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
)

// SLOWLOG.
var slowlogCommands = []command.Command{{
	Name: "SLOWLOG", Flags: command.Local,
	Group: "server", Since: "2.2.12", Complexity: "that of the subcommand",
	Summary: "A container for slow log commands.",
	Sub: []command.Command{
		{
			Name: "GET", Args: "[count]", Max: 1, Flags: command.Local | command.Admin | command.Loading | command.Stale,
			Since: "2.2.12", Complexity: "O(n), n the entries returned",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes"},
			Summary: "Returns the slow log's entries.",
			Differs: "The command's name is shown in lower case.",
			Run:     slowlogGet,
		},
		command.Help,
		{
			Name: "LEN", Flags: command.Local | command.Admin | command.Loading | command.Stale,
			Since: "2.2.12", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:agg_sum"},
			Summary: "Returns the number of entries in the slow log.",
			Run:     func(c *command.Call) error { c.Reply.Int(int64(sessionOf(c).srv.slow.count())); return nil },
		},
		{
			Name: "RESET", Flags: command.Local | command.Admin | command.Loading | command.Stale,
			Since: "2.2.12", Complexity: "O(1)",
			Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			Summary: "Clears all entries from the slow log.",
			Run:     func(c *command.Call) error { sessionOf(c).srv.slow.reset(); c.Reply.Simple("OK"); return nil },
		},
	},
}}

// Limits of the slow log.
const (
	defaultSlow      = 10 * time.Millisecond // slowlog-log-slower-than
	defaultSlowLog   = 128                   // slowlog-max-len
	maxSlowLog       = 10_000                // entries kept, whatever slowlog-max-len says
	maxSlowArgs      = 32                    // words of a command that are kept
	maxSlowArgBytes  = 128                   // of each of them
	usualSlowEntries = 10                    // shown without a count
)

// never is longer than any command takes.
const never = time.Duration(1<<63 - 1)

// slowLog remembers commands that took long. What the hot path reads is
// atomic.
type slowLog struct {
	microsAtLeast atomic.Int64 // slowlog-log-slower-than; negative: nothing is slow
	limit         atomic.Int64 // slowlog-max-len
	millisWatched atomic.Int64 // latency-monitor-threshold; 0: off

	least atomic.Int64 // ns from which somebody wants to know; see floor
	all   atomic.Bool  // so little that every command must be timed

	mu      sync.Mutex
	entries []slowEntry // oldest first
	lastID  int64
}

// slowEntry is one slow command.
type slowEntry struct {
	id         int64
	at         time.Time
	took       time.Duration
	words      []string
	peer, name string
}

func (l *slowLog) init() {
	l.microsAtLeast.Store(defaultSlow.Microseconds())
	l.limit.Store(defaultSlowLog)
	l.refresh()
}

// refresh works out what the settings mean for the hot path.
func (l *slowLog) refresh() {
	least := never
	if us := l.microsAtLeast.Load(); us >= 0 && us < least.Microseconds() {
		least = time.Duration(us) * time.Microsecond
	}
	if ms := l.millisWatched.Load(); ms > 0 && ms < least.Milliseconds() {
		least = time.Duration(ms) * time.Millisecond
	}
	l.least.Store(int64(least))
	l.all.Store(least < alwaysTimed)
}

// floor is the time from which a command is slow for somebody.
func (l *slowLog) floor() time.Duration { return time.Duration(l.least.Load()) }

// wants says whether the slow log shows a command that took so long.
func (l *slowLog) wants(took time.Duration) bool {
	us := l.microsAtLeast.Load()
	return us >= 0 && took.Microseconds() >= us
}

// add remembers a command.
func (l *slowLog) add(s *Session, u *unit, took time.Duration) {
	e := slowEntry{at: s.srv.opts.Now(), took: took, words: slowWords(u), peer: s.peer, name: s.view.Load().name}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.lastID
	l.lastID++
	l.entries = append(l.entries, e)
	l.trim()
}

// trim forgets the oldest when there are too many. The caller holds mu.
func (l *slowLog) trim() {
	if over := len(l.entries) - int(min(l.limit.Load(), maxSlowLog)); over > 0 {
		clear(l.entries[:over])
		l.entries = l.entries[over:]
	}
}

// slowWords is the command as the slow log shows it.
func slowWords(u *unit) []string {
	words := strings.Split(u.cmd.Full, "|")
	total := len(words) + len(u.args)
	for _, arg := range u.args {
		if len(words) == maxSlowArgs-1 && total > maxSlowArgs {
			return append(words, fmt.Sprintf("... (%d more arguments)", total-maxSlowArgs+1))
		}
		if len(arg) > maxSlowArgBytes {
			words = append(words, fmt.Sprintf("%s... (%d more bytes)", arg[:maxSlowArgBytes], len(arg)-maxSlowArgBytes))
		} else {
			words = append(words, string(arg))
		}
	}
	return words
}

// newest is up to n entries, newest first.
func (l *slowLog) newest(n int64) []slowEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	var found []slowEntry
	for i := len(l.entries) - 1; i >= 0 && int64(len(found)) < n; i-- {
		found = append(found, l.entries[i])
	}
	return found
}

// count is how many entries there are.
func (l *slowLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	return len(l.entries)
}

func (l *slowLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

func slowlogGet(c *command.Call) error {
	n := int64(usualSlowEntries)
	if len(c.Args) == 1 {
		count, ok := resp.ParseInt(c.Args[0])
		if !ok || count < -1 {
			return resp.Error("ERR count should be greater than or equal to -1")
		}
		if n = count; n == -1 {
			n = maxSlowLog
		}
	}
	entries := sessionOf(c).srv.slow.newest(n)
	c.Reply.Array(len(entries))
	for _, e := range entries {
		c.Reply.Array(6)
		c.Reply.Int(e.id)
		c.Reply.Int(e.at.Unix())
		c.Reply.Int(e.took.Microseconds())
		command.ReplyStrings(&c.Reply, e.words)
		c.Reply.BulkString(e.peer)
		c.Reply.BulkString(e.name)
	}
	return nil
}

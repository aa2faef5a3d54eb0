package redis

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the slow log.
const (
	defaultSlow      = 10 * time.Millisecond // slowlog-log-slower-than
	defaultSlowLog   = 128                   // slowlog-max-len
	maxSlowLog       = 10_000                // entries kept, whatever slowlog-max-len says
	maxSlowArgs      = 32                    // words of a command that are kept
	maxSlowArgBytes  = 128                   // of each of them
	usualSlowEntries = 10                    // shown without a count
)

// alwaysTimed is the threshold of the slow log or the latency monitor below
// which every command is timed.
const alwaysTimed = time.Millisecond

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
func (l *slowLog) add(e slowEntry) {
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

// slowWords is a command as the slow log shows it: its full name and its
// arguments.
func slowWords(name string, args [][]byte) []string {
	words := strings.Split(name, "|")
	total := len(words) + len(args)
	for _, arg := range args {
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

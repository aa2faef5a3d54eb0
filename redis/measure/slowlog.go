// Package measure remembers what took long: commands in the slow log, and
// events of the latency monitor.
package measure

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
	MaxSlowLog       = 10_000                // entries kept, whatever slowlog-max-len says
	maxSlowArgs      = 32                    // words of a command that are kept
	maxSlowArgBytes  = 128                   // of each of them
	UsualSlowEntries = 10                    // shown without a count
)

// alwaysTimed is the threshold of the slow log or the latency monitor below
// which every command is timed.
const alwaysTimed = time.Millisecond

// never is longer than any command takes.
const never = time.Duration(1<<63 - 1)

// SlowLog remembers commands that took long. What the hot path reads is
// atomic.
type SlowLog struct {
	MicrosAtLeast atomic.Int64 // slowlog-log-slower-than; negative: nothing is slow
	Limit         atomic.Int64 // slowlog-max-len
	MillisWatched atomic.Int64 // latency-monitor-threshold; 0: off

	least atomic.Int64 // ns from which somebody wants to know; see floor
	All   atomic.Bool  // so little that every command must be timed

	mu      sync.Mutex
	entries []SlowCommand // oldest first
	lastID  int64
}

// SlowCommand is one slow command.
type SlowCommand struct {
	ID         int64
	At         time.Time
	Took       time.Duration
	Words      []string
	Peer, Name string
}

// Init sets what Redis does by default.
func (l *SlowLog) Init() {
	l.MicrosAtLeast.Store(defaultSlow.Microseconds())
	l.Limit.Store(defaultSlowLog)
	l.Refresh()
}

// Refresh works out what the settings mean for the hot path.
func (l *SlowLog) Refresh() {
	least := never
	if us := l.MicrosAtLeast.Load(); us >= 0 && us < least.Microseconds() {
		least = time.Duration(us) * time.Microsecond
	}
	if ms := l.MillisWatched.Load(); ms > 0 && ms < least.Milliseconds() {
		least = time.Duration(ms) * time.Millisecond
	}
	l.least.Store(int64(least))
	l.All.Store(least < alwaysTimed)
}

// Floor is the time from which a command is slow for somebody.
func (l *SlowLog) Floor() time.Duration { return time.Duration(l.least.Load()) }

// Wants says whether the slow log shows a command that took so long.
func (l *SlowLog) Wants(took time.Duration) bool {
	us := l.MicrosAtLeast.Load()
	return us >= 0 && took.Microseconds() >= us
}

// Add remembers a command.
func (l *SlowLog) Add(e SlowCommand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.ID = l.lastID
	l.lastID++
	l.entries = append(l.entries, e)
	l.trim()
}

// trim forgets the oldest when there are too many. The caller holds mu.
func (l *SlowLog) trim() {
	if over := len(l.entries) - int(min(l.Limit.Load(), MaxSlowLog)); over > 0 {
		clear(l.entries[:over])
		l.entries = l.entries[over:]
	}
}

// SlowWords is a command as the slow log shows it: its full name and its
// arguments.
func SlowWords(name string, args [][]byte) []string {
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

// Newest is up to n entries, newest first.
func (l *SlowLog) Newest(n int64) []SlowCommand {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	var found []SlowCommand
	for i := len(l.entries) - 1; i >= 0 && int64(len(found)) < n; i-- {
		found = append(found, l.entries[i])
	}
	return found
}

// Count is how many entries there are.
func (l *SlowLog) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	return len(l.entries)
}

// Reset forgets all entries.
func (l *SlowLog) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

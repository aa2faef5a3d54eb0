package acl

import (
	"sync"
	"sync/atomic"
	"time"
)

// Limits of ACL LOG.
const (
	DefaultLogLimit = 128         // acllog-max-len
	maxLog          = 10_000      // entries kept, whatever acllog-max-len says
	logGrouping     = time.Minute // within this time the same refusal is counted in the same entry
	logSearch       = 10          // entries looked at for the same refusal
	maxLoggedBytes  = 128         // of a key, channel or user name
)

// Log remembers refusals, newest first.
type Log struct {
	Limit atomic.Int64 // acllog-max-len

	mu      sync.Mutex
	entries []Refusal
	lastID  int64
}

// Refusal is something that a user was refused, perhaps repeatedly.
type Refusal struct {
	ID, Count                     int64
	Why                           Denial
	Context, Object, User, Client string
	Created, Updated              time.Time
}

func (e *Refusal) same(o *Refusal) bool {
	return e.Why == o.Why && e.Context == o.Context && e.Object == o.Object && e.User == o.User
}

// Add remembers a refusal. Its texts are cut to what is kept.
func (l *Log) Add(e Refusal) {
	e.Object = e.Object[:min(len(e.Object), maxLoggedBytes)]
	e.User = e.User[:min(len(e.User), maxLoggedBytes)]
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries[:min(logSearch, len(l.entries))] {
		old := l.entries[i]
		if !old.same(&e) || e.Updated.Sub(old.Updated) > logGrouping {
			continue
		}
		old.Count, old.Updated, old.Client = old.Count+1, e.Updated, e.Client
		copy(l.entries[1:i+1], l.entries[:i])
		l.entries[0] = old
		return
	}
	e.ID, e.Count = l.lastID, 1
	l.lastID++
	l.entries = append(l.entries, Refusal{})
	copy(l.entries[1:], l.entries)
	l.entries[0] = e
	l.trim()
}

// trim forgets what is too much. The caller holds mu.
func (l *Log) trim() {
	if limit := int(min(l.Limit.Load(), maxLog)); len(l.entries) > limit {
		clear(l.entries[limit:])
		l.entries = l.entries[:limit]
	}
}

// Newest is a copy of up to n entries.
func (l *Log) Newest(n int64) []Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	return append([]Refusal(nil), l.entries[:min(max(n, 0), int64(len(l.entries)))]...)
}

// Reset forgets all refusals.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

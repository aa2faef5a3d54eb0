package redis

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/acl"
)

// Limits of ACL LOG.
const (
	defaultACLLog  = 128         // acllog-max-len
	maxACLLog      = 10_000      // entries kept, whatever acllog-max-len says
	aclLogGrouping = time.Minute // within this time the same refusal is counted in the same entry
	aclLogSearch   = 10          // entries looked at for the same refusal
	maxLoggedBytes = 128         // of a key, channel or user name
)

// aclLog remembers refusals, newest first.
type aclLog struct {
	limit atomic.Int64 // acllog-max-len

	mu      sync.Mutex
	entries []aclEvent
	lastID  int64
}

// aclEvent is one refusal, perhaps repeated.
type aclEvent struct {
	id, count                     int64
	why                           acl.Denial
	context, object, user, client string
	created, updated              time.Time
}

func (e *aclEvent) same(o *aclEvent) bool {
	return e.why == o.why && e.context == o.context && e.object == o.object && e.user == o.user
}

// add remembers a refusal.
func (l *aclLog) add(e aclEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries[:min(aclLogSearch, len(l.entries))] {
		old := l.entries[i]
		if !old.same(&e) || e.updated.Sub(old.updated) > aclLogGrouping {
			continue
		}
		old.count, old.updated, old.client = old.count+1, e.updated, e.client
		copy(l.entries[1:i+1], l.entries[:i])
		l.entries[0] = old
		return
	}
	e.id, e.count = l.lastID, 1
	l.lastID++
	l.entries = append(l.entries, aclEvent{})
	copy(l.entries[1:], l.entries)
	l.entries[0] = e
	l.trim()
}

// trim forgets what is too much. The caller holds mu.
func (l *aclLog) trim() {
	if limit := int(min(l.limit.Load(), maxACLLog)); len(l.entries) > limit {
		clear(l.entries[limit:])
		l.entries = l.entries[:limit]
	}
}

// newest is a copy of up to n entries.
func (l *aclLog) newest(n int64) []aclEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	return append([]aclEvent(nil), l.entries[:min(max(n, 0), int64(len(l.entries)))]...)
}

func (l *aclLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

package redis

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
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

// usualACLEntries is how many entries ACL LOG shows without a count.
const usualACLEntries = 10

func aclLogCommand(c *command.Call) error {
	l := &sessionOf(c).srv.denials
	n := int64(usualACLEntries)
	if len(c.Args) == 1 {
		if command.Is(c.Args[0], "RESET") {
			l.reset()
			c.Reply.Simple("OK")
			return nil
		}
		count, ok := resp.ParseInt(c.Args[0])
		if !ok {
			return command.ErrNotInteger
		}
		n = count
	}
	now := sessionOf(c).srv.opts.Now()
	entries := l.newest(n)
	c.Reply.Array(len(entries))
	for i := range entries {
		entries[i].reply(&c.Reply, now)
	}
	return nil
}

func (e *aclEvent) reply(w *resp.Writer, now time.Time) {
	reason := map[acl.Denial]string{acl.DenialCommand: "command", acl.DenialKey: "key", acl.DenialAuth: "auth", acl.DenialChannel: "channel"}[e.why]
	w.Map(10)
	w.BulkString("count")
	w.Int(e.count)
	command.ReplyField(w, "reason", reason)
	command.ReplyField(w, "context", e.context)
	command.ReplyField(w, "object", e.object)
	command.ReplyField(w, "username", e.user)
	w.BulkString("age-seconds")
	w.Double(float64(now.Sub(e.created).Milliseconds()) / 1000)
	command.ReplyField(w, "client-info", e.client)
	w.BulkString("entry-id")
	w.Int(e.id)
	w.BulkString("timestamp-created")
	w.Int(e.created.UnixMilli())
	w.BulkString("timestamp-last-updated")
	w.Int(e.updated.UnixMilli())
}

// logDenial remembers that the session was refused something.
func (s *Session) logDenial(e *command.Entry, why acl.Denial, object, user string) {
	if why == acl.DenialCommand || why == acl.DenialAuth {
		object = e.Full
	}
	context := "toplevel"
	if s.multi.on {
		context = "multi"
	}
	now := s.srv.opts.Now()
	s.srv.denials.add(aclEvent{
		why: why, context: context, object: object[:min(len(object), maxLoggedBytes)], user: user[:min(len(user), maxLoggedBytes)],
		client: s.describe(), created: now, updated: now,
	})
}

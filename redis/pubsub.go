package redis

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/resp"
)

// Limits of one client's subscriptions of one kind.
const (
	maxSubscriptions     = 1 << 20
	maxSubscriptionBytes = 256 << 20 // of their names
)

// pubsub knows who listens to what. It is safe for concurrent use.
//
// A message is put into every listener's inbox while the lock is held, so all
// of them get all messages in one order.
type pubsub struct {
	mu       sync.RWMutex
	channels audiences
	patterns audiences
	shards   audiences
	all      atomic.Int64 // subscriptions of any kind; 0: nobody listens
	encoded  [4][]byte    // the message at hand by protocol, empty: not made yet; guarded by mu
}

// audiences are the sessions that listen, by name. They are guarded by the
// lock of their pubsub.
type audiences map[string][]*Session

func (p *pubsub) init() {
	p.channels, p.patterns, p.shards = audiences{}, audiences{}, audiences{}
}

// idle says whether nobody listens to anything.
func (p *pubsub) idle() bool { return p.all.Load() == 0 }

// counts are the names that somebody listens to.
func (p *pubsub) counts() (channels, patterns, shards int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.channels), len(p.patterns), len(p.shards)
}

// publish sends a message to all who listen to the channel, of p's channels
// or p's shards, and says to how many subscriptions.
func (p *pubsub) publish(in *audiences, channel, message []byte) int {
	if p.receivers(in, channel) == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := "message"
	if in == &p.shards {
		kind = "smessage"
	}
	n := p.send((*in)[string(channel)], kind, "", channel, message)
	if in == &p.shards {
		return n
	}
	for pattern, listeners := range p.patterns {
		if glob.Match([]byte(pattern), channel, false) {
			n += p.send(listeners, "pmessage", pattern, channel, message)
		}
	}
	return n
}

// receivers is how many subscriptions a message would go to.
func (p *pubsub) receivers(in *audiences, channel []byte) int {
	if p.idle() {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	n := len((*in)[string(channel)])
	if in == &p.shards {
		return n
	}
	for pattern, listeners := range p.patterns {
		if glob.Match([]byte(pattern), channel, false) {
			n += len(listeners)
		}
	}
	return n
}

// send puts a message into the inboxes, encoded once per protocol.
func (p *pubsub) send(to []*Session, kind, pattern string, channel, message []byte) int {
	for i := range p.encoded {
		p.encoded[i] = p.encoded[i][:0]
		if cap(p.encoded[i]) > keepBytes {
			p.encoded[i] = nil
		}
	}
	for _, s := range to {
		proto := s.protocol()
		text := p.encoded[proto]
		if len(text) == 0 {
			w := resp.Writer{Proto: proto, Buf: text}
			if kind == "pmessage" {
				w.Push(4)
				w.BulkString(kind)
				w.BulkString(pattern)
			} else {
				w.Push(3)
				w.BulkString(kind)
			}
			w.Bulk(channel)
			w.Bulk(message)
			text = w.Buf
			p.encoded[proto] = text
		}
		s.Push(text)
	}
	return len(to)
}

// protocol is the protocol that the session speaks, for other sessions.
func (s *Session) protocol() int { return s.view.Load().proto }

// add makes s listen to a name that it does not listen to yet.
func (p *pubsub) add(in audiences, name string, s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in[name] = append(in[name], s)
	p.all.Add(1)
}

// remove makes s not listen any more to names that it listens to.
func (p *pubsub) remove(in audiences, s *Session, names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		listeners := in[name]
		at := slices.Index(listeners, s)
		last := len(listeners) - 1
		listeners[at], listeners[last] = listeners[last], nil
		if in[name] = listeners[:last]; last == 0 {
			delete(in, name)
		}
		p.all.Add(-1)
	}
}

// beyondRights are a user's sessions that listen to something which its rights
// do not allow.
func (p *pubsub) beyondRights(a *acl.Account) map[*Session]bool {
	r := a.Bounds.Load()
	if r == nil || p.idle() {
		return nil
	}
	lost := map[*Session]bool{}
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i, in := range []audiences{p.patterns, p.channels, p.shards} {
		for name, listeners := range in {
			mine := slices.DeleteFunc(slices.Clone(listeners), func(s *Session) bool { return s.user.Load() != a })
			if len(mine) == 0 || r.AllowsChannel([]byte(name), i == 0) {
				continue
			}
			for _, s := range mine {
				lost[s] = true
			}
		}
	}
	return lost
}

// subscriptions are the names of one kind that a session listens to. They
// belong to whoever runs the session; others may read the count.
type subscriptions struct {
	names map[string]struct{}
	bytes int
	count atomic.Int32
}

// listening is all that a session listens to.
type listening struct {
	channels, patterns, shards subscriptions
}

// total is how many subscriptions there are. It is safe on any goroutine.
func (l *listening) total() int {
	return int(l.channels.count.Load() + l.patterns.count.Load() + l.shards.count.Load())
}

// Listens says whether the client waits for messages, rather than to be
// answered: then its silence says nothing. It is safe on any goroutine.
func (s *Session) Listens() bool { return s.subs.total() > 0 || s.monitoring.Load() }

// stopListening ends everything that makes others push to the session.
func (s *Session) stopListening() {
	s.unsubscribeAll()
	s.srv.monitors.remove(s)
	s.srv.tracking.stop(s)
}

// listenerFlags adds what the session listens to to its flags in CLIENT LIST,
// and says which client its invalidations are redirected to. It is safe on
// any goroutine.
func (s *Session) listenerFlags(flags string) (string, int64) {
	if s.subs.total() > 0 {
		flags += "P"
	}
	if s.monitoring.Load() {
		flags += "O"
	}
	tracks, redirect := s.srv.tracking.shown(s)
	flags += tracks
	if len(flags) > 1 {
		flags = strings.TrimPrefix(flags, "N")
	}
	return flags, redirect
}

// errSubscriber refuses a command to a client of protocol 2 that listens: a
// message could not be told from its reply.
func errSubscriber(cmd *command.Entry) error {
	return resp.Error("ERR Can't execute '" + cmd.Full + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
}

// topic is one of the three kinds of subscriptions, for one session.
type topic struct {
	mine                   *subscriptions
	all                    audiences
	subscribe, unsubscribe string // what confirmations are called
	others                 *subscriptions
}

// topics of a session, by the first letter of the commands that are about
// them; 0 for none.
func (s *Session) topic(letter byte) topic {
	p := &s.srv.pubsub
	switch letter {
	case 'P':
		return topic{&s.subs.patterns, p.patterns, "psubscribe", "punsubscribe", &s.subs.channels}
	case 'S':
		return topic{&s.subs.shards, p.shards, "ssubscribe", "sunsubscribe", nil}
	}
	return topic{&s.subs.channels, p.channels, "subscribe", "unsubscribe", &s.subs.patterns}
}

// count is the number that a confirmation gives.
func (t *topic) count() int64 {
	n := t.mine.count.Load()
	if t.others != nil {
		n += t.others.count.Load()
	}
	return int64(n)
}

// fits says whether more names may be subscribed to.
func (m *subscriptions) fits(names [][]byte) bool {
	size := m.bytes
	for _, name := range names {
		size += len(name)
	}
	return len(m.names)+len(names) <= maxSubscriptions && size <= maxSubscriptionBytes
}

// subscribe begins to listen to a name, which is copied.
func (s *Session) subscribe(t *topic, name []byte) {
	m := t.mine
	if _, ok := m.names[string(name)]; ok {
		return
	}
	if m.names == nil {
		m.names = make(map[string]struct{})
	}
	kept := string(name)
	m.names[kept] = struct{}{}
	m.bytes += len(kept)
	m.count.Add(1)
	s.srv.pubsub.add(t.all, kept, s)
}

// unsubscribe ends a subscription if there is one.
func (s *Session) unsubscribe(t *topic, name string) {
	m := t.mine
	if _, ok := m.names[name]; !ok {
		return
	}
	delete(m.names, name)
	m.bytes -= len(name)
	m.count.Add(-1)
	s.srv.pubsub.remove(t.all, s, name)
}

// unsubscribeAll ends all subscriptions of the session, of every kind.
func (s *Session) unsubscribeAll() {
	for _, letter := range []byte("CPS") {
		t := s.topic(letter)
		if len(t.mine.names) == 0 {
			continue
		}
		s.srv.pubsub.remove(t.all, s, slices.Collect(maps.Keys(t.mine.names))...)
		t.mine.names, t.mine.bytes = nil, 0
		t.mine.count.Store(0)
	}
}

// matching are the names that somebody listens to, in order.
func (p *pubsub) matching(in *audiences, pattern []byte) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var names []string
	for name := range *in {
		if pattern == nil || glob.Match(pattern, []byte(name), false) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// listeners is how many sessions listen to a name.
func (p *pubsub) listeners(in *audiences, name []byte) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len((*in)[string(name)])
}

// copyNames are copies of a subscription's names, in order.
func (m *subscriptions) copyNames() [][]byte {
	names := make([][]byte, 0, len(m.names))
	for name := range m.names {
		names = append(names, []byte(name))
	}
	slices.SortFunc(names, bytes.Compare)
	return names
}

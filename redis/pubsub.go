package redis

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

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

// listener is a client as others talk to it. Push must not block.
type listener interface {
	Protocol() int // what the client speaks, 2 or 3
	Push(message []byte)
}

// audiences are the clients that listen, by name. They are guarded by the
// lock of their pubsub.
type audiences map[string][]listener

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
func (p *pubsub) send(to []listener, kind, pattern string, channel, message []byte) int {
	for i := range p.encoded {
		p.encoded[i] = p.encoded[i][:0]
		if cap(p.encoded[i]) > keepBytes {
			p.encoded[i] = nil
		}
	}
	for _, l := range to {
		proto := l.Protocol()
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
		l.Push(text)
	}
	return len(to)
}

// add makes l listen to a name that it does not listen to yet.
func (p *pubsub) add(in audiences, name string, l listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in[name] = append(in[name], l)
	p.all.Add(1)
}

// remove makes l not listen any more to names that it listens to.
func (p *pubsub) remove(in audiences, l listener, names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		listeners := in[name]
		at := slices.Index(listeners, l)
		last := len(listeners) - 1
		listeners[at], listeners[last] = listeners[last], nil
		if in[name] = listeners[:last]; last == 0 {
			delete(in, name)
		}
		p.all.Add(-1)
	}
}

// refused are those of some clients that listen to a name which is not allowed
// to them.
func (p *pubsub) refused(some map[listener]bool, allows func(name []byte, pattern bool) bool) map[listener]bool {
	lost := map[listener]bool{}
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i, in := range []audiences{p.patterns, p.channels, p.shards} {
		for name, listeners := range in {
			mine := slices.DeleteFunc(slices.Clone(listeners), func(l listener) bool { return !some[l] })
			if len(mine) == 0 || allows([]byte(name), i == 0) {
				continue
			}
			for _, l := range mine {
				lost[l] = true
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

// listening is all that a client listens to.
type listening struct {
	at *pubsub
	to listener // the client

	channels, patterns, shards subscriptions
}

// total is how many subscriptions there are. It is safe on any goroutine.
func (l *listening) total() int {
	return int(l.channels.count.Load() + l.patterns.count.Load() + l.shards.count.Load())
}

// topic is one of the three kinds of subscriptions, for one client.
type topic struct {
	of           *listening
	mine         *subscriptions
	all          audiences
	begins, ends string // what confirmations are called
	others       *subscriptions
}

// topic is the one that commands with a letter are about; 0 for none.
func (l *listening) topic(letter byte) topic {
	switch letter {
	case 'P':
		return topic{l, &l.patterns, l.at.patterns, "psubscribe", "punsubscribe", &l.channels}
	case 'S':
		return topic{l, &l.shards, l.at.shards, "ssubscribe", "sunsubscribe", nil}
	}
	return topic{l, &l.channels, l.at.channels, "subscribe", "unsubscribe", &l.patterns}
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
func (t *topic) subscribe(name []byte) {
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
	t.of.at.add(t.all, kept, t.of.to)
}

// unsubscribe ends a subscription if there is one.
func (t *topic) unsubscribe(name string) {
	m := t.mine
	if _, ok := m.names[name]; !ok {
		return
	}
	delete(m.names, name)
	m.bytes -= len(name)
	m.count.Add(-1)
	t.of.at.remove(t.all, t.of.to, name)
}

// end ends all subscriptions, of every kind.
func (l *listening) end() {
	for _, letter := range []byte("CPS") {
		t := l.topic(letter)
		if len(t.mine.names) == 0 {
			continue
		}
		l.at.remove(t.all, l.to, slices.Collect(maps.Keys(t.mine.names))...)
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

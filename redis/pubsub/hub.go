// Package pubsub sends messages to those who listen to their channels.
//
// A [Hub] knows who listens to what, and [Subscriptions] are one client's.
// [Monitors] are those who are shown every command.
package pubsub

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

// maxKeptMessage bounds the memory that is kept for the next message.
const maxKeptMessage = 1 << 20

// Hub knows who listens to what. It is safe for concurrent use.
//
// A message is put into every listener's inbox while the lock is held, so all
// of them get all messages in one order.
type Hub struct {
	mu       sync.RWMutex
	Channels Audiences
	patterns Audiences
	Shards   Audiences
	all      atomic.Int64 // subscriptions of any kind; 0: nobody listens
	encoded  [4][]byte    // the message at hand by protocol, empty: not made yet; guarded by mu
}

// Listener is a client as others talk to it. Push must not block.
type Listener interface {
	Protocol() int // what the client speaks, 2 or 3
	Push(message []byte)
}

// Audiences are the clients that listen, by name. They are guarded by the
// lock of their hub.
type Audiences map[string][]Listener

// Init makes the hub ready.
func (p *Hub) Init() {
	p.Channels, p.patterns, p.Shards = Audiences{}, Audiences{}, Audiences{}
}

// Idle says whether nobody listens to anything.
func (p *Hub) Idle() bool { return p.all.Load() == 0 }

// Counts are the names that somebody listens to.
func (p *Hub) Counts() (channels, patterns, shards int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.Channels), len(p.patterns), len(p.Shards)
}

// Publish sends a message to all who listen to the channel, of p's channels
// or p's shards, and says to how many subscriptions.
func (p *Hub) Publish(in *Audiences, channel, message []byte) int {
	if p.Receivers(in, channel) == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := "message"
	if in == &p.Shards {
		kind = "smessage"
	}
	n := p.send((*in)[string(channel)], kind, "", channel, message)
	if in == &p.Shards {
		return n
	}
	for pattern, listeners := range p.patterns {
		if glob.Match([]byte(pattern), channel, false) {
			n += p.send(listeners, "pmessage", pattern, channel, message)
		}
	}
	return n
}

// Receivers is how many subscriptions a message would go to.
func (p *Hub) Receivers(in *Audiences, channel []byte) int {
	if p.Idle() {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	n := len((*in)[string(channel)])
	if in == &p.Shards {
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
func (p *Hub) send(to []Listener, kind, pattern string, channel, message []byte) int {
	for i := range p.encoded {
		p.encoded[i] = p.encoded[i][:0]
		if cap(p.encoded[i]) > maxKeptMessage {
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
func (p *Hub) add(in Audiences, name string, l Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in[name] = append(in[name], l)
	p.all.Add(1)
}

// remove makes l not listen any more to names that it listens to.
func (p *Hub) remove(in Audiences, l Listener, names ...string) {
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

// Refused are those of some clients that listen to a name which is not allowed
// to them.
func (p *Hub) Refused(some map[Listener]bool, allows func(name []byte, pattern bool) bool) map[Listener]bool {
	lost := map[Listener]bool{}
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i, in := range []Audiences{p.patterns, p.Channels, p.Shards} {
		for name, listeners := range in {
			mine := slices.DeleteFunc(slices.Clone(listeners), func(l Listener) bool { return !some[l] })
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

// Names are the names of one kind that a session listens to. They
// belong to whoever runs the session; others may read the count.
type Names struct {
	names map[string]struct{}
	bytes int
	Count atomic.Int32
}

// Subscriptions is all that a client listens to.
type Subscriptions struct {
	at *Hub
	to Listener // the client

	Channels, Patterns, Shards Names
}

// Init makes the subscriptions those of a client, of what hub has to say.
func (l *Subscriptions) Init(hub *Hub, to Listener) { l.at, l.to = hub, to }

// Total is how many subscriptions there are. It is safe on any goroutine.
func (l *Subscriptions) Total() int {
	return int(l.Channels.Count.Load() + l.Patterns.Count.Load() + l.Shards.Count.Load())
}

// Topic is one of the three kinds of subscriptions, for one client.
type Topic struct {
	of           *Subscriptions
	Mine         *Names
	all          Audiences
	Begins, Ends string // what confirmations are called
	others       *Names
}

// Topic is the one that commands with a letter are about; 0 for none.
func (l *Subscriptions) Topic(letter byte) Topic {
	switch letter {
	case 'P':
		return Topic{l, &l.Patterns, l.at.patterns, "psubscribe", "punsubscribe", &l.Channels}
	case 'S':
		return Topic{l, &l.Shards, l.at.Shards, "ssubscribe", "sunsubscribe", nil}
	}
	return Topic{l, &l.Channels, l.at.Channels, "subscribe", "unsubscribe", &l.Patterns}
}

// Count is the number that a confirmation gives.
func (t *Topic) Count() int64 {
	n := t.Mine.Count.Load()
	if t.others != nil {
		n += t.others.Count.Load()
	}
	return int64(n)
}

// Fits says whether more names may be subscribed to.
func (m *Names) Fits(names [][]byte) bool {
	size := m.bytes
	for _, name := range names {
		size += len(name)
	}
	return len(m.names)+len(names) <= maxSubscriptions && size <= maxSubscriptionBytes
}

// Subscribe begins to listen to a name, which is copied.
func (t *Topic) Subscribe(name []byte) {
	m := t.Mine
	if _, ok := m.names[string(name)]; ok {
		return
	}
	if m.names == nil {
		m.names = make(map[string]struct{})
	}
	kept := string(name)
	m.names[kept] = struct{}{}
	m.bytes += len(kept)
	m.Count.Add(1)
	t.of.at.add(t.all, kept, t.of.to)
}

// Unsubscribe ends a subscription if there is one.
func (t *Topic) Unsubscribe(name string) {
	m := t.Mine
	if _, ok := m.names[name]; !ok {
		return
	}
	delete(m.names, name)
	m.bytes -= len(name)
	m.Count.Add(-1)
	t.of.at.remove(t.all, t.of.to, name)
}

// End ends all subscriptions, of every kind.
func (l *Subscriptions) End() {
	for _, letter := range []byte("CPS") {
		t := l.Topic(letter)
		if len(t.Mine.names) == 0 {
			continue
		}
		l.at.remove(t.all, l.to, slices.Collect(maps.Keys(t.Mine.names))...)
		t.Mine.names, t.Mine.bytes = nil, 0
		t.Mine.Count.Store(0)
	}
}

// Matching are the names that somebody listens to, in order.
func (p *Hub) Matching(in *Audiences, pattern []byte) []string {
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

// Listeners is how many sessions listen to a name.
func (p *Hub) Listeners(in *Audiences, name []byte) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len((*in)[string(name)])
}

// CopyNames are copies of a subscription's names, in order.
func (m *Names) CopyNames() [][]byte {
	names := make([][]byte, 0, len(m.names))
	for name := range m.names {
		names = append(names, []byte(name))
	}
	slices.SortFunc(names, bytes.Compare)
	return names
}

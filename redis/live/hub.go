// Package live keeps queries alive: it answers them once, and tells their
// clients whenever the answer changes.
//
// A query is a read command, or several that are read at one timestamp, in its
// canonical form: see [Form]. Equal queries of equal rights are one in the
// [Hub], however many clients subscribe to it: it has one set of what its
// answer depends on, and is evaluated once. A [Client] is one connection's
// subscriptions, each with an id of the client's choice.
//
// # What happens to a query
//
// It is idle while nothing that it reads has changed: the store watches that,
// see [Source]. Then it is stale, with the moment at which it became so, and
// stands in the queue. The workers in Hub.Run draw from the queue a round:
// all queries that are stale by what was committed up to a moment, and evaluate
// them at this one moment, oldest wake first. Nothing is watched while a query
// is evaluated, but the watch that follows begins at the round's moment, so
// that what was committed meanwhile makes the query stale again: it is
// evaluated once more after, never twice at a time. The next round is drawn
// when the last one is done, or, if one of its queries takes long, without it.
//
// So all replies of a round have one timestamp, and when it is done the clients
// have been told everything up to it. That is a bookmark.
//
// # What a client is told
//
// A reply that equals the one that the client has seen is not pushed: its wake
// was false, and is counted. Otherwise the reply becomes what is pending for
// the subscription, in place of what was pending before. It is encoded once for
// all clients, and a push is made only when the client's session takes it,
// which it does when its client can be written to. So a client that reads
// slowly costs one pointer for each of its subscriptions, and gets the newest
// state; and as each subscription has one pending push at most, its pushes come
// in order.
//
// The package parses no arguments of LIVE, opens no socket and starts no
// goroutine but those in Hub.Run, which end before it returns.
package live

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// Source is a store as the hub needs it. It is safe for concurrent use.
type Source interface {
	// Now is a moment that is over: no transaction will be stamped at or
	// before it.
	Now() (firn.Timestamp, error)

	// Reach returns a moment that is over, ts or a later one, such that every
	// watch has been called that a commit up to it makes stale.
	Reach(ts firn.Timestamp) (firn.Timestamp, error)

	// Newest is the newest commit's timestamp.
	Newest() firn.Timestamp

	// Passed is how many passes of the compactor have begun.
	Passed() int64

	// At calls fn with the store at a moment.
	At(ts firn.Timestamp, fn func(*firn.Snapshot) error) error

	// Record is At, and says what fn's answer depends on.
	Record(ts firn.Timestamp, fn func(*firn.Snapshot) error) (Reads, error)

	// Token is a moment as clients keep it.
	Token(ts firn.Timestamp) string
}

// Reads is what an answer depends on.
type Reads interface {
	// Watch calls stale once, when something of it is not what it was: at the
	// moment of a commit, or at which time alone has changed it. It may do so
	// before it returns. Nothing is called any more when stop has returned and
	// was not being called.
	Watch(stale func(ts firn.Timestamp)) (stop func())
}

// Options says how a Hub does what is not its own.
type Options struct {
	Commands *command.Registry
	Catalog  *keyspace.Catalog
	Workers  int // 1 and up
	Now      func() time.Time
	Scripts  *scripting.Engine // of the server whose scripts are followed

	// Text is an error for a client; known is false if it belongs in the log.
	Text func(error) (text string, known bool)

	// Refusal is the error for a command that rights do not allow.
	Refusal func(e *command.Entry, why acl.Denial) error
}

// Limits bound what clients can make the hub keep. They are read at each use.
type Limits struct {
	Subscriptions       atomic.Int64 // of all clients together
	ClientSubscriptions atomic.Int64 // of one client
	ArgumentBytes       atomic.Int64 // of one subscription: its id, and the form of its query
	ReplyBytes          atomic.Int64 // of one reply
}

// Defaults of Limits. A subscription with short arguments takes half a
// kilobyte, so all of them take half a gigabyte at most.
const (
	defaultSubscriptions       = 1_000_000
	defaultClientSubscriptions = 10_000
	defaultArgumentBytes       = 64 << 10
	defaultReplyBytes          = 64 << 20
)

// Errors of this package.
const (
	ErrReplySize = resp.Error("ERR the reply is larger than live-max-reply-bytes")
	errArguments = resp.Error("ERR the id and the arguments are larger than live-max-argument-bytes")
	errClientMax = resp.Error("ERR this client has as many subscriptions as live-max-client-subscriptions allows")
	errAllMax    = resp.Error("ERR there are as many subscriptions as live-max-subscriptions allows")
)

// Hub knows all queries and their clients. Its methods are safe for concurrent
// use; those of its source are called without the lock.
type Hub struct {
	Limits Limits
	source Source
	opts   Options
	spare  sync.Pool // of evaluators, for those that answer LIVE itself

	mu      sync.Mutex
	some    sync.Cond // there is something for a worker
	queries map[question]*query
	clients map[*Client]struct{} // those with subscriptions
	subs    int
	queue   []*query // stale, in the order in which they became so
	round   round
	passed  int64 // passes of the compactor that clients have heard of
	stats   Stats
	kept    int64 // see Stats.Bytes
}

// What a hub keeps in memory, beside the bytes of ids, forms and replies.
const (
	subscriptionBytes = 112 // with its places among those of the client and of the query
	queryBytes        = 256 // with its place in the map, and what ends its watch
	resultBytes       = 80
)

// pendLocked makes r what is pending for a subscription; nil: nothing. A reply
// that is pending for many is in memory once.
func (h *Hub) pendLocked(s *subscription, r *result) {
	if r != nil {
		if r.waits++; r.waits == 1 {
			h.kept += resultBytes + int64(len(r.tail))
		}
	}
	if was := s.pending; was != nil {
		if was.waits--; was.waits == 0 {
			h.kept -= resultBytes + int64(len(was.tail))
		}
	}
	s.pending = r
}

// Stats counts what a hub does.
type Stats struct {
	Subscriptions, Queries int64 // there are now
	Bytes                  int64 // that these take, about, with replies that are pending; what the queries have read is not in it
	Evaluations            int64
	Pushes                 int64 // that were made, bookmarks not counted
	FalseWakes             int64 // evaluations that gave the same reply as before
}

// New makes a hub without queries.
func New(source Source, o Options) *Hub {
	h := &Hub{source: source, opts: o, queries: map[question]*query{}, clients: map[*Client]struct{}{}}
	h.some.L = &h.mu
	h.spare.New = func() any { return newEvaluator(h) }
	h.Limits.Subscriptions.Store(defaultSubscriptions)
	h.Limits.ClientSubscriptions.Store(defaultClientSubscriptions)
	h.Limits.ArgumentBytes.Store(defaultArgumentBytes)
	h.Limits.ReplyBytes.Store(defaultReplyBytes)
	return h
}

// Stats is what the hub has done so far.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := h.stats
	st.Subscriptions, st.Queries, st.Bytes = int64(h.subs), int64(len(h.queries)), h.kept
	return st
}

// ResetStats forgets what was counted.
func (h *Hub) ResetStats() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats = Stats{}
}

// RightsChanged has every query evaluated again of which a client's rights are
// not those that it was asked with.
func (h *Hub) RightsChanged() {
	newest := h.source.Newest()
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		h.recheckLocked(c, newest)
	}
}

// recheckLocked makes the queries stale that a client asked with other rights.
func (h *Hub) recheckLocked(c *Client, ts firn.Timestamp) {
	rights := c.rights()
	for _, s := range c.subs {
		if s.query.rights != rights {
			h.staleLocked(s.query, ts)
		}
	}
}

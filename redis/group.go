package redis

import (
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/scripting"
)

// Group is the batches of one or many sessions as one batch for the store.
// They share a commit.
//
// Between two of their commands it serves clients that wait for what the
// first of the two brought, each in a transaction of its own: a group grows
// while it runs. So what is pushed goes to who waited longest for it, before
// any command can see it.
//
// A group is reused after Reset. Its driver has it until it is submitted, and
// again after Decided.
type Group struct {
	// Decided is called at the end of Done, on the goroutine that commits, and
	// must not block: from then on the driver may run the sessions, and use the
	// group again. It may be nil.
	Decided func()

	// Hurried is set by a driver that runs the group itself, with
	// firn.Store.TrySubmit, and may not wait long.
	//
	// A script that takes longer than those may wait who share the group with it is
	// undone, and its session then needs a commit again, in a group that is Alone:
	// see Long.
	Hurried bool

	srv     *Server
	members []*Session
	total   int         // commands of all members
	long    bool        // one of them takes its time
	expired *awaitedKey // a key that has expired, of a group without members

	running  bool
	run      int // commands that were run
	at, unit int // the next: the member that it belongs to, and its place there
	finished int // transactions that were run
	served   []*waiter
}

var _ firn.Batch = (*Group)(nil)

// Reset empties a group.
func (g *Group) Reset() {
	clear(g.members)
	g.members, g.total, g.long = g.members[:0], 0, false
}

// limit is how long a script of the group may take. In one that is Alone nobody
// else waits for it.
func (g *Group) limit() time.Duration {
	switch {
	case g.long:
		return 0
	case g.Hurried:
		return scripting.LoopLimit
	}
	return scripting.GroupLimit
}

// Alone implements writer.Aloner: the group has a script that takes its time. It
// must not run where others wait.
func (g *Group) Alone() bool { return g.long }

// Add adds the batch of a session that needs a commit. From then on the group
// has the session.
func (g *Group) Add(s *Session) {
	g.srv = s.srv
	g.members = append(g.members, s)
	g.total += len(s.batch.units)
	g.long = g.long || s.batch.long
}

// Len is part of firn.Batch.
func (g *Group) Len() int {
	if !g.running {
		return g.total
	}
	n := g.finished + g.total - g.run
	if g.srv.blocked.due() {
		n++
	}
	return n
}

// Transact is part of firn.Batch: it runs the next command, or serves a
// client if one is to be served before that.
func (g *Group) Transact(i int, tx *firn.Tx) error {
	if i == 0 {
		g.running, g.run, g.at, g.unit = true, 0, 0, 0
	}
	g.finished = i + 1
	b := &g.srv.blocked
	if b.due() {
		if w, q := b.next(); w != nil {
			return g.serve(w, q, tx)
		}
	}
	if g.run == g.total {
		return nil
	}
	err := g.next(tx)
	b.settle(err == nil)
	return err
}

// next runs the next command.
func (g *Group) next(tx *firn.Tx) error {
	g.run++
	if len(g.members) == 0 {
		g.srv.blocked.touch(g.expired.db, []byte(g.expired.key))
		return nil
	}
	for g.unit == len(g.members[g.at].batch.units) {
		g.at, g.unit = g.at+1, 0
	}
	g.unit++
	s := g.members[g.at]
	s.limit = g.limit()
	return s.batch.transact(s, g.unit-1, tx)
}

// serve tries a waiter.
func (g *Group) serve(w *waiter, q *queue, tx *firn.Tx) error {
	came, err := w.serve(q.key.key, tx)
	g.srv.blocked.settle(err == nil)
	switch came {
	case attemptNothing:
		q.foundNothing(w.kind)
	case attemptServed:
		g.served = append(g.served, w)
	}
	return err
}

// Done is part of firn.Batch.
func (g *Group) Done(last firn.Timestamp, err error) {
	for _, s := range g.members {
		s.batch.decide(s, last, err)
	}
	for _, w := range g.served { // after what the waiter did before it waited
		w.decide(err)
	}
	if err == nil && g.srv != nil {
		g.srv.tracking.Told(last)
	}
	clear(g.served)
	g.served, g.running = g.served[:0], false
	if g.Decided != nil {
		g.Decided()
	}
}

// KeyExpired is told that a key was ended because it had expired, when that
// is committed: who waits for a stream may have to be told that it is gone. It
// does not block, and is safe on any goroutine.
func (srv *Server) KeyExpired(db int, key []byte) {
	if srv.blocked.waiting.Load() == 0 || !srv.blocked.awaited(db, key) {
		return
	}
	// An error means that the store closes, or is so busy that it refuses
	// everyone: the next write to the key is noticed as usual.
	_ = srv.store.Submit(&Group{srv: srv, total: 1, expired: &awaitedKey{db, string(key)}})
}

// awaited says whether somebody waits for a key.
func (b *blocked) awaited(db int, key []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queues[awaitedKey{db, string(key)}] != nil
}

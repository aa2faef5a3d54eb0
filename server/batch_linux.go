package server

import (
	"time"

	"github.com/firndb/firn/redis"
)

// batch is the writes that one round of a loop found, of all its sessions,
// as one batch for the store: they share a commit, and come back together.
type batch struct {
	redis.Group
	conns []*conn // whose sessions the group has
}

// join adds a waiting session to the batch of this round. One with a script that
// takes its time is a batch by itself, for which nobody else waits.
func (l *loop) join(c *conn) {
	if redis.Long(c.session) {
		alone := &batch{conns: []*conn{c}}
		alone.Add(c.session)
		l.hand(alone)
		return
	}
	b := l.batch
	if b == nil {
		b = &batch{}
		l.batch = b
	}
	b.conns = append(b.conns, c)
	b.Add(c.session)
}

// gatherTime is how long the writes of a round wait for company. A commit
// costs the same for one session as for fifty, in time and in bytes written.
const gatherTime = 50 * time.Microsecond

// gathering says whether the batch should wait another moment: fewer sessions
// are in it than wrote together lately. A lone writer never waits.
func (l *loop) gathering() bool {
	if !l.hasBatch() {
		return false
	}
	n := len(l.batch.conns)
	if n >= l.crowd {
		l.crowd, l.since = n, time.Time{}
		return false
	}
	now := time.Now()
	if l.since.IsZero() {
		l.since = now
	}
	if now.Sub(l.since) < gatherTime {
		return true
	}
	l.crowd -= (l.crowd - n + 7) / 8
	l.since = time.Time{}
	return false
}

func (l *loop) hasBatch() bool { return l.batch != nil && len(l.batch.conns) > 0 }

// The loop commits a small batch itself, if nothing else is being written:
// on two processors, waking the writer and being woken by it costs more than
// the commit. Measured with 50 clients: 85,000 SETs a second of 40,000 to
// 59,000 with an fsync each second, 60,000 of 48,000 with one in every commit.
// More than maxInline transactions are worth the help of another processor.
// The store refuses while commits take long, so that reads do not wait as well.
const maxInline = 64

// pieceLen is how many transactions of a round are handed over before the rest
// of it has run, so that the writer begins with them, and has something to run
// while it commits them. It is what groups overlap from, twice.
const pieceLen = 256

// submitPiece hands the batch over if it is large enough by itself. With an
// fsync in each commit it waits for all: groups do not overlap there, and the
// larger they are the fewer fsyncs there are.
func (l *loop) submitPiece() {
	if l.pieces && l.hasBatch() && l.batch.Len() >= pieceLen {
		l.submit()
	}
}

// submit hands the batch of this round to the store. What is decided on the
// way goes on at once; of the rest the writer's goroutine sends a letter.
func (l *loop) submit() {
	if !l.hasBatch() {
		return
	}
	b := l.batch
	l.batch = nil
	if b.Hurried = true; b.Len() <= maxInline && !b.Alone() && l.server.redis.Store().TrySubmit(b) {
		l.goOn(b)
		return
	}
	b.Hurried = false
	l.hand(b)
}

// hand hands a batch to the writer's goroutine, which sends a letter.
func (l *loop) hand(b *batch) {
	b.Decided = func() { l.tell(func(m *mailbox) { m.decided = append(m.decided, b) }) }
	if err := l.server.redis.Store().Submit(b); err != nil {
		b.Decided = nil
		b.Done(0, err)
		l.goOn(b)
	}
}

// goOn resumes the sessions of a batch that is decided. The batch is kept for
// what they write next.
func (l *loop) goOn(b *batch) {
	conns := b.conns
	b.conns, b.Decided = l.resuming[:0], nil
	b.Reset()
	if l.batch == nil {
		l.batch = b
	}
	for _, c := range conns {
		l.resume(c)
	}
	clear(conns)
	l.resuming = conns
}

package redis

import (
	"math"

	"github.com/firndb/firn/resp"
)

func xClaim(c *Call) error {
	s, st, g, err := claimedGroup(c)
	if err != nil {
		return err
	}
	o, ids, err := parseClaim(c)
	if err != nil {
		return err
	}
	l := openGroupLedger(c.View, c.Args[0], &s.key, g)
	if l.group.last.less(o.last) {
		l.group.last, l.changed = o.last, true
	}
	if now := c.now(); o.delivered < 0 || o.delivered > now {
		o.delivered = now
	}
	start, n := len(c.Reply.Buf), 0
	for _, id := range ids {
		claimed, err := claimOne(c, l, &s.key, &st, id, &o)
		if err != nil {
			return err
		}
		if claimed {
			n++
		}
	}
	insertHeader(&c.Reply, start, '*', n)
	return writeGroupLedger(c, l, &s, &st)
}

// claimOne gives an entry to the consumer and replies it, if it is pending for
// long enough. One that was deleted is not pending any more. The consumer is
// made when it gets its first.
func claimOne(c *Call, l *groupLedger, k *keyDoc, st *stream, id streamID, o *streamClaim) (claimed bool, err error) {
	d, pending, err := findPending(c.View, l.uid, &l.group, id)
	if err != nil {
		return false, err
	}
	e, ok, err := entryAt(c.View, k, st, id)
	switch {
	case err != nil:
		return false, err
	case !ok && pending:
		return false, l.take(&d)
	case !ok || !pending && !o.force:
		return false, nil
	case pending && o.minIdle > 0 && c.now()-d.delivered < o.minIdle:
		return false, nil
	}
	was := &d
	if !pending {
		was, d.count = nil, 1
	}
	next := pendingEntry{id: id, delivered: o.delivered, count: d.count}
	if o.count >= 0 {
		next.count = o.count
	} else if !o.justID {
		next.count = nextCount(d.count)
	}
	return true, giveClaimed(c, l, was, next, &e, o.justID)
}

// giveClaimed gives an entry to the consumer, who is made if it is not there,
// and replies it.
func giveClaimed(c *Call, l *groupLedger, was *pendingEntry, next pendingEntry, e *streamEntry, justID bool) error {
	m, _, err := l.join(c.Args[2])
	if err != nil {
		return err
	}
	l.touch(m)
	if err := l.give(m, was, next); err != nil {
		return err
	}
	if justID {
		replyID(&c.Reply, e.id)
		return nil
	}
	return replyEntry(&c.Reply, e)
}

// claimAttempts is how many pending entries XAUTOCLAIM looks at for each that
// it may claim.
const claimAttempts = 10

// maxClaims is the largest COUNT of XAUTOCLAIM: Redis's, which follows from
// the size of an id in memory.
const maxClaims = math.MaxInt64 / 16

func parseAutoClaim(c *Call) (o streamClaim, err error) {
	o.count = 100
	if o.minIdle, err = parseMinIdle(c.Args[3], "XAUTOCLAIM"); err != nil {
		return o, err
	}
	if o.from, err = parseFirstID(c.Args[4]); err != nil {
		return o, err
	}
	args := c.Args[5:]
	for i := 0; i < len(args); i++ {
		switch {
		case is(args[i], "COUNT") && i+1 < len(args):
			i++
			var ok bool
			if o.count, ok = resp.ParseInt(args[i]); !ok || o.count < 1 || o.count > maxClaims {
				return o, resp.Error("ERR COUNT must be > 0")
			}
		case is(args[i], "JUSTID"):
			o.justID = true
		default:
			return o, errSyntax
		}
	}
	return o, nil
}

func xAutoClaim(c *Call) error {
	o, err := parseAutoClaim(c)
	if err != nil {
		return err
	}
	s, st, g, err := claimedGroup(c)
	if err != nil {
		return err
	}
	l := openGroupLedger(c.View, c.Args[0], &s.key, g)
	w := claimWalk{c: c, l: l, k: &s.key, st: &st, o: &o}
	w.attempts = o.count * claimAttempts
	w.left = o.count
	start := len(c.Reply.Buf)
	if err := w.walk(); err != nil {
		return err
	}
	insertHeader(&c.Reply, start, '*', w.claimed)
	head := c.Reply.Buf[start:]
	c.Reply.Buf = c.Reply.Buf[:start:start]
	c.Reply.Array(3)
	replyID(&c.Reply, w.next)
	c.Reply.Buf = append(c.Reply.Buf, head...)
	c.Reply.Array(len(w.deleted))
	for _, id := range w.deleted {
		replyID(&c.Reply, id)
	}
	return writeGroupLedger(c, l, &s, &st)
}

// claimWalk is a run of XAUTOCLAIM over the pending entries.
type claimWalk struct {
	c  *Call
	l  *groupLedger
	k  *keyDoc
	st *stream
	o  *streamClaim

	attempts int64 // how many entries may be looked at
	left     int64 // how many may be claimed, or found deleted
	claimed  int
	deleted  []streamID
	next     streamID // where to go on; 0-0 at the end
}

// walk reads pending entries in batches and claims them.
func (w *claimWalk) walk() error {
	w.next = w.o.from
	for {
		var batch []pendingEntry
		within := idSpan{w.next, greatestID}
		for d, err := range eachPending(w.c.View, w.l.uid, &w.l.group, nil, within, false, trimBatch) {
			if err != nil {
				return err
			}
			batch = append(batch, d)
		}
		for i := range batch {
			w.next = batch[i].id
			if w.attempts == 0 || w.left == 0 {
				return nil
			}
			w.attempts--
			if err := w.claim(&batch[i]); err != nil {
				return err
			}
		}
		last, ok := w.next.next()
		if len(batch) < trimBatch || !ok {
			w.next = streamID{}
			return nil
		}
		w.next = last
	}
}

// claim takes one pending entry.
func (w *claimWalk) claim(d *pendingEntry) error {
	e, ok, err := entryAt(w.c.View, w.k, w.st, d.id)
	if err != nil {
		return err
	}
	if !ok {
		w.deleted = append(w.deleted, d.id)
		w.left--
		return w.l.take(d)
	}
	now := w.c.now()
	if w.o.minIdle > 0 && now-d.delivered < w.o.minIdle {
		return nil
	}
	next := pendingEntry{id: d.id, delivered: now, count: d.count}
	if !w.o.justID {
		next.count = nextCount(d.count)
	}
	w.left--
	w.claimed++
	return giveClaimed(w.c, w.l, d, next, &e, w.o.justID)
}

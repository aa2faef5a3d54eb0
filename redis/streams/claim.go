package streams

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

func xClaim(c *command.Call) error {
	s, st, g, err := claimedGroup(c)
	if err != nil {
		return err
	}
	o, ids, err := parseClaim(c)
	if err != nil {
		return err
	}
	l := keyspace.OpenGroupLedger(c.View, c.Args[0], &s.Key, g)
	if l.Group.Last.Less(o.last) {
		l.Group.Last, l.Changed = o.last, true
	}
	if now := c.Now(); o.delivered < 0 || o.delivered > now {
		o.delivered = now
	}
	start, n := len(c.Reply.Buf), 0
	for _, id := range ids {
		claimed, err := claimOne(c, l, &s.Key, &st, id, &o)
		if err != nil {
			return err
		}
		if claimed {
			n++
		}
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return writeGroupLedger(c, l, &s, &st)
}

// claimOne gives an entry to the consumer and replies it, if it is pending for
// long enough. One that was deleted is not pending any more. The consumer is
// made when it gets its first.
func claimOne(c *command.Call, l *keyspace.GroupLedger, k *keyspace.KeyDoc, st *keyspace.Stream, id keyspace.StreamID, o *streamClaim) (claimed bool, err error) {
	d, pending, err := keyspace.FindPending(c.View, l.UID, &l.Group, id)
	if err != nil {
		return false, err
	}
	e, ok, err := keyspace.EntryAt(c.View, k, st, id)
	switch {
	case err != nil:
		return false, err
	case !ok && pending:
		return false, l.Take(&d)
	case !ok || !pending && !o.force:
		return false, nil
	case pending && o.minIdle > 0 && c.Now()-d.Delivered < o.minIdle:
		return false, nil
	}
	was := &d
	if !pending {
		was, d.Count = nil, 1
	}
	next := keyspace.PendingEntry{ID: id, Delivered: o.delivered, Count: d.Count}
	if o.count >= 0 {
		next.Count = o.count
	} else if !o.justID {
		next.Count = nextCount(d.Count)
	}
	return true, giveClaimed(c, l, was, next, &e, o.justID)
}

// giveClaimed gives an entry to the consumer, who is made if it is not there,
// and replies it.
func giveClaimed(c *command.Call, l *keyspace.GroupLedger, was *keyspace.PendingEntry, next keyspace.PendingEntry, e *keyspace.StreamEntry, justID bool) error {
	m, _, err := l.Join(c.Args[2])
	if err != nil {
		return err
	}
	l.Touch(m)
	if err := l.Give(m, was, next); err != nil {
		return err
	}
	if justID {
		ReplyID(&c.Reply, e.ID)
		return nil
	}
	return ReplyEntry(&c.Reply, e)
}

// claimAttempts is how many pending entries XAUTOCLAIM looks at for each that
// it may claim.
const claimAttempts = 10

// maxClaims is the largest COUNT of XAUTOCLAIM: Redis's, which follows from
// the size of an id in memory.
const maxClaims = math.MaxInt64 / 16

func parseAutoClaim(c *command.Call) (o streamClaim, err error) {
	o.count = 100
	if o.minIdle, err = parseMinIdle(c.Args[3], c.Cmd.Name); err != nil {
		return o, err
	}
	if o.from, err = keyspace.ParseFirstID(c.Args[4]); err != nil {
		return o, err
	}
	args := c.Args[5:]
	for i := 0; i < len(args); i++ {
		switch {
		case command.Is(args[i], "COUNT") && i+1 < len(args):
			i++
			var ok bool
			if o.count, ok = resp.ParseInt(args[i]); !ok || o.count < 1 || o.count > maxClaims {
				return o, resp.Error("ERR COUNT must be > 0")
			}
		case command.Is(args[i], "JUSTID"):
			o.justID = true
		default:
			return o, command.ErrSyntax
		}
	}
	return o, nil
}

func xAutoClaim(c *command.Call) error {
	o, err := parseAutoClaim(c)
	if err != nil {
		return err
	}
	s, st, g, err := claimedGroup(c)
	if err != nil {
		return err
	}
	l := keyspace.OpenGroupLedger(c.View, c.Args[0], &s.Key, g)
	w := claimWalk{c: c, l: l, k: &s.Key, st: &st, o: &o}
	w.attempts = o.count * claimAttempts
	w.left = o.count
	start := len(c.Reply.Buf)
	if err := w.walk(); err != nil {
		return err
	}
	command.InsertHeader(&c.Reply, start, '*', w.claimed)
	head := c.Reply.Buf[start:]
	c.Reply.Buf = c.Reply.Buf[:start:start]
	c.Reply.Array(3)
	ReplyID(&c.Reply, w.next)
	c.Reply.Buf = append(c.Reply.Buf, head...)
	c.Reply.Array(len(w.deleted))
	for _, id := range w.deleted {
		ReplyID(&c.Reply, id)
	}
	return writeGroupLedger(c, l, &s, &st)
}

// claimWalk is a run of XAUTOCLAIM over the pending entries.
type claimWalk struct {
	c  *command.Call
	l  *keyspace.GroupLedger
	k  *keyspace.KeyDoc
	st *keyspace.Stream
	o  *streamClaim

	attempts int64 // how many entries may be looked at
	left     int64 // how many may be claimed, or found deleted
	claimed  int
	deleted  []keyspace.StreamID
	next     keyspace.StreamID // where to go on; 0-0 at the end
}

// walk reads pending entries in batches and claims them.
func (w *claimWalk) walk() error {
	w.next = w.o.from
	for {
		var batch []keyspace.PendingEntry
		within := keyspace.IDSpan{From: w.next, To: keyspace.GreatestID}
		for d, err := range keyspace.EachPending(w.c.View, w.l.UID, &w.l.Group, nil, within, false, keyspace.TrimBatch) {
			if err != nil {
				return err
			}
			batch = append(batch, d)
		}
		for i := range batch {
			w.next = batch[i].ID
			if w.attempts == 0 || w.left == 0 {
				return nil
			}
			w.attempts--
			if err := w.claim(&batch[i]); err != nil {
				return err
			}
		}
		last, ok := w.next.Next()
		if len(batch) < keyspace.TrimBatch || !ok {
			w.next = keyspace.StreamID{}
			return nil
		}
		w.next = last
	}
}

// claim takes one pending entry.
func (w *claimWalk) claim(d *keyspace.PendingEntry) error {
	e, ok, err := keyspace.EntryAt(w.c.View, w.k, w.st, d.ID)
	if err != nil {
		return err
	}
	if !ok {
		w.deleted = append(w.deleted, d.ID)
		w.left--
		return w.l.Take(d)
	}
	now := w.c.Now()
	if w.o.minIdle > 0 && now-d.Delivered < w.o.minIdle {
		return nil
	}
	next := keyspace.PendingEntry{ID: d.ID, Delivered: now, Count: d.Count}
	if !w.o.justID {
		next.Count = nextCount(d.Count)
	}
	w.left--
	w.claimed++
	return giveClaimed(w.c, w.l, d, next, &e, w.o.justID)
}

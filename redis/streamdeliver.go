package redis

import (
	"math"

	"github.com/firndb/firn/resp"
)

// Errors of an XREADGROUP whose client has waited.
const (
	errGroupGone  = resp.Error("NOGROUP the consumer group this client was blocked on no longer exists")
	errStreamGone = resp.Error("UNBLOCKED the stream key no longer exists")
)

// deliverNew is what a stream is read after with the id >: what the group has
// not delivered yet.
var deliverNew = greatestID

// xReadGroup delivers entries of streams to a consumer. Like Redis it checks
// all streams and ids before it delivers anything.
func xReadGroup(c *Call) error {
	r, err := parseStreamReading(c, true)
	if err != nil {
		return err
	}
	after := make([]streamID, len(r.keys))
	for i := range r.keys {
		if after[i], err = checkReadID(c, &r, i); err != nil {
			return err
		}
	}
	served, err := replyStreamSources(c, &r, func(i int) (bool, error) {
		return deliverFrom(c, &r, r.keys[i], after[i])
	})
	if err == nil && served == 0 {
		return waitForEntries(c, &r, nil)
	}
	return err
}

// checkReadID reads the i-th id, and checks that its stream has the group.
func checkReadID(c *Call, r *streamReading, i int) (after streamID, err error) {
	k, ok, err := c.findKind(r.keys[i], kindStream)
	if c.Waited && (err == errWrongType || err == nil && !ok) {
		return after, errStreamGone
	}
	if err != nil {
		return after, err
	}
	if ok {
		if _, ok, err = findStreamGroup(c.View, &k, r.group); err != nil {
			return after, err
		}
	}
	switch id := string(cutAtZero(r.ids[i])); {
	case !ok && c.Waited:
		return after, errGroupGone
	case !ok:
		return after, noGroup(r.keys[i], r.group, " in XREADGROUP with GROUP option")
	case id == "$":
		return after, errReadDollar
	case id == ">":
		return deliverNew, nil
	}
	return parseID(r.ids[i], 0)
}

// deliverFrom replies a stream's name and entries for the consumer: new ones,
// which are pending from then on, or those after an id that are pending
// already. It writes nothing if there is nothing new.
func deliverFrom(c *Call, r *streamReading, key []byte, after streamID) (some bool, err error) {
	s, st, err := openStream(c.View, key)
	if err != nil {
		return false, err
	}
	g, _, err := findStreamGroup(c.View, &s.key, r.group)
	if err != nil {
		return false, err
	}
	l := openGroupLedger(c.View, key, &s.key, g)
	start := len(c.Reply.Buf)
	beginStreamSource(c, key)
	if after == deliverNew {
		some, err = deliverUnread(c, l, &s.key, &st, r)
	} else {
		some, err = true, deliverAgain(c, l, &s.key, &st, r, after)
	}
	if !some {
		c.Reply.Buf = c.Reply.Buf[:start]
	}
	if err != nil {
		return some, err
	}
	return some, writeGroupLedger(c, l, &s, &st)
}

// deliverUnread replies the entries after the group's last.
func deliverUnread(c *Call, l *groupLedger, k *keyDoc, st *stream, r *streamReading) (some bool, err error) {
	g := &l.group
	from, ok := g.last.next()
	if !ok || !g.last.less(st.last) {
		return false, nil
	}
	var m *groupMember
	start, n := len(c.Reply.Buf), 0
	for e, err := range streamEntries(c.View, k, st, idSpan{from, st.last}, false, r.count) {
		if err == nil && m == nil {
			if m, _, err = l.join(r.consumer); err == nil {
				l.touch(m)
			}
		}
		if err == nil {
			err = deliver(c, l, m, k, st, &e, r.noAck)
		}
		if err != nil {
			return false, err
		}
		n++
	}
	insertHeader(&c.Reply, start, '*', n)
	return n > 0, nil
}

// deliver replies a new entry and makes it pending.
func deliver(c *Call, l *groupLedger, m *groupMember, k *keyDoc, st *stream, e *streamEntry, noAck bool) error {
	l.group.advance(st, k.Length, e.id)
	if err := replyEntry(&c.Reply, e); err != nil || noAck {
		return err
	}
	var was *pendingEntry
	d, ok, err := findPending(c.View, l.uid, &l.group, e.id)
	if err != nil {
		return err
	}
	if ok {
		was = &d
	}
	return l.give(m, was, pendingEntry{id: e.id, delivered: c.now(), count: 1})
}

// deliverAgain replies what is pending with the consumer after an id. An
// entry that was deleted has null fields.
func deliverAgain(c *Call, l *groupLedger, k *keyDoc, st *stream, r *streamReading, after streamID) error {
	m, _, err := l.join(r.consumer)
	if err != nil {
		return err
	}
	from, _ := after.next()
	limit := int(min(r.count, math.MaxInt))
	var pending []pendingEntry
	for d, err := range eachPending(c.View, l.uid, &l.group, &m.streamConsumer, idSpan{from, greatestID}, false, limit) {
		if err != nil {
			return err
		}
		pending = append(pending, d)
	}
	c.Reply.Array(len(pending))
	for i := range pending {
		d := &pending[i]
		e, ok, err := entryAt(c.View, k, st, d.id)
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Array(2)
			replyID(&c.Reply, d.id)
			c.Reply.NullArray()
			continue
		}
		if err := replyEntry(&c.Reply, &e); err != nil {
			return err
		}
		l.touch(m)
		again := pendingEntry{id: d.id, delivered: c.now(), count: nextCount(d.count)}
		if err := l.give(m, d, again); err != nil {
			return err
		}
	}
	return nil
}

// nextCount is one delivery more; past the largest number there are no more.
func nextCount(n int64) int64 {
	if n == math.MaxInt64 {
		return n
	}
	return n + 1
}

// advance makes an entry the last that the group has delivered, if it is, and
// counts how many it has read.
func (g *streamGroup) advance(st *stream, length int64, id streamID) {
	if !g.last.less(id) {
		return
	}
	if g.read != -1 && !st.deletedFrom(id) {
		g.read++
	} else if st.added > 0 {
		g.read = st.countUntil(length, id)
	}
	g.last = id
}

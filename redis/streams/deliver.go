package streams

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Errors of an XREADGROUP whose client has waited.
const (
	errGroupGone  = resp.Error("NOGROUP the consumer group this client was blocked on no longer exists")
	errStreamGone = resp.Error("UNBLOCKED the stream key no longer exists")
)

// deliverNew is what a stream is read after with the id >: what the group has
// not delivered yet.
var deliverNew = keyspace.GreatestID

// xReadGroup delivers entries of streams to a consumer. Like Redis it checks
// all streams and ids before it delivers anything.
func xReadGroup(c *command.Call) error {
	r, err := parseStreamReading(c, true)
	if err != nil {
		return err
	}
	after := make([]keyspace.StreamID, len(r.keys))
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
func checkReadID(c *command.Call, r *streamReading, i int) (after keyspace.StreamID, err error) {
	k, ok, err := c.FindKind(r.keys[i], keyspace.KindStream)
	if c.Waited && (err == keyspace.ErrWrongType || err == nil && !ok) {
		return after, errStreamGone
	}
	if err != nil {
		return after, err
	}
	if ok {
		if _, ok, err = keyspace.FindStreamGroup(c.View, &k, r.group); err != nil {
			return after, err
		}
	}
	switch id := string(keyspace.CutAtZero(r.ids[i])); {
	case !ok && c.Waited:
		return after, errGroupGone
	case !ok:
		return after, noGroup(r.keys[i], r.group, " in XREADGROUP with GROUP option")
	case id == "$":
		return after, errReadDollar
	case id == ">":
		return deliverNew, nil
	}
	return keyspace.ParseID(r.ids[i], 0)
}

// deliverFrom replies a stream's name and entries for the consumer: new ones,
// which are pending from then on, or those after an id that are pending
// already. It writes nothing if there is nothing new.
func deliverFrom(c *command.Call, r *streamReading, key []byte, after keyspace.StreamID) (some bool, err error) {
	s, st, err := keyspace.OpenStream(c.View, key)
	if err != nil {
		return false, err
	}
	g, _, err := keyspace.FindStreamGroup(c.View, &s.Key, r.group)
	if err != nil {
		return false, err
	}
	l := keyspace.OpenGroupLedger(c.View, key, &s.Key, g)
	start := len(c.Reply.Buf)
	beginStreamSource(c, key)
	if after == deliverNew {
		some, err = deliverUnread(c, l, &s.Key, &st, r)
	} else {
		some, err = true, deliverAgain(c, l, &s.Key, &st, r, after)
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
func deliverUnread(c *command.Call, l *keyspace.GroupLedger, k *keyspace.KeyDoc, st *keyspace.Stream, r *streamReading) (some bool, err error) {
	g := &l.Group
	from, ok := g.Last.Next()
	if !ok || !g.Last.Less(st.Last) {
		return false, nil
	}
	var m *keyspace.GroupMember
	start, n := len(c.Reply.Buf), 0
	for e, err := range keyspace.StreamEntries(c.View, k, st, keyspace.IDSpan{From: from, To: st.Last}, false, r.count) {
		if err == nil && m == nil {
			if m, _, err = l.Join(r.consumer); err == nil {
				l.Touch(m)
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
	command.InsertHeader(&c.Reply, start, '*', n)
	return n > 0, nil
}

// deliver replies a new entry and makes it pending.
func deliver(c *command.Call, l *keyspace.GroupLedger, m *keyspace.GroupMember, k *keyspace.KeyDoc, st *keyspace.Stream, e *keyspace.StreamEntry, noAck bool) error {
	l.Group.Advance(st, k.Length, e.ID)
	if err := ReplyEntry(&c.Reply, e); err != nil || noAck {
		return err
	}
	var was *keyspace.PendingEntry
	d, ok, err := keyspace.FindPending(c.View, l.UID, &l.Group, e.ID)
	if err != nil {
		return err
	}
	if ok {
		was = &d
	}
	return l.Give(m, was, keyspace.PendingEntry{ID: e.ID, Delivered: c.Now(), Count: 1})
}

// deliverAgain replies what is pending with the consumer after an id. An
// entry that was deleted has null fields.
func deliverAgain(c *command.Call, l *keyspace.GroupLedger, k *keyspace.KeyDoc, st *keyspace.Stream, r *streamReading, after keyspace.StreamID) error {
	m, _, err := l.Join(r.consumer)
	if err != nil {
		return err
	}
	from, _ := after.Next()
	limit := int(min(r.count, math.MaxInt))
	var pending []keyspace.PendingEntry
	for d, err := range keyspace.EachPending(c.View, l.UID, &l.Group, &m.StreamConsumer, keyspace.IDSpan{From: from, To: keyspace.GreatestID}, false, limit) {
		if err != nil {
			return err
		}
		pending = append(pending, d)
	}
	c.Reply.Array(len(pending))
	for i := range pending {
		d := &pending[i]
		e, ok, err := keyspace.EntryAt(c.View, k, st, d.ID)
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Array(2)
			ReplyID(&c.Reply, d.ID)
			c.Reply.NullArray()
			continue
		}
		if err := ReplyEntry(&c.Reply, &e); err != nil {
			return err
		}
		l.Touch(m)
		again := keyspace.PendingEntry{ID: d.ID, Delivered: c.Now(), Count: nextCount(d.Count)}
		if err := l.Give(m, d, again); err != nil {
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

package redis

import (
	"github.com/firndb/firn/internal/rdb"
)

// Streams in DUMP and RESTORE: entries, groups, consumers, and what is pending.

// wholeLog reads all of a stream.
func wholeLog(c *Call, k *keyDoc) (*rdb.Log, error) {
	st, err := parseStream(k)
	if err != nil {
		return nil, err
	}
	l := &rdb.Log{Last: dumpedID(st.last), MaxDeleted: dumpedID(st.deleted), Added: uint64(st.added)}
	for e, err := range streamEntries(c.View, k, &st, st.whole(), false, 0) {
		if err != nil {
			return nil, err
		}
		fields := make([][]byte, 0, e.fields)
		for range e.fields {
			b := e.body.bin()
			if b == nil {
				return nil, e.damaged()
			}
			fields = append(fields, b)
		}
		l.Entries = append(l.Entries, rdb.Entry{ID: dumpedID(e.id), Fields: fields, Begins: e.begins || len(l.Entries) == 0})
	}
	var groups []streamGroup // first: walks share scratch memory
	for g, err := range streamGroups(c.View, k) {
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	for i := range groups {
		g, err := wholeGroup(c, k.UID, &groups[i])
		if err != nil {
			return nil, err
		}
		l.Groups = append(l.Groups, g)
	}
	return l, nil
}

func dumpedID(id streamID) rdb.ID { return rdb.ID{Ms: id.ms, Seq: id.seq} }

// wholeGroup reads all that a group knows.
func wholeGroup(c *Call, u uid, g *streamGroup) (rdb.Group, error) {
	dumped := rdb.Group{Name: g.name, Last: dumpedID(g.last), Read: g.read}
	numbers := map[string]int{}
	for m, err := range groupConsumers(c.View, u, g) {
		if err != nil {
			return dumped, err
		}
		numbers[string(m.name)] = len(dumped.Consumers)
		dumped.Consumers = append(dumped.Consumers, rdb.Consumer{Name: m.name, Seen: m.seen, Active: -1})
	}
	for d, err := range eachPending(c.View, u, g, nil, idSpan{to: greatestID}, false, 0) {
		if err != nil {
			return dumped, err
		}
		number, ok := numbers[string(d.consumer)]
		if !ok {
			return dumped, errDamaged
		}
		dumped.Pending = append(dumped.Pending, rdb.Pending{
			ID: dumpedID(d.id), Delivered: d.delivered, Count: uint64(d.count), Consumer: number,
		})
	}
	return dumped, nil
}

// newLog stores a stream and its groups, and returns the key document that it
// needs.
func newLog(c *Call, l *rdb.Log) (keyDoc, error) {
	s, st := slot{key: keyDoc{Kind: kindStream, UID: c.newUID()}}, stream{}
	for _, e := range l.Entries {
		if e.Begins {
			st.nodes++
		}
		if err := putEntry(c.View, &s, &st, restoredID(e.ID), e.Fields, e.Begins); err != nil {
			return keyDoc{}, err
		}
	}
	if st.nodes > 0 {
		st.node = restoredNode(&l.Tail)
		st.node.last = st.last
	}
	for i := range l.Groups {
		st.groups++
		st.serial++
		if err := newGroup(c, s.key.UID, st.serial, &l.Groups[i]); err != nil {
			return keyDoc{}, err
		}
	}
	st.last, st.deleted, st.added = restoredID(l.Last), restoredID(l.MaxDeleted), int64(l.Added)
	s.key.Value = st.appendTo(nil)
	return s.key, nil
}

func restoredID(id rdb.ID) streamID { return streamID{id.Ms, id.Seq} }

func restoredNode(n *rdb.Node) streamNode {
	h := newFieldsHash()
	for _, field := range n.Fields {
		h.add(field)
	}
	return streamNode{first: restoredID(n.First), entries: n.Entries, bytes: n.Bytes, fields: uint32(h)}
}

// newGroup stores a group of a stream under a serial.
func newGroup(c *Call, u uid, serial int64, l *rdb.Group) error {
	g := streamGroup{name: l.Name, serial: serial, last: restoredID(l.Last), read: l.Read, consumers: int64(len(l.Consumers))}
	members := make([]streamConsumer, len(l.Consumers))
	for i := range members {
		members[i] = streamConsumer{name: l.Consumers[i].Name, seen: l.Consumers[i].Seen}
	}
	for _, p := range l.Pending {
		m := &members[p.Consumer]
		d := pendingEntry{id: restoredID(p.ID), consumer: m.name, delivered: p.Delivered, count: int64(p.Count)}
		g.pending.add(d.id)
		m.pending.add(d.id)
		if err := c.Tx.Put(c.groups, pendingID(c.View, u, serial, d.id), d.encode()); err != nil {
			return err
		}
	}
	for i := range members {
		if err := c.Tx.Put(c.groups, consumerID(c.View, u, serial, members[i].name), members[i].encode()); err != nil {
			return err
		}
	}
	return c.Tx.Put(c.groups, groupID(c.View, u, g.name), g.encode())
}

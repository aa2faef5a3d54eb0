package keys

import (
	"github.com/firndb/firn/internal/rdb"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// Streams in DUMP and RESTORE: entries, groups, consumers, and what is pending.

// wholeLog reads all of a stream.
func wholeLog(c *command.Call, k *keyspace.KeyDoc) (*rdb.Log, error) {
	st, err := keyspace.ParseStream(k)
	if err != nil {
		return nil, err
	}
	l := &rdb.Log{Last: dumpedID(st.Last), MaxDeleted: dumpedID(st.Deleted), Added: uint64(st.Added)}
	for e, err := range keyspace.StreamEntries(c.View, k, &st, st.Whole(), false, 0) {
		if err != nil {
			return nil, err
		}
		fields := make([][]byte, 0, e.Fields)
		for range e.Fields {
			b := e.Body.Bin()
			if b == nil {
				return nil, e.Damaged()
			}
			fields = append(fields, b)
		}
		l.Entries = append(l.Entries, rdb.Entry{ID: dumpedID(e.ID), Fields: fields, Begins: e.Begins || len(l.Entries) == 0})
	}
	var groups []keyspace.StreamGroup // read out first: one walk at a time uses the view's memory
	for g, err := range keyspace.StreamGroups(c.View, k) {
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

func dumpedID(id keyspace.StreamID) rdb.ID { return rdb.ID{Ms: id.Ms, Seq: id.Seq} }

// wholeGroup reads all that a group knows.
func wholeGroup(c *command.Call, u keyspace.UID, g *keyspace.StreamGroup) (rdb.Group, error) {
	dumped := rdb.Group{Name: g.Name, Last: dumpedID(g.Last), Read: g.Read}
	numbers := map[string]int{}
	for m, err := range keyspace.GroupConsumers(c.View, u, g) {
		if err != nil {
			return dumped, err
		}
		numbers[string(m.Name)] = len(dumped.Consumers)
		dumped.Consumers = append(dumped.Consumers, rdb.Consumer{Name: m.Name, Seen: m.Seen, Active: -1})
	}
	for d, err := range keyspace.EachPending(c.View, u, g, nil, keyspace.IDSpan{To: keyspace.GreatestID}, false, 0) {
		if err != nil {
			return dumped, err
		}
		number, ok := numbers[string(d.Consumer)]
		if !ok {
			return dumped, keyspace.ErrDamaged
		}
		dumped.Pending = append(dumped.Pending, rdb.Pending{
			ID: dumpedID(d.ID), Delivered: d.Delivered, Count: uint64(d.Count), Consumer: number,
		})
	}
	return dumped, nil
}

// newLog stores a stream and its groups, and returns the key document that it
// needs.
func newLog(c *command.Call, l *rdb.Log) (keyspace.KeyDoc, error) {
	s, st := keyspace.Slot{Key: keyspace.KeyDoc{Kind: keyspace.KindStream, UID: c.NewUID()}}, keyspace.Stream{}
	for _, e := range l.Entries {
		if e.Begins {
			st.Nodes++
		}
		if err := keyspace.PutEntry(c.View, &s, &st, restoredID(e.ID), e.Fields, e.Begins); err != nil {
			return keyspace.KeyDoc{}, err
		}
	}
	if st.Nodes > 0 {
		st.Node = restoredNode(&l.Tail)
		st.Node.Last = st.Last
	}
	for i := range l.Groups {
		st.Groups++
		st.Serial++
		if err := newGroup(c, s.Key.UID, st.Serial, &l.Groups[i]); err != nil {
			return keyspace.KeyDoc{}, err
		}
	}
	st.Last, st.Deleted, st.Added = restoredID(l.Last), restoredID(l.MaxDeleted), int64(l.Added)
	s.Key.Value = st.AppendTo(nil)
	return s.Key, nil
}

func restoredID(id rdb.ID) keyspace.StreamID { return keyspace.StreamID{Ms: id.Ms, Seq: id.Seq} }

func restoredNode(n *rdb.Node) keyspace.StreamNode {
	h := keyspace.NewFieldsHash()
	for _, field := range n.Fields {
		h.Add(field)
	}
	return keyspace.StreamNode{First: restoredID(n.First), Entries: n.Entries, Bytes: n.Bytes, Fields: uint32(h)}
}

// newGroup stores a group of a stream under a serial.
func newGroup(c *command.Call, u keyspace.UID, serial int64, l *rdb.Group) error {
	g := keyspace.StreamGroup{Name: l.Name, Serial: serial, Last: restoredID(l.Last), Read: l.Read, Consumers: int64(len(l.Consumers))}
	members := make([]keyspace.StreamConsumer, len(l.Consumers))
	for i := range members {
		members[i] = keyspace.StreamConsumer{Name: l.Consumers[i].Name, Seen: l.Consumers[i].Seen}
	}
	for _, p := range l.Pending {
		m := &members[p.Consumer]
		d := keyspace.PendingEntry{ID: restoredID(p.ID), Consumer: m.Name, Delivered: p.Delivered, Count: int64(p.Count)}
		g.Pending.Add(d.ID)
		m.Pending.Add(d.ID)
		if err := c.Tx.Put(c.Groups, keyspace.PendingID(c.View, u, serial, d.ID), d.Encode()); err != nil {
			return err
		}
	}
	for i := range members {
		if err := c.Tx.Put(c.Groups, keyspace.ConsumerID(c.View, u, serial, members[i].Name), members[i].Encode()); err != nil {
			return err
		}
	}
	return c.Tx.Put(c.Groups, keyspace.GroupID(c.View, u, g.Name), g.Encode())
}

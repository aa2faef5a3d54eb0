package keyspace

import (
	"bytes"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// GroupLedger is a group that a command changes: what was read of it, and what
// has to be written when the command is done.
type GroupLedger struct {
	v       *View
	key     []byte
	UID     UID
	Group   StreamGroup
	Changed bool           // something was written, or has to be
	members []*GroupMember // that the command has met
	byName  map[string]*GroupMember
}

// GroupMember is a consumer in a ledger.
type GroupMember struct {
	StreamConsumer
	changed bool
}

// manyMembers is how many members are searched one by one.
const manyMembers = 8

// OpenGroupLedger begins to change a group of the stream at a key.
func OpenGroupLedger(v *View, key []byte, k *KeyDoc, g StreamGroup) *GroupLedger {
	return &GroupLedger{v: v, key: key, UID: k.UID, Group: g}
}

// Find is a consumer of the group; nil if it is not there.
func (l *GroupLedger) Find(name []byte) (*GroupMember, error) {
	if m := l.met(name); m != nil {
		return m, nil
	}
	found, ok, err := FindStreamConsumer(l.v, l.UID, l.Group.Serial, name)
	if err != nil || !ok {
		return nil, err
	}
	return l.meet(found), nil
}

// met is a consumer that the ledger has already.
func (l *GroupLedger) met(name []byte) *GroupMember {
	if len(l.members) > manyMembers {
		return l.byName[string(name)]
	}
	for _, m := range l.members {
		if bytes.Equal(m.Name, name) {
			return m
		}
	}
	return nil
}

func (l *GroupLedger) meet(found StreamConsumer) *GroupMember {
	m := &GroupMember{StreamConsumer: found}
	l.members = append(l.members, m)
	if len(l.members) == manyMembers+1 {
		l.byName = map[string]*GroupMember{}
		for _, m := range l.members {
			l.byName[string(m.Name)] = m
		}
	} else if l.byName != nil {
		l.byName[string(found.Name)] = m
	}
	return m
}

// Join is find that makes the consumer if it is not there.
func (l *GroupLedger) Join(name []byte) (m *GroupMember, made bool, err error) {
	m, err = l.Find(name)
	if err != nil || m != nil {
		return m, false, err
	}
	m = l.meet(StreamConsumer{Name: name, Seen: l.v.Now()})
	m.changed, l.Changed = true, true
	l.Group.Consumers++
	l.v.Notify(EventStream, "xgroup-createconsumer", l.key)
	return m, true, nil
}

// Touch says that a consumer has done something now that is worth writing.
func (l *GroupLedger) Touch(m *GroupMember) {
	m.Seen = l.v.Now()
	m.changed, l.Changed = true, true
}

// Take ends that an entry is pending.
func (l *GroupLedger) Take(d *PendingEntry) error {
	if err := l.leave(d); err != nil {
		return err
	}
	l.Group.Pending.remove()
	return l.v.Tx.Delete(l.v.Groups, PendingID(l.v, l.UID, l.Group.Serial, d.ID), nil)
}

// leave takes a pending entry out of its consumer's count.
func (l *GroupLedger) leave(d *PendingEntry) error {
	m, err := l.Find(d.Consumer)
	if err != nil {
		return err
	}
	l.Changed = true
	if m != nil { // it always is
		m.Pending.remove()
		m.changed = true
	}
	return nil
}

// Give makes an entry pending with a consumer; was is how it was pending
// before, or nil.
func (l *GroupLedger) Give(m *GroupMember, was *PendingEntry, now PendingEntry) error {
	now.Consumer = m.Name
	switch {
	case was == nil:
		l.Group.Pending.Add(now.ID)
		m.Pending.Add(now.ID)
	case !bytes.Equal(was.Consumer, m.Name):
		if err := l.leave(was); err != nil {
			return err
		}
		m.Pending.Add(now.ID)
	}
	m.changed, l.Changed = true, true
	return l.v.Tx.Put(l.v.Groups, PendingID(l.v, l.UID, l.Group.Serial, now.ID), now.Encode())
}

// Write stores the group and its changed consumers. The caller writes the key
// if the ledger has changed.
func (l *GroupLedger) Write() error {
	if !l.Changed {
		return nil
	}
	tx, groups := l.v.Tx, l.v.Groups
	for _, m := range l.members {
		if !m.changed {
			continue
		}
		if err := l.tighten(&m.Pending, &m.StreamConsumer); err != nil {
			return err
		}
		if err := tx.Put(groups, ConsumerID(l.v, l.UID, l.Group.Serial, m.Name), m.Encode()); err != nil {
			return err
		}
	}
	if err := l.tighten(&l.Group.Pending, nil); err != nil {
		return err
	}
	return tx.Put(groups, GroupID(l.v, l.UID, l.Group.Name), l.Group.Encode())
}

// tighten finds the bounds of pending entries anew when many were taken out.
func (l *GroupLedger) tighten(p *pendingBounds, m *StreamConsumer) error {
	if p.stale < maxStale {
		return nil
	}
	all := IDSpan{p.low, p.high}
	for d, err := range EachPending(l.v, l.UID, &l.Group, m, all, false, 1) {
		if err != nil {
			return err
		}
		p.low = d.ID
	}
	for d, err := range EachPending(l.v, l.UID, &l.Group, m, all, true, 1) {
		if err != nil {
			return err
		}
		p.high = d.ID
	}
	p.stale = 0
	return nil
}

// Dismiss deletes a consumer and its pending entries, and returns how many
// those were.
func (l *GroupLedger) Dismiss(m *GroupMember) (n int64, err error) {
	n = m.Pending.Count
	for m.Pending.Count > 0 {
		var batch []PendingEntry
		for d, err := range EachPending(l.v, l.UID, &l.Group, &m.StreamConsumer, IDSpan{To: GreatestID}, false, TrimBatch) {
			if err != nil {
				return 0, err
			}
			batch = append(batch, d)
		}
		if len(batch) == 0 {
			return 0, ErrDamaged
		}
		for i := range batch {
			if err := l.Take(&batch[i]); err != nil {
				return 0, err
			}
		}
		m.Pending.low = batch[len(batch)-1].ID
	}
	l.Group.Consumers--
	m.changed, l.Changed = false, true
	return n, l.v.Tx.Delete(l.v.Groups, ConsumerID(l.v, l.UID, l.Group.Serial, m.Name), nil)
}

// Destroy deletes the group and all that it knows.
func (l *GroupLedger) Destroy() error {
	c, g := l.v, &l.Group
	from := slices.Clone(partID(c, l.UID, g.Serial, partConsumers))
	if err := deleteIDs(c, c.Groups, from, tuple.PrefixEnd(from)); err != nil {
		return err
	}
	if g.Pending.Count > 0 {
		from = slices.Clone(PendingID(c, l.UID, g.Serial, g.Pending.low))
		to := slices.Clone(PendingID(c, l.UID, g.Serial, g.Pending.high))
		if err := deleteIDs(c, c.Groups, from, append(to, 0)); err != nil {
			return err
		}
	}
	return c.Tx.Delete(c.Groups, GroupID(c, l.UID, g.Name), nil)
}

// deleteIDs deletes the documents with ids in [from, to).
func deleteIDs(v *View, t *firn.Table, from, to []byte) error {
	for {
		var ids []string
		for item, err := range v.R.Scan(firn.Range{Index: t.ByID(), From: from, To: to, Limit: TrimBatch}) {
			if err != nil {
				return err
			}
			ids = append(ids, item.Key)
		}
		for _, id := range ids {
			from = append(append(from[:0], id...), 0)
			if err := v.Tx.Delete(t, from[:len(id)], nil); err != nil {
				return err
			}
		}
		if len(ids) < TrimBatch {
			return nil
		}
	}
}

// TrimBatch is how many entries are read before they are deleted.
const TrimBatch = 1000

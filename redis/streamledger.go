package redis

import (
	"bytes"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// groupLedger is a group that a command changes: what was read of it, and what
// has to be written when the command is done.
type groupLedger struct {
	v       *View
	key     []byte
	uid     uid
	group   streamGroup
	changed bool           // something was written, or has to be
	members []*groupMember // that the command has met
	byName  map[string]*groupMember
}

// groupMember is a consumer in a ledger.
type groupMember struct {
	streamConsumer
	changed bool
}

// manyMembers is how many members are searched one by one.
const manyMembers = 8

// openGroupLedger begins to change a group of the stream at a key.
func openGroupLedger(v *View, key []byte, k *keyDoc, g streamGroup) *groupLedger {
	return &groupLedger{v: v, key: key, uid: k.UID, group: g}
}

// find is a consumer of the group; nil if it is not there.
func (l *groupLedger) find(name []byte) (*groupMember, error) {
	if m := l.met(name); m != nil {
		return m, nil
	}
	found, ok, err := findStreamConsumer(l.v, l.uid, l.group.serial, name)
	if err != nil || !ok {
		return nil, err
	}
	return l.meet(found), nil
}

// met is a consumer that the ledger has already.
func (l *groupLedger) met(name []byte) *groupMember {
	if len(l.members) > manyMembers {
		return l.byName[string(name)]
	}
	for _, m := range l.members {
		if bytes.Equal(m.name, name) {
			return m
		}
	}
	return nil
}

func (l *groupLedger) meet(found streamConsumer) *groupMember {
	m := &groupMember{streamConsumer: found}
	l.members = append(l.members, m)
	if len(l.members) == manyMembers+1 {
		l.byName = map[string]*groupMember{}
		for _, m := range l.members {
			l.byName[string(m.name)] = m
		}
	} else if l.byName != nil {
		l.byName[string(found.name)] = m
	}
	return m
}

// join is find that makes the consumer if it is not there.
func (l *groupLedger) join(name []byte) (m *groupMember, made bool, err error) {
	m, err = l.find(name)
	if err != nil || m != nil {
		return m, false, err
	}
	m = l.meet(streamConsumer{name: name, seen: l.v.now()})
	m.changed, l.changed = true, true
	l.group.consumers++
	l.v.notify(eventStream, "xgroup-createconsumer", l.key)
	return m, true, nil
}

// touch says that a consumer has done something now that is worth writing.
func (l *groupLedger) touch(m *groupMember) {
	m.seen = l.v.now()
	m.changed, l.changed = true, true
}

// take ends that an entry is pending.
func (l *groupLedger) take(d *pendingEntry) error {
	if err := l.leave(d); err != nil {
		return err
	}
	l.group.pending.remove()
	return l.v.Tx.Delete(l.v.groups, pendingID(l.v, l.uid, l.group.serial, d.id), nil)
}

// leave takes a pending entry out of its consumer's count.
func (l *groupLedger) leave(d *pendingEntry) error {
	m, err := l.find(d.consumer)
	if err != nil {
		return err
	}
	l.changed = true
	if m != nil { // it always is
		m.pending.remove()
		m.changed = true
	}
	return nil
}

// give makes an entry pending with a consumer; was is how it was pending
// before, or nil.
func (l *groupLedger) give(m *groupMember, was *pendingEntry, now pendingEntry) error {
	now.consumer = m.name
	switch {
	case was == nil:
		l.group.pending.add(now.id)
		m.pending.add(now.id)
	case !bytes.Equal(was.consumer, m.name):
		if err := l.leave(was); err != nil {
			return err
		}
		m.pending.add(now.id)
	}
	m.changed, l.changed = true, true
	return l.v.Tx.Put(l.v.groups, pendingID(l.v, l.uid, l.group.serial, now.id), now.encode())
}

// write stores the group and its changed consumers. The caller writes the key
// if the ledger has changed.
func (l *groupLedger) write() error {
	if !l.changed {
		return nil
	}
	tx, groups := l.v.Tx, l.v.groups
	for _, m := range l.members {
		if !m.changed {
			continue
		}
		if err := l.tighten(&m.pending, &m.streamConsumer); err != nil {
			return err
		}
		if err := tx.Put(groups, consumerID(l.v, l.uid, l.group.serial, m.name), m.encode()); err != nil {
			return err
		}
	}
	if err := l.tighten(&l.group.pending, nil); err != nil {
		return err
	}
	return tx.Put(groups, groupID(l.v, l.uid, l.group.name), l.group.encode())
}

// tighten finds the bounds of pending entries anew when many were taken out.
func (l *groupLedger) tighten(p *pendingBounds, m *streamConsumer) error {
	if p.stale < maxStale {
		return nil
	}
	all := idSpan{p.low, p.high}
	for d, err := range eachPending(l.v, l.uid, &l.group, m, all, false, 1) {
		if err != nil {
			return err
		}
		p.low = d.id
	}
	for d, err := range eachPending(l.v, l.uid, &l.group, m, all, true, 1) {
		if err != nil {
			return err
		}
		p.high = d.id
	}
	p.stale = 0
	return nil
}

// dismiss deletes a consumer and its pending entries, and returns how many
// those were.
func (l *groupLedger) dismiss(m *groupMember) (n int64, err error) {
	n = m.pending.count
	for m.pending.count > 0 {
		var batch []pendingEntry
		for d, err := range eachPending(l.v, l.uid, &l.group, &m.streamConsumer, idSpan{to: greatestID}, false, trimBatch) {
			if err != nil {
				return 0, err
			}
			batch = append(batch, d)
		}
		if len(batch) == 0 {
			return 0, errDamaged
		}
		for i := range batch {
			if err := l.take(&batch[i]); err != nil {
				return 0, err
			}
		}
		m.pending.low = batch[len(batch)-1].id
	}
	l.group.consumers--
	m.changed, l.changed = false, true
	return n, l.v.Tx.Delete(l.v.groups, consumerID(l.v, l.uid, l.group.serial, m.name), nil)
}

// destroy deletes the group and all that it knows.
func (l *groupLedger) destroy() error {
	c, g := l.v, &l.group
	from := slices.Clone(partID(c, l.uid, g.serial, partConsumers))
	if err := deleteIDs(c, c.groups, from, tuple.PrefixEnd(from)); err != nil {
		return err
	}
	if g.pending.count > 0 {
		from = slices.Clone(pendingID(c, l.uid, g.serial, g.pending.low))
		to := slices.Clone(pendingID(c, l.uid, g.serial, g.pending.high))
		if err := deleteIDs(c, c.groups, from, append(to, 0)); err != nil {
			return err
		}
	}
	return c.Tx.Delete(c.groups, groupID(c, l.uid, g.name), nil)
}

// deleteIDs deletes the documents with ids in [from, to).
func deleteIDs(v *View, t *firn.Table, from, to []byte) error {
	for {
		var ids []string
		for item, err := range v.R.Scan(firn.Range{Index: t.ByID(), From: from, To: to, Limit: trimBatch}) {
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
		if len(ids) < trimBatch {
			return nil
		}
	}
}

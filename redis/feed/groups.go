package feed

import (
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/streams"
	"github.com/firndb/firn/tuple"
)

// groupChanges is what a commit did to the groups of a stream.
type groupChanges struct {
	removed [][]byte // names, of groups that were made anew as well
	list    []*groupChange
}

// groupChange is what it did to one group.
type groupChange struct {
	name      []byte
	serial    int64
	now       *keyspace.StreamGroup // nil: what it keeps as a whole is as it was
	consumers []keyspace.StreamConsumer
	pending   []keyspace.PendingEntry

	dismissed [][]byte            // consumers
	settled   []keyspace.StreamID // entries that are not pending any more
}

// groups reads what a commit did to the groups of a stream; known is false if it
// cannot be told any more which of them are new.
func (d *decoder) groups(c *collection) (g groupChanges, known bool, err error) {
	bySerial := map[int64]*groupChange{}
	var parts []*firn.Document
	for _, doc := range c.groups {
		id, err := keyspace.ParseGroupsID(doc.ID, c.skip)
		switch {
		case err != nil:
			return g, false, err
		case id.Serial != 0:
			parts = append(parts, doc)
			continue
		}
		if known, err := d.group(&g, c, doc, id.Name); err != nil || !known {
			return g, false, err
		}
	}
	for _, one := range g.list {
		bySerial[one.serial] = one
	}
	missing, err := g.parts(c, parts, bySerial)
	if err != nil || !missing || c.whole {
		return g, err == nil, err
	}
	if err := d.unwritten(&g, c, bySerial); err != nil {
		return g, false, err
	}
	_, err = g.parts(c, parts, bySerial)
	return g, err == nil, err
}

// group takes a version of a group's document.
func (d *decoder) group(g *groupChanges, c *collection, doc *firn.Document, name []byte) (known bool, err error) {
	if doc.Deleted {
		if !c.whole && doc.Prev != 0 {
			g.removed = append(g.removed, name)
		}
		return true, nil
	}
	now, err := keyspace.ParseGroup(doc, name)
	if err != nil {
		return false, err
	}
	g.list = append(g.list, &groupChange{name: name, serial: now.Serial, now: &now})
	if c.whole {
		return true, nil
	}
	was, known, err := d.previous(d.call.Groups, doc)
	if err != nil || was == nil {
		return known, err
	}
	old, err := keyspace.ParseGroup(was, name)
	if err == nil && old.Serial != now.Serial {
		g.removed = append(g.removed, name)
	}
	return true, err
}

// parts takes the versions of what groups have, of those in bySerial. missing
// says that there are others: groups that are gone with all that they had, or
// whose own documents were not written.
func (g *groupChanges) parts(c *collection, docs []*firn.Document, bySerial map[int64]*groupChange) (missing bool, err error) {
	for _, one := range g.list {
		one.consumers, one.pending, one.dismissed, one.settled = nil, nil, nil, nil
	}
	for _, doc := range docs {
		id, err := keyspace.ParseGroupsID(doc.ID, c.skip)
		if err != nil {
			return false, err
		}
		one := bySerial[id.Serial]
		if one == nil {
			missing = true
			continue
		}
		if err := one.part(doc, &id, c.whole); err != nil {
			return false, err
		}
	}
	return missing, nil
}

// part takes one of them.
func (one *groupChange) part(doc *firn.Document, id *keyspace.GroupsID, whole bool) error {
	switch {
	case doc.Deleted && (whole || doc.Prev == 0):
	case doc.Deleted && id.Pending:
		one.settled = append(one.settled, id.Entry)
	case doc.Deleted:
		one.dismissed = append(one.dismissed, id.Name)
	case id.Pending:
		p, err := keyspace.ParsePending(doc, id.Entry)
		if err != nil {
			return err
		}
		one.pending = append(one.pending, p)
	default:
		m, err := keyspace.ParseConsumer(doc, id.Name)
		if err != nil {
			return err
		}
		one.consumers = append(one.consumers, m)
	}
	return nil
}

// unwritten adds the groups that the commit has left as they were.
func (d *decoder) unwritten(g *groupChanges, c *collection, bySerial map[int64]*groupChange) error {
	prefix := tuple.AppendInt([]byte(c.ch.prefix), 0)
	return d.call.Store.At(d.ts, func(then *firn.Snapshot) error {
		for item, err := range then.Scan(firn.Range{Index: d.call.Groups.ByID(), Prefix: prefix}) {
			if err != nil {
				return err
			}
			name, err := keyspace.MemberOf(item.Key, len(prefix))
			if err != nil {
				return err
			}
			group, err := keyspace.ParseGroup(item.Doc, []byte(name))
			if err != nil {
				return err
			}
			if bySerial[group.Serial] == nil {
				one := &groupChange{name: []byte(name), serial: group.Serial}
				bySerial[group.Serial] = one
				g.list = append(g.list, one)
			}
		}
		return nil
	})
}

// reply adds what happened to groups, if anything has.
func (g *groupChanges) reply(f *fields) {
	removed, all := f.part(), f.part()
	for _, name := range g.removed {
		removed.next().Bulk(name)
	}
	g.list = slices.DeleteFunc(g.list, func(one *groupChange) bool { return one.empty() })
	for _, one := range g.list {
		w := all.next()
		w.Bulk(one.name)
		inner := fields{w: f.part().w}
		one.reply(&inner)
		inner.appendTo(w)
	}
	f.some("groups_removed", &removed, set)
	f.some("groups", &all, pairs)
}

func (one *groupChange) empty() bool {
	return one.now == nil && len(one.consumers)+len(one.pending)+len(one.dismissed)+len(one.settled) == 0
}

// reply adds what happened to a group. What it has now follows what is gone.
func (one *groupChange) reply(f *fields) {
	if one.now != nil {
		streams.ReplyID(f.name("last_id"), one.now.Last)
		f.name("entries_read").Int(one.now.Read)
	}
	dismissed, settled, consumers, pending := f.part(), f.part(), f.part(), f.part()
	for _, name := range one.dismissed {
		dismissed.next().Bulk(name)
	}
	for _, id := range one.settled {
		streams.ReplyID(settled.next(), id)
	}
	for _, m := range one.consumers {
		w := consumers.next()
		w.Bulk(m.Name)
		w.Int(m.Seen)
	}
	for _, p := range one.pending {
		w := pending.next()
		streams.ReplyID(w, p.ID)
		w.Array(3)
		w.Bulk(p.Consumer)
		w.Int(p.Delivered)
		w.Int(p.Count)
	}
	f.some("consumers_removed", &dismissed, set)
	f.some("pending_removed", &settled, set)
	f.some("consumers", &consumers, pairs)
	f.some("pending", &pending, pairs)
}

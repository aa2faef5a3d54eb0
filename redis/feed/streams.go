package feed

import (
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/streams"
)

// stream adds the entries of a stream, what it keeps as a whole, and its groups.
func (d *decoder) stream(f *fields, c *collection) error {
	groups, known, err := d.groups(c)
	if err != nil {
		return err
	}
	if !known {
		return d.inFull(f, c, d.stream)
	}
	st, err := keyspace.ParseStream(&c.ch.k)
	if err != nil {
		return err
	}
	streams.ReplyID(f.name("last_id"), st.Last)
	streams.ReplyID(f.name("max_deleted_id"), st.Deleted)
	f.name("entries_added").Int(st.Added)
	if err := d.entries(f, c); err != nil {
		return err
	}
	groups.reply(f)
	return nil
}

// entries adds the entries of a stream. One that is written again, because it
// begins a node from now on, is the same as before.
func (d *decoder) entries(f *fields, c *collection) error {
	added, removed := f.part(), f.part()
	for _, doc := range c.own {
		if doc.Deleted {
			if c.whole || doc.Prev == 0 {
				continue
			}
			id, err := keyspace.TakeIDKey(doc.ID[c.skip:])
			if err != nil {
				return err
			}
			streams.ReplyID(removed.next(), id)
			continue
		}
		e, err := keyspace.ParseStreamEntry(doc, c.skip)
		if err == nil {
			err = streams.ReplyEntry(added.next(), &e)
		}
		if err != nil {
			return err
		}
	}
	if c.whole {
		f.put("value", &added, array)
		return nil
	}
	f.some("added", &added, array)
	f.some("removed", &removed, set)
	return nil
}

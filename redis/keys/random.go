package keys

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// RANDOMKEY draws a key byte by byte: of the ids that share the bytes drawn so
// far it looks at the first and the last, draws the next byte between theirs,
// and seeks. So it reads a few ids however many there are, and needs none of
// them in memory. Every key can come; one with few siblings comes more often.
// Members of a huge set, sorted or not, that is not in memory are
// drawn in the same way.

func randomKey(c *command.Call) error {
	prefix, err := c.KeyPrefix()
	if err != nil {
		return err
	}
	id := ""
	for range keyspace.RandomTries {
		item, ok, err := keyspace.DrawOne(c.View, c.Keys.ByID(), prefix)
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Null()
			return nil
		}
		id = item.Key
		if _, live, err := c.Live(item.Doc); live || err != nil {
			return replyKey(c, id, len(prefix), err)
		}
	}
	end := tuple.PrefixEnd(prefix)
	for _, r := range []firn.Range{{From: []byte(id), To: end}, {From: prefix, To: []byte(id)}} {
		r.Index = c.Keys.ByID()
		if found, err := keyspace.FirstLiveKey(c.View, r); found != "" || err != nil {
			return replyKey(c, found, len(prefix), err)
		}
	}
	c.Reply.Null()
	return nil
}

// replyKey replies the key of an id, unless err.
func replyKey(c *command.Call, id string, prefixBytes int, err error) error {
	if err != nil {
		return err
	}
	key, err := c.SubKey(id, prefixBytes)
	if err != nil {
		return err
	}
	c.Reply.Bulk(key)
	return nil
}

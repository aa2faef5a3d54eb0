package zsets

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Taking members from an end: ZPOPMIN, ZPOPMAX, ZMPOP, and those that wait.

// pop removes up to count members from one end of an opened sorted set that
// is live, and returns them in the order of their removal.
func pop(c *command.Call, s *keyspace.Slot, key []byte, count int64, highest bool) ([]keyspace.Rated, error) {
	e, err := keyspace.EditZSet(c.View, s)
	if err != nil {
		return nil, err
	}
	count = min(count, s.Key.Length)
	// The member behind them will be the one at the end.
	members, err := keyspace.SelectMembers(c.View, &s.Key, &keyspace.Selection{By: keyspace.ByRank, Last: min(count, s.Key.Length-1), Reverse: highest})
	if err != nil {
		return nil, err
	}
	rest := members[count:]
	members = members[:count]
	if err := dropAll(&e, members); err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		e.SetEnd(rest[0], highest)
	}
	event := "zpopmin"
	if highest {
		event = "zpopmax"
	}
	return members, finishRemoval(&e, event, key)
}

// zPop is ZPOPMIN and ZPOPMAX.
func zPop(highest bool) func(*command.Call) error {
	return func(c *command.Call) error {
		if len(c.Args) > 2 {
			return command.ErrSyntax
		}
		count := int64(1)
		if len(c.Args) == 2 {
			var ok bool
			if count, ok = resp.ParseInt(c.Args[1]); !ok || count < 0 {
				return command.ErrNotPositive
			}
		}
		s, err := c.OpenKind(c.Args[0], keyspace.KindZSet)
		if err != nil {
			return err
		}
		if !s.Live || count == 0 {
			c.Reply.Array(0)
			return nil
		}
		members, err := pop(c, &s, c.Args[0], count, highest)
		if err != nil {
			return err
		}
		if len(c.Args) == 1 {
			c.Reply.Array(2)
			c.Reply.BulkString(members[0].Member)
			c.Reply.Double(members[0].Score)
			return nil
		}
		replyRated(&c.Reply, members, true)
		return nil
	}
}

// zsetPopper is ZMPOP, and what waits for a member of one of several sets.
var zsetPopper = command.Popper{Kind: keyspace.KindZSet, Near: "MIN", Far: "MAX", Take: replyTakenMembers, TakeOne: replyTakenOf}

// replyTakenMembers takes up to count members off an end of a live sorted set,
// and replies them with their scores, as pairs.
func replyTakenMembers(c *command.Call, s *keyspace.Slot, key []byte, count int64, highest bool) error {
	members, err := pop(c, s, key, count, highest)
	if err != nil {
		return err
	}
	c.Reply.Array(len(members))
	for _, m := range members {
		c.Reply.Array(2)
		c.Reply.BulkString(m.Member)
		c.Reply.Double(m.Score)
	}
	return nil
}

// replyTakenOf takes a member off an end of a live sorted set, and replies it
// and its score, and of which key.
func replyTakenOf(c *command.Call, s *keyspace.Slot, key []byte, highest bool) error {
	members, err := pop(c, s, key, 1, highest)
	if err != nil {
		return err
	}
	c.Reply.Array(3)
	c.Reply.Bulk(key)
	c.Reply.BulkString(members[0].Member)
	c.Reply.Double(members[0].Score)
	return nil
}

package redis

import (
	"github.com/firndb/firn/resp"
)

// Taking members from an end: ZPOPMIN, ZPOPMAX, ZMPOP, and those that wait.

// pop removes up to count members from one end of an opened sorted set that
// is live, and returns them in the order of their removal.
func pop(c *Call, s *slot, key []byte, count int64, highest bool) ([]rated, error) {
	e, err := editZSet(c.View, s)
	if err != nil {
		return nil, err
	}
	count = min(count, s.key.Length)
	// The member behind them will be the one at the end.
	members, err := selectMembers(c.View, &s.key, &selection{by: byRank, last: min(count, s.key.Length-1), reverse: highest})
	if err != nil {
		return nil, err
	}
	rest := members[count:]
	members = members[:count]
	if err := e.dropAll(members); err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		e.setEnd(rest[0], highest)
	}
	event := "zpopmin"
	if highest {
		event = "zpopmax"
	}
	return members, e.finishRemoval(event, key)
}

// zPop is ZPOPMIN and ZPOPMAX.
func zPop(highest bool) func(*Call) error {
	return func(c *Call) error {
		if len(c.Args) > 2 {
			return errSyntax
		}
		count := int64(1)
		if len(c.Args) == 2 {
			var ok bool
			if count, ok = resp.ParseInt(c.Args[1]); !ok || count < 0 {
				return errNotPositive
			}
		}
		s, err := c.openKind(c.Args[0], kindZSet)
		if err != nil {
			return err
		}
		if !s.live || count == 0 {
			c.Reply.Array(0)
			return nil
		}
		members, err := pop(c, &s, c.Args[0], count, highest)
		if err != nil {
			return err
		}
		if len(c.Args) == 1 {
			c.Reply.Array(2)
			c.Reply.BulkString(members[0].member)
			c.Reply.Double(members[0].score)
			return nil
		}
		replyRated(&c.Reply, members, true)
		return nil
	}
}

// zsetPopper is ZMPOP, and what waits for a member of one of several sets.
var zsetPopper = popper{kindZSet, "MIN", "MAX", replyTakenMembers, replyTakenOf}

// replyTakenMembers takes up to count members off an end of a live sorted set,
// and replies them with their scores, as pairs.
func replyTakenMembers(c *Call, s *slot, key []byte, count int64, highest bool) error {
	members, err := pop(c, s, key, count, highest)
	if err != nil {
		return err
	}
	c.Reply.Array(len(members))
	for _, m := range members {
		c.Reply.Array(2)
		c.Reply.BulkString(m.member)
		c.Reply.Double(m.score)
	}
	return nil
}

// replyTakenOf takes a member off an end of a live sorted set, and replies it
// and its score, and of which key.
func replyTakenOf(c *Call, s *slot, key []byte, highest bool) error {
	members, err := pop(c, s, key, 1, highest)
	if err != nil {
		return err
	}
	c.Reply.Array(3)
	c.Reply.Bulk(key)
	c.Reply.BulkString(members[0].member)
	c.Reply.Double(members[0].score)
	return nil
}

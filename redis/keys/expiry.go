package keys

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Expiries are kept in milliseconds since the Unix epoch, in the key document.
var expiryCommands = []command.Command{
	{
		Name: "EXPIRE", Args: "key seconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Updates),
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Lets a key expire after some seconds: 1 if set, else 0.",
		Run:     func(c *command.Call) error { return expire(c, 1000, c.Now()) },
	},
	{
		Name: "PEXPIRE", Args: "key milliseconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Updates),
		Group: "generic", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Lets a key expire after some milliseconds: 1 if set, else 0.",
		Run:     func(c *command.Call) error { return expire(c, 1, c.Now()) },
	},
	{
		Name: "EXPIREAT", Args: "key unix-time-seconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Updates),
		Group: "generic", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Lets a key expire at a Unix time: 1 if set, else 0.",
		Run:     func(c *command.Call) error { return expire(c, 1000, 0) },
	},
	{
		Name: "PEXPIREAT", Args: "key unix-time-milliseconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Updates),
		Group: "generic", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Lets a key expire at a Unix time in milliseconds: 1 if set, else 0.",
		Run:     func(c *command.Call) error { return expire(c, 1, 0) },
	},
	{
		Name: "TTL", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns the seconds until a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return timeLeft(c, 1000, c.Now()) },
	},
	{
		Name: "PTTL", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "generic", Since: "2.6.0", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns the milliseconds until a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return timeLeft(c, 1, c.Now()) },
	},
	{
		Name: "EXPIRETIME", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "generic", Since: "7.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the key: made, removed, given another type or end, ended"},
		Summary: "Returns the Unix time at which a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return timeLeft(c, 1000, 0) },
	},
	{
		Name: "PEXPIRETIME", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "generic", Since: "7.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the key: made, removed, given another type or end, ended"},
		Summary: "Returns the Unix time in milliseconds at which a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return timeLeft(c, 1, 0) },
	},
	{
		Name: "PERSIST", Args: "key", Min: 1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Updates),
		Group: "generic", Since: "2.2.0", Complexity: "O(1)",
		Summary: "Removes the expiry of a key: 1 if it had one, else 0.",
		Run:     persist,
	},
}

// expire sets a key's expiry to the second argument, in units of unit ms from
// base on. One that has passed deletes the key.
func expire(c *command.Call, unit, base int64) error {
	conditions, err := command.ParseExpireConditions(c.Args[2:])
	if err != nil {
		return err
	}
	n, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return command.ErrNotInteger
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-base {
		return command.ErrExpireTime(c)
	}
	when := n*unit + base
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	allowed := s.Live && conditions.Allow(s.Key.Expires, when)
	command.ReplyFlag(c, allowed)
	if !allowed {
		return nil
	}
	if when <= c.Now() {
		return c.Delete(&s)
	}
	return c.SetExpiry(&s, when, "expire")
}

// timeLeft replies how long after since ms a key expires, in units of unit
// ms, rounded.
func timeLeft(c *command.Call, unit, since int64) error {
	k, ok, err := c.Find(c.Args[0])
	switch {
	case err != nil:
		return err
	case !ok:
		c.Reply.Int(-2)
	case k.Expires == 0:
		c.Reply.Int(-1)
	default:
		// Unsigned, because the sum may not fit otherwise.
		left := uint64(max(k.Expires-since, 0)) + uint64(unit/2)
		c.Reply.Int(int64(left / uint64(unit)))
	}
	return nil
}

func persist(c *command.Call) error {
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	had := s.Live && s.Key.Expires != 0
	command.ReplyFlag(c, had)
	if !had {
		return nil
	}
	return c.SetExpiry(&s, 0, "persist")
}

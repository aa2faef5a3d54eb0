package redis

import (
	"math"

	"github.com/firndb/firn/resp"
)

// Expiries are kept in milliseconds since the Unix epoch, in the key document.
var expiryCommands = []Command{
	{
		Name: "EXPIRE", Args: "key seconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Lets a key expire after some seconds: 1 if set, else 0.",
		Run:     func(c *Call) error { return expire(c, 1000, c.now()) },
	},
	{
		Name: "PEXPIRE", Args: "key milliseconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Lets a key expire after some milliseconds: 1 if set, else 0.",
		Run:     func(c *Call) error { return expire(c, 1, c.now()) },
	},
	{
		Name: "EXPIREAT", Args: "key unix-time-seconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Lets a key expire at a Unix time: 1 if set, else 0.",
		Run:     func(c *Call) error { return expire(c, 1000, 0) },
	},
	{
		Name: "PEXPIREAT", Args: "key unix-time-milliseconds [NX | XX | GT | LT]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Lets a key expire at a Unix time in milliseconds: 1 if set, else 0.",
		Run:     func(c *Call) error { return expire(c, 1, 0) },
	},
	{
		Name: "TTL", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns the seconds until a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *Call) error { return timeLeft(c, 1000, c.now()) },
	},
	{
		Name: "PTTL", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Returns the milliseconds until a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *Call) error { return timeLeft(c, 1, c.now()) },
	},
	{
		Name: "EXPIRETIME", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "7.0.0", Complexity: "O(1)",
		Summary: "Returns the Unix time at which a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *Call) error { return timeLeft(c, 1000, 0) },
	},
	{
		Name: "PEXPIRETIME", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "7.0.0", Complexity: "O(1)",
		Summary: "Returns the Unix time in milliseconds at which a key expires; -1 if it does not, -2 if there is none.",
		Run:     func(c *Call) error { return timeLeft(c, 1, 0) },
	},
	{
		Name: "PERSIST", Args: "key", Min: 1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "generic", Since: "2.2.0", Complexity: "O(1)",
		Summary: "Removes the expiry of a key: 1 if it had one, else 0.",
		Run:     persist,
	},
}

// expireConditions are the options of EXPIRE and its relatives.
type expireConditions struct {
	ifNone, ifSome, ifLater, ifSooner bool // NX, XX, GT, LT
}

func parseExpireConditions(args [][]byte) (o expireConditions, err error) {
	for _, arg := range args {
		switch {
		case is(arg, "NX"):
			o.ifNone = true
		case is(arg, "XX"):
			o.ifSome = true
		case is(arg, "GT"):
			o.ifLater = true
		case is(arg, "LT"):
			o.ifSooner = true
		default:
			return o, resp.Error("ERR Unsupported option " + string(cutAtZero(arg)))
		}
	}
	if o.ifNone && (o.ifSome || o.ifLater || o.ifSooner) {
		return o, resp.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	}
	if o.ifLater && o.ifSooner {
		return o, resp.Error("ERR GT and LT options at the same time are not compatible")
	}
	return o, nil
}

// allow says whether an expiry may become next when it is current (0: none,
// which is later than all others).
func (o expireConditions) allow(current, next int64) bool {
	switch {
	case o.ifNone && current != 0, o.ifSome && current == 0:
		return false
	case o.ifLater && (current == 0 || next <= current):
		return false
	case o.ifSooner && current != 0 && next >= current:
		return false
	}
	return true
}

// expire sets a key's expiry to the second argument, in units of unit ms from
// base on. One that has passed deletes the key.
func expire(c *Call, unit, base int64) error {
	conditions, err := parseExpireConditions(c.Args[2:])
	if err != nil {
		return err
	}
	n, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return errNotInteger
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-base {
		return errExpireTime(c)
	}
	when := n*unit + base
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	allowed := s.live && conditions.allow(s.key.Expires, when)
	replyFlag(c, allowed)
	if !allowed {
		return nil
	}
	if when <= c.now() {
		return c.delete(&s)
	}
	return c.setExpiry(&s, when, "expire")
}

// setExpiry gives a live key an expiry, or none, and says so.
func (v *View) setExpiry(s *slot, expires int64, event string) error {
	s.key.Expires = expires
	if err := v.write(s, s.key); err != nil {
		return err
	}
	v.notifyIn(s.db, eventGeneric, event, s.name)
	return nil
}

// timeLeft replies how long after since ms a key expires, in units of unit
// ms, rounded.
func timeLeft(c *Call, unit, since int64) error {
	k, ok, err := c.find(c.Args[0])
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

func persist(c *Call) error {
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	had := s.live && s.key.Expires != 0
	replyFlag(c, had)
	if !had {
		return nil
	}
	return c.setExpiry(&s, 0, "persist")
}

package hashes

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Fields of hashes that expire, as in Redis 7.4. How they are kept stands at
// FieldEnds.
var lifetimeCommands = []command.Command{
	{
		Name: "HEXPIRE", Args: "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1,
		Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "Lets fields of a hash expire after some seconds: for each 1 if set, 2 if it is gone at once, 0 if not, -2 if there is none.",
		Run:     func(c *command.Call) error { return hExpire(c, 1000, c.Now()) },
	},
	{
		Name: "HPEXPIRE", Args: "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1,
		Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "HEXPIRE in milliseconds.",
		Run:     func(c *command.Call) error { return hExpire(c, 1, c.Now()) },
	},
	{
		Name: "HEXPIREAT", Args: "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1,
		Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "HEXPIRE with a Unix time.",
		Run:     func(c *command.Call) error { return hExpire(c, 1000, 0) },
	},
	{
		Name: "HPEXPIREAT", Args: "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1,
		Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "HEXPIRE with a Unix time in milliseconds.",
		Run:     func(c *command.Call) error { return hExpire(c, 1, 0) },
	},
	{
		Name: "HTTL", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: command.ReadOnly | command.Fast,
		Keys:  command.FirstKey(command.Reads),
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns the seconds until fields of a hash expire; -1 for one that does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return hTimeLeft(c, 1000, c.Now()) },
	},
	{
		Name: "HPTTL", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: command.ReadOnly | command.Fast,
		Keys:  command.FirstKey(command.Reads),
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns the milliseconds until fields of a hash expire; -1 for one that does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return hTimeLeft(c, 1, c.Now()) },
	},
	{
		Name: "HEXPIRETIME", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: command.ReadOnly | command.Fast,
		Keys:  command.FirstKey(command.Reads),
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the fields that it names: written, removed, given an end, ended"},
		Summary: "Returns the Unix times at which fields of a hash expire; -1 for one that does not, -2 if there is none.",
		Run:     func(c *command.Call) error { return hTimeLeft(c, 1000, 0) },
	},
	{
		Name: "HPEXPIRETIME", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: command.ReadOnly | command.Fast,
		Keys:  command.FirstKey(command.Reads),
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the fields that it names: written, removed, given an end, ended"},
		Summary: "HEXPIRETIME in milliseconds.",
		Run:     func(c *command.Call) error { return hTimeLeft(c, 1, 0) },
	},
	{
		Name: "HPERSIST", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Updates),
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "Lets fields of a hash expire no more: for each 1 if so, -1 if it would not, -2 if there is none.",
		Run:     hPersist,
	},
}

// maxFieldEnd is the last moment at which a field may expire, in ms: Redis
// keeps it in 46 bits.
const maxFieldEnd = 1<<46 - 1

// What these commands say of a field.
const (
	fieldAbsent  = -2
	fieldNoEnd   = -1
	fieldRefused = 0 // by NX, XX, GT or LT
	fieldDone    = 1
	fieldRemoved = 2 // its end had passed already
)

// parseFields reads FIELDS numfields field [field ...]. wrongCount is the
// answer to a number that is none.
func parseFields(args [][]byte, wrongCount resp.Error) ([][]byte, error) {
	if !command.Is(args[0], "FIELDS") {
		return nil, resp.Error("ERR Mandatory argument FIELDS is missing or not at the right position")
	}
	n, ok := resp.ParseInt(args[1])
	if !ok || n < 1 {
		return nil, wrongCount
	}
	if n != int64(len(args)-2) {
		return nil, resp.Error("ERR The `numfields` parameter must match the number of arguments")
	}
	return args[2:], nil
}

// parseFieldEnd reads a time in units of unit ms from base on.
func parseFieldEnd(c *command.Call, arg []byte, unit, base int64) (int64, error) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, command.ErrNotInteger
	case n < 0:
		return 0, resp.Error("ERR invalid expire time, must be >= 0")
	case n > maxFieldEnd/unit || n*unit > maxFieldEnd-base:
		return 0, command.ErrExpireTime(c)
	}
	return n*unit + base, nil
}

// parseFieldCondition reads the one condition that may stand before FIELDS.
func parseFieldCondition(arg []byte) (o command.ExpireConditions, given bool) {
	o = command.ExpireConditions{
		IfNone: command.Is(arg, "NX"), IfSome: command.Is(arg, "XX"), IfLater: command.Is(arg, "GT"), IfSooner: command.Is(arg, "LT"),
	}
	return o, o != command.ExpireConditions{}
}

// hExpire gives fields an end, in units of unit ms from base on. One that has
// passed removes them.
func hExpire(c *command.Call, unit, base int64) error {
	h, err := keyspace.OpenFields(c.View, c.Args[0])
	if err != nil {
		return err
	}
	end, err := parseFieldEnd(c, c.Args[1], unit, base)
	if err != nil {
		return err
	}
	rest := c.Args[2:]
	conditions, given := parseFieldCondition(rest[0])
	if given {
		rest = rest[1:]
	}
	fields, err := parseFields(rest, "ERR Parameter `numFields` should be greater than 0")
	if err != nil {
		return err
	}
	c.Reply.Array(len(fields))
	var set, removed bool
	for _, field := range fields {
		result, err := expireField(c, &h, field, end, conditions)
		if err != nil {
			return err
		}
		set, removed = set || result == fieldDone, removed || result == fieldRemoved
		c.Reply.Int(result)
	}
	if set {
		c.Notify(keyspace.EventHash, "hexpire", c.Args[0])
	}
	if removed {
		c.Notify(keyspace.EventHash, "hdel", c.Args[0])
	}
	if !set && !removed {
		return nil
	}
	return h.Close(c.View)
}

// expireField gives one field an end if the conditions allow it.
func expireField(c *command.Call, h *keyspace.OpenedHash, field []byte, end int64, conditions command.ExpireConditions) (int64, error) {
	ok, current, err := h.EndOf(c.View, field)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return fieldAbsent, nil
	case !conditions.Allow(current, end):
		return fieldRefused, nil
	case end <= c.Now():
		return fieldRemoved, h.Drop(c.View, field)
	}
	return fieldDone, h.SetEnd(c.View, field, current, end)
}

// hTimeLeft replies how long after since ms fields expire, in units of unit
// ms, rounded up.
func hTimeLeft(c *command.Call, unit, since int64) error {
	k, there, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil {
		return err
	}
	fields, err := parseFields(c.Args[1:], "ERR Number of fields must be a positive integer")
	if err != nil {
		return err
	}
	h := keyspace.OpenedHash{Slot: keyspace.Slot{Key: k, Live: there}, Ends: k.FieldEnds()}
	c.Reply.Array(len(fields))
	for _, field := range fields {
		ok, end, err := h.EndOf(c.View, field)
		switch {
		case err != nil:
			return err
		case !ok:
			c.Reply.Int(fieldAbsent)
		case end == 0:
			c.Reply.Int(fieldNoEnd)
		default:
			c.Reply.Int((end - since + unit - 1) / unit)
		}
	}
	return nil
}

func hPersist(c *command.Call) error {
	h, err := keyspace.OpenFields(c.View, c.Args[0])
	if err != nil {
		return err
	}
	fields, err := parseFields(c.Args[1:], "ERR Number of fields must be a positive integer")
	if err != nil {
		return err
	}
	c.Reply.Array(len(fields))
	changed := false
	for _, field := range fields {
		ok, end, err := h.EndOf(c.View, field)
		switch {
		case err != nil:
			return err
		case !ok:
			c.Reply.Int(fieldAbsent)
			continue
		case end == 0:
			c.Reply.Int(fieldNoEnd)
			continue
		}
		if err := h.DeleteEnd(c.View, field, end); err != nil {
			return err
		}
		c.Reply.Int(fieldDone)
		changed = true
	}
	if !changed {
		return nil
	}
	c.Notify(keyspace.EventHash, "hpersist", c.Args[0])
	return h.Close(c.View)
}

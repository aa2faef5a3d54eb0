package redis

import (
	"math"

	"github.com/firndb/firn/resp"
)

// A string is a key document that holds the value itself.
var stringCommands = []Command{
	{
		Name: "GET", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns the string at key, or nil if there is none.",
		Run:     get,
	},
	{
		Name: "SET", Args: "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
		Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key, over whatever was there, with or without an expiry.",
		Run:     set,
	},
	{
		Name: "SETEX", Args: "key seconds value", Min: 3, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key that expires after some seconds.",
		Run:     func(c *Call) error { return setFor(c, setOptions{expiry: c.Args[1], unit: 1000}) },
	},
	{
		Name: "PSETEX", Args: "key milliseconds value", Min: 3, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Stores a string at key that expires after some milliseconds.",
		Run:     func(c *Call) error { return setFor(c, setOptions{expiry: c.Args[1], unit: 1}) },
	},
	{
		Name: "SETNX", Args: "key value", Min: 2, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key if there is no such key: 1 if stored, else 0.",
		Run:     setNX,
	},
	{
		Name: "GETSET", Args: "key value", Min: 2, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key and returns the one that was there, or nil.",
		Run:     getSet,
	},
	{
		Name: "GETDEL", Args: "key", Min: 1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Returns the string at key, or nil, and deletes the key.",
		Run:     getDel,
	},
	{
		Name: "GETEX", Args: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]",
		Min: 1, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Returns the string at key, or nil, and sets or removes its expiry.",
		Run:     getEx,
	},
	{
		Name: "MGET", Args: "key [key ...]", Min: 1, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, -1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(n), n the keys",
		Summary: "Returns the strings at several keys, nil where there is none.",
		Run:     mGet,
	},
	{
		Name: "MSET", Args: "key value [key value ...]", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, -1, 2},
		Group: "string", Since: "1.0.1", Complexity: "O(n), n the keys",
		Summary: "Stores several strings in one step.",
		Run:     mSet,
	},
	{
		Name: "MSETNX", Args: "key value [key value ...]", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, -1, 2},
		Group: "string", Since: "1.0.1", Complexity: "O(n), n the keys",
		Summary: "Stores several strings if none of the keys is there: 1 if stored, else 0.",
		Run:     mSetNX,
	},
	{
		Name: "STRLEN", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.2.0", Complexity: "O(1)",
		Summary: "Returns the length in bytes of the string at key; 0 if there is none.",
		Run:     strLen,
	},
	{
		Name: "APPEND", Args: "key value", Min: 2, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.0.0", Complexity: "O(n), n the length of the result",
		Summary: "Appends to the string at key and returns its length.",
		Run:     appendString,
	},
	{
		Name: "GETRANGE", Args: "key start end", Min: 3, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.4.0", Complexity: "O(n), n the length of the reply",
		Summary: "Returns the bytes from start to end of the string at key, both included; negative ones count from the end.",
		Run:     getRange,
	},
	{
		Name: "SUBSTR", Args: "key start end", Min: 3, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(n), n the length of the reply",
		Summary: "GETRANGE's old name.",
		Run:     getRange,
	},
	{
		Name: "SETRANGE", Args: "key offset value", Min: 3, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.2.0", Complexity: "O(n), n the length of the result",
		Summary: "Overwrites the string at key from offset on, padding it with zero bytes, and returns its length.",
		Run:     setRange,
	},
	{
		Name: "INCR", Args: "key", Min: 1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Adds one to the integer at key and returns the sum.",
		Run:     func(c *Call) error { return add(c, 1) },
	},
	{
		Name: "DECR", Args: "key", Min: 1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Takes one from the integer at key and returns the difference.",
		Run:     func(c *Call) error { return add(c, -1) },
	},
	{
		Name: "INCRBY", Args: "key increment", Min: 2, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Adds an integer to the one at key and returns the sum.",
		Run:     incrBy,
	},
	{
		Name: "DECRBY", Args: "key decrement", Min: 2, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Takes an integer from the one at key and returns the difference.",
		Run:     decrBy,
	},
	{
		Name: "INCRBYFLOAT", Args: "key increment", Min: 2, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "string", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Adds a number to the one at key and returns the sum.",
		Run:     incrByFloat,
	},
}

func get(c *Call) error {
	k, ok, err := c.findKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	bulkOrNull(c, k.Value, ok)
	return nil
}

// bulkOrNull replies a value, or null if there is none.
func bulkOrNull(c *Call, value []byte, ok bool) {
	if !ok {
		c.Reply.Null()
		return
	}
	c.Reply.Bulk(value)
}

// replyFlag replies 1 or 0.
func replyFlag(c *Call, yes bool) {
	var n int64
	if yes {
		n = 1
	}
	c.Reply.Int(n)
}

// setOptions are the options of SET and GETEX.
type setOptions struct {
	ifAbsent  bool // NX
	ifPresent bool // XX
	get       bool // GET: reply the old value
	keepTTL   bool
	persist   bool
	expiry    []byte // the argument of EX, PX, EXAT or PXAT; nil without
	unit      int64  // ms per unit of expiry
	absolute  bool   // expiry is a Unix time
}

// conflicts says whether an option was given that excludes the expiry option
// of this unit. Only the same option may come again.
func (o *setOptions) conflicts(unit int64, absolute bool) bool {
	return o.keepTTL || o.persist || o.expiry != nil && (o.unit != unit || o.absolute != absolute)
}

// parseExpiryOption takes EX, PX, EXAT or PXAT and its argument off args and
// says how many it took; 0 if it is something else.
func (o *setOptions) parseExpiryOption(args [][]byte) int {
	var unit int64
	var absolute bool
	switch arg := args[0]; {
	case is(arg, "EX"):
		unit = 1000
	case is(arg, "PX"):
		unit = 1
	case is(arg, "EXAT"):
		unit, absolute = 1000, true
	case is(arg, "PXAT"):
		unit, absolute = 1, true
	default:
		return 0
	}
	if len(args) < 2 || o.conflicts(unit, absolute) {
		return 0
	}
	o.expiry, o.unit, o.absolute = args[1], unit, absolute
	return 2
}

// parseSetOptions reads SET's options.
func parseSetOptions(args [][]byte) (o setOptions, err error) {
	for len(args) > 0 {
		taken := 1
		switch arg := args[0]; {
		case is(arg, "NX") && !o.ifPresent:
			o.ifAbsent = true
		case is(arg, "XX") && !o.ifAbsent:
			o.ifPresent = true
		case is(arg, "GET"):
			o.get = true
		case is(arg, "KEEPTTL") && o.expiry == nil:
			o.keepTTL = true
		default:
			taken = o.parseExpiryOption(args)
		}
		if taken == 0 {
			return o, errSyntax
		}
		args = args[taken:]
	}
	return o, nil
}

// expires is the moment in ms that the options name, 0 if none.
func (o *setOptions) expires(c *Call) (int64, error) {
	if o.expiry == nil {
		return 0, nil
	}
	n, ok := resp.ParseInt(o.expiry)
	if !ok {
		return 0, errNotInteger
	}
	if n <= 0 || n > math.MaxInt64/o.unit {
		return 0, errExpireTime(c)
	}
	n *= o.unit
	if !o.absolute {
		now := c.now()
		if n > math.MaxInt64-now {
			return 0, errExpireTime(c)
		}
		n += now
	}
	return n, nil
}

func set(c *Call) error {
	if len(c.Args) == 2 {
		return setFor(c, setOptions{})
	}
	o, err := parseSetOptions(c.Args[2:])
	if err != nil {
		return err
	}
	return setFor(c, o)
}

// setFor is SET with its options parsed. The value is the last argument of
// SETEX and PSETEX, and the second of SET.
func setFor(c *Call, o setOptions) error {
	expires, err := o.expires(c)
	if err != nil {
		return err
	}
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	if o.get && s.live && s.key.Kind != kindString {
		return errWrongType
	}
	old, had := s.key.Value, s.live
	if o.get && !had {
		c.notifyMiss(s.name)
	}
	stored := !(o.ifAbsent && had || o.ifPresent && !had)
	if stored {
		value := c.Args[1]
		if c.Cmd.Name != "SET" {
			value = c.Args[2]
		}
		if o.keepTTL {
			expires = s.key.Expires
		}
		if err := c.writeString(&s, value, compact, expires); err != nil {
			return err
		}
		c.notify(eventString, "set", s.name)
		if o.expiry != nil {
			c.notify(eventGeneric, "expire", s.name)
		}
	}
	switch {
	case o.get:
		bulkOrNull(c, old, had)
	case stored:
		c.Reply.Simple("OK")
	default:
		c.Reply.Null()
	}
	return nil
}

func setNX(c *Call) error {
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	if s.live {
		replyFlag(c, false)
		return nil
	}
	replyFlag(c, true)
	return setString(c, &s, c.Args[1])
}

// setString stores a string without an expiry, as SET does.
func setString(c *Call, s *slot, value []byte) error {
	if err := c.writeString(s, value, compact, 0); err != nil {
		return err
	}
	c.notify(eventString, "set", s.name)
	return nil
}

func getSet(c *Call) error {
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	bulkOrNull(c, s.key.Value, s.live)
	if !s.live {
		c.notifyMiss(s.name)
	}
	return setString(c, &s, c.Args[1])
}

func getDel(c *Call) error {
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	bulkOrNull(c, s.key.Value, s.live)
	if !s.live {
		c.notifyMiss(s.name)
		return nil
	}
	return c.delete(&s)
}

func getEx(c *Call) error {
	o, err := parseGetExOptions(c.Args[1:])
	if err != nil {
		return err
	}
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	if !s.live {
		c.notifyMiss(s.name)
		c.Reply.Null()
		return nil
	}
	expires, err := o.expires(c)
	if err != nil {
		return err
	}
	c.Reply.Bulk(s.key.Value)
	switch {
	case o.absolute && expires <= c.now():
		return c.delete(&s)
	case o.expiry != nil:
		return c.setExpiry(&s, expires, "expire")
	case o.persist && s.key.Expires != 0:
		return c.setExpiry(&s, 0, "persist")
	}
	return nil
}

// parseGetExOptions reads GETEX's options.
func parseGetExOptions(args [][]byte) (o setOptions, err error) {
	for len(args) > 0 {
		taken := 1
		if is(args[0], "PERSIST") && o.expiry == nil {
			o.persist = true
		} else {
			taken = o.parseExpiryOption(args)
		}
		if taken == 0 {
			return o, errSyntax
		}
		args = args[taken:]
	}
	return o, nil
}

func mGet(c *Call) error {
	c.Reply.Array(len(c.Args))
	for _, key := range c.Args {
		k, ok, err := c.find(key)
		if err != nil {
			return err
		}
		bulkOrNull(c, k.Value, ok && k.Kind == kindString)
	}
	return nil
}

func mSet(c *Call) error {
	if len(c.Args)%2 != 0 {
		return errArity(c)
	}
	c.Reply.Simple("OK")
	return setPairs(c)
}

func mSetNX(c *Call) error {
	if len(c.Args)%2 != 0 {
		return errArity(c)
	}
	for i := 0; i < len(c.Args); i += 2 {
		_, ok, err := c.look(c.Args[i])
		if err != nil {
			return err
		}
		if ok {
			replyFlag(c, false)
			return nil
		}
	}
	replyFlag(c, true)
	return setPairs(c)
}

// setPairs stores the arguments as keys and values. Of a key that comes
// twice, the last value stays.
func setPairs(c *Call) error {
	for i := 0; i < len(c.Args); i += 2 {
		s, err := c.open(c.Args[i])
		if err != nil {
			return err
		}
		if err := setString(c, &s, c.Args[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func strLen(c *Call) error {
	k, _, err := c.findKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(k.Value)))
	return nil
}

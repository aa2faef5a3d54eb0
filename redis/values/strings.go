package values

import (
	"math"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A string is a key document that holds the value itself.
var stringCommands = []command.Command{
	{
		Name: "GET", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns the string at key, or nil if there is none.",
		Run:     get,
	},
	{
		Name: "SET", Args: "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
		Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Changes).Varying(setUse).Noted("RW and ACCESS due to the optional `GET` argument"),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key, over whatever was there, with or without an expiry.",
		Run:     set,
	},
	{
		Name: "SETEX", Args: "key seconds value", Min: 3, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Overwrites),
		Group: "string", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key that expires after some seconds.",
		Run: func(c *command.Call) error {
			return setFor(c, setOptions{value: c.Args[2], expiry: c.Args[1], unit: 1000})
		},
	},
	{
		Name: "PSETEX", Args: "key milliseconds value", Min: 3, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Overwrites),
		Group: "string", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Stores a string at key that expires after some milliseconds.",
		Run: func(c *command.Call) error {
			return setFor(c, setOptions{value: c.Args[2], expiry: c.Args[1], unit: 1})
		},
	},
	{
		Name: "SETNX", Args: "key value", Min: 2, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Creates),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Stores a string at key if there is no such key: 1 if stored, else 0.",
		Run:     setNX,
	},
	{
		Name: "GETSET", Args: "key value", Min: 2, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Changes),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`SET` with the `!GET` argument"},
		Summary:    "Stores a string at key and returns the one that was there, or nil.",
		Run:        getSet,
	},
	{
		Name: "GETDEL", Args: "key", Min: 1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Takes),
		Group: "string", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Returns the string at key, or nil, and deletes the key.",
		Run:     getDel,
	},
	{
		Name: "GETEX", Args: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]", Min: 1, Max: -1,
		Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Changes).Noted("RW and UPDATE because it changes the TTL"),
		Group: "string", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Returns the string at key, or nil, and sets or removes its expiry.",
		Run:     getEx,
	},
	{
		Name: "MGET", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Fast, Keys: command.AllKeys(command.Reads),
		Group: "string", Since: "1.0.0", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard"},
		Summary: "Returns the strings at several keys, nil where there is none.",
		Run:     mGet,
	},
	{
		Name: "MSET", Args: "key value [key value ...]", Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.KeysFrom(1, -1, 2, command.Overwrites),
		Group: "string", Since: "1.0.1", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Summary: "Stores several strings in one step.",
		Run:     mSet,
	},
	{
		Name: "MSETNX", Args: "key value [key value ...]", Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.KeysFrom(1, -1, 2, command.Creates),
		Group: "string", Since: "1.0.1", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard", "response_policy:agg_min"},
		Summary: "Stores several strings if none of the keys is there: 1 if stored, else 0.",
		Run:     mSetNX,
	},
	{
		Name: "STRLEN", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "string", Since: "2.2.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectLength, What: "the length of the value"},
		Summary: "Returns the length in bytes of the string at key; 0 if there is none.",
		Run:     strLen,
	},
	{
		Name: "APPEND", Args: "key value", Min: 2, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Inserts),
		Group: "string", Since: "2.0.0", Complexity: "O(n), n the length of the result",
		Summary: "Appends to the string at key and returns its length.",
		Run:     appendString,
	},
	{
		Name: "GETRANGE", Args: "key start end", Min: 3, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "string", Since: "2.4.0", Complexity: "O(n), n the length of the reply",
		Summary: "Returns the bytes from start to end of the string at key, both included; negative ones count from the end.",
		Run:     getRange,
	},
	{
		Name: "SUBSTR", Args: "key start end", Min: 3, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "string", Since: "1.0.0", Complexity: "O(n), n the length of the reply",
		Deprecated: command.Deprecation{Since: "2.0.0", Instead: "`GETRANGE`"},
		Summary:    "GETRANGE's old name.",
		Run:        getRange,
	},
	{
		Name: "SETRANGE", Args: "key offset value", Min: 3, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "string", Since: "2.2.0", Complexity: "O(n), n the length of the result",
		Summary: "Overwrites the string at key from offset on, padding it with zero bytes, and returns its length.",
		Run:     setRange,
	},
	{
		Name: "INCR", Args: "key", Min: 1, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Changes),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Adds one to the integer at key and returns the sum.",
		Run:     func(c *command.Call) error { return add(c, 1) },
	},
	{
		Name: "DECR", Args: "key", Min: 1, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Changes),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Takes one from the integer at key and returns the difference.",
		Run:     func(c *command.Call) error { return add(c, -1) },
	},
	{
		Name: "INCRBY", Args: "key increment", Min: 2, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Changes),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Adds an integer to the one at key and returns the sum.",
		Run:     incrBy,
	},
	{
		Name: "DECRBY", Args: "key decrement", Min: 2, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Changes),
		Group: "string", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Takes an integer from the one at key and returns the difference.",
		Run:     decrBy,
	},
	{
		Name: "INCRBYFLOAT", Args: "key increment", Min: 2, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Changes),
		Group: "string", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Adds a number to the one at key and returns the sum.",
		Run:     incrByFloat,
	},
}

func get(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	if _, reading := c.R.(*firn.Snapshot); reading && len(k.Value) > maxLoopBytes && !c.Client.MayBlock() {
		c.Work.Hits-- // it is found again
		return firn.ErrCold
	}
	command.BulkOrNull(c, k.Value, ok)
	return nil
}

// maxLoopBytes is the largest value that is copied where others wait for it,
// which takes about 100 µs. A larger one is read where it may take its time,
// like one that has to be read from the file.
const maxLoopBytes = 256 << 10

// setOptions are what SET and its like store, and the options of SET and GETEX.
type setOptions struct {
	value     []byte
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
	case command.Is(arg, "EX"):
		unit = 1000
	case command.Is(arg, "PX"):
		unit = 1
	case command.Is(arg, "EXAT"):
		unit, absolute = 1000, true
	case command.Is(arg, "PXAT"):
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

// parseSet reads SET's arguments behind the key.
func parseSet(args [][]byte) (o setOptions, err error) {
	o.value = args[0]
	for args = args[1:]; len(args) > 0; {
		taken := 1
		switch arg := args[0]; {
		case command.Is(arg, "NX") && !o.ifPresent:
			o.ifAbsent = true
		case command.Is(arg, "XX") && !o.ifAbsent:
			o.ifPresent = true
		case command.Is(arg, "GET"):
			o.get = true
		case command.Is(arg, "KEEPTTL") && o.expiry == nil:
			o.keepTTL = true
		default:
			taken = o.parseExpiryOption(args)
		}
		if taken == 0 {
			return o, command.ErrSyntax
		}
		args = args[taken:]
	}
	return o, nil
}

// expires is the moment in ms that the options name, 0 if none.
func (o *setOptions) expires(c *command.Call) (int64, error) {
	if o.expiry == nil {
		return 0, nil
	}
	n, ok := resp.ParseInt(o.expiry)
	if !ok {
		return 0, command.ErrNotInteger
	}
	if n <= 0 || n > math.MaxInt64/o.unit {
		return 0, command.ErrExpireTime(c)
	}
	n *= o.unit
	if !o.absolute {
		now := c.Now()
		if n > math.MaxInt64-now {
			return 0, command.ErrExpireTime(c)
		}
		n += now
	}
	return n, nil
}

func set(c *command.Call) error {
	o, err := parseSet(c.Args[1:])
	if err != nil {
		return err
	}
	return setFor(c, o)
}

// setUse is how SET uses its key: what was there shows with GET alone.
func setUse(args [][]byte) command.Use {
	if slices.ContainsFunc(args[min(2, len(args)):], isGet) {
		return command.Changes
	}
	return command.Overwrites
}

func isGet(arg []byte) bool { return command.Is(arg, "GET") }

// setFor is SET with its arguments parsed.
func setFor(c *command.Call, o setOptions) error {
	expires, err := o.expires(c)
	if err != nil {
		return err
	}
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	if o.get && s.Live && s.Key.Kind != keyspace.KindString {
		return keyspace.ErrWrongType
	}
	old, had := s.Key.Value, s.Live
	if o.get && !had {
		c.NotifyMiss(s.Name)
	}
	stored := !(o.ifAbsent && had || o.ifPresent && !had)
	if stored {
		if o.keepTTL {
			expires = s.Key.Expires
		}
		if err := c.WriteString(&s, o.value, keyspace.Compact, expires); err != nil {
			return err
		}
		c.Notify(keyspace.EventString, "set", s.Name)
		if o.expiry != nil {
			c.Notify(keyspace.EventGeneric, "expire", s.Name)
		}
	}
	switch {
	case o.get:
		command.BulkOrNull(c, old, had)
	case stored:
		c.Reply.Simple("OK")
	default:
		c.Reply.Null()
	}
	return nil
}

func setNX(c *command.Call) error {
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	if s.Live {
		command.ReplyFlag(c, false)
		return nil
	}
	command.ReplyFlag(c, true)
	return setString(c, &s, c.Args[1])
}

// setString stores a string without an expiry, as SET does.
func setString(c *command.Call, s *keyspace.Slot, value []byte) error {
	if err := c.WriteString(s, value, keyspace.Compact, 0); err != nil {
		return err
	}
	c.Notify(keyspace.EventString, "set", s.Name)
	return nil
}

func getSet(c *command.Call) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	command.BulkOrNull(c, s.Key.Value, s.Live)
	if !s.Live {
		c.NotifyMiss(s.Name)
	}
	return setString(c, &s, c.Args[1])
}

func getDel(c *command.Call) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	command.BulkOrNull(c, s.Key.Value, s.Live)
	if !s.Live {
		c.NotifyMiss(s.Name)
		return nil
	}
	return c.Delete(&s)
}

func getEx(c *command.Call) error {
	o, err := parseGetExOptions(c.Args[1:])
	if err != nil {
		return err
	}
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	if !s.Live {
		c.NotifyMiss(s.Name)
		c.Reply.Null()
		return nil
	}
	expires, err := o.expires(c)
	if err != nil {
		return err
	}
	c.Reply.Bulk(s.Key.Value)
	switch {
	case o.absolute && expires <= c.Now():
		return c.Delete(&s)
	case o.expiry != nil:
		return c.SetExpiry(&s, expires, "expire")
	case o.persist && s.Key.Expires != 0:
		return c.SetExpiry(&s, 0, "persist")
	}
	return nil
}

// parseGetExOptions reads GETEX's options.
func parseGetExOptions(args [][]byte) (o setOptions, err error) {
	for len(args) > 0 {
		taken := 1
		if command.Is(args[0], "PERSIST") && o.expiry == nil {
			o.persist = true
		} else {
			taken = o.parseExpiryOption(args)
		}
		if taken == 0 {
			return o, command.ErrSyntax
		}
		args = args[taken:]
	}
	return o, nil
}

func mGet(c *command.Call) error {
	c.Reply.Array(len(c.Args))
	for _, key := range c.Args {
		k, ok, err := c.Find(key)
		if err != nil {
			return err
		}
		command.BulkOrNull(c, k.Value, ok && k.Kind == keyspace.KindString)
	}
	return nil
}

func mSet(c *command.Call) error {
	if len(c.Args)%2 != 0 {
		return command.ErrArity(c)
	}
	c.Reply.Simple("OK")
	return setPairs(c)
}

func mSetNX(c *command.Call) error {
	if len(c.Args)%2 != 0 {
		return command.ErrArity(c)
	}
	for i := 0; i < len(c.Args); i += 2 {
		_, ok, err := c.Look(c.Args[i])
		if err != nil {
			return err
		}
		if ok {
			command.ReplyFlag(c, false)
			return nil
		}
	}
	command.ReplyFlag(c, true)
	return setPairs(c)
}

// setPairs stores the arguments as keys and values. Of a key that comes
// twice, the last value stays.
func setPairs(c *command.Call) error {
	return keyspace.OpenEach(c.View, c.Args, func(s *keyspace.Slot, value []byte) error { return setString(c, s, value) })
}

func strLen(c *command.Call) error {
	k, _, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(k.Value)))
	return nil
}

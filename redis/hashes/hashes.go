package hashes

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// A hash is a key document and an element for each field, whose sub-key is the
// field and whose value is the field's value and nothing else. When a field
// expires stands elsewhere: see FieldEnds.
var hashCommands = []command.Command{
	{
		Name: "HSET", Args: "key field value [field value ...]", Min: 3, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Updates),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Summary: "Sets fields of the hash at key and returns how many are new.",
		Run:     hSet,
	},
	{
		Name: "HMSET", Args: "key field value [field value ...]", Min: 3, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Updates),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Deprecated: command.Deprecation{Since: "4.0.0", Instead: "`HSET` with multiple field-value pairs"},
		Summary:    "HSET with the reply OK.",
		Run:        hMSet,
	},
	{
		Name: "HSETNX", Args: "key field value", Min: 3, Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Inserts),
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Sets a field of the hash at key if it is not there: 1 if set, else 0.",
		Run:     hSetNX,
	},
	{
		Name: "HGET", Args: "key field", Min: 2, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the fields that it names: written, removed, given an end, ended"},
		Summary: "Returns a field of the hash at key, or nil.",
		Run:     hGet,
	},
	{
		Name: "HMGET", Args: "key field [field ...]", Min: 2, Max: -1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the fields that it names: written, removed, given an end, ended"},
		Summary: "Returns several fields of the hash at key, nil where there is none.",
		Run:     hMGet,
	},
	{
		Name: "HGETALL", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields of the hash",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns all fields of the hash at key and their values.",
		Differs: "In the order of the fields' bytes.",
		Run:     func(c *command.Call) error { return replyHash(c, true, true) },
	},
	{
		Name: "HKEYS", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields of the hash",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns all fields of the hash at key.",
		Differs: "In the order of the fields' bytes.",
		Run:     func(c *command.Call) error { return replyHash(c, true, false) },
	},
	{
		Name: "HVALS", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields of the hash",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns the values of all fields of the hash at key.",
		Differs: "In the order of the fields' bytes.",
		Run:     func(c *command.Call) error { return replyHash(c, false, true) },
	},
	{
		Name: "HLEN", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "hash", Since: "2.0.0", Complexity: "O(1), and the expired fields that are not swept yet",
		Live:    command.Live{On: keyspace.AspectLength, What: "the number of fields, the end of one"},
		Summary: "Returns how many fields the hash at key has.",
		Differs: "Does not count fields that have expired.",
		Run:     hLen,
	},
	{
		Name: "HSTRLEN", Args: "key field", Min: 2, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "hash", Since: "3.2.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the fields that it names: written, removed, given an end, ended"},
		Summary: "Returns the length of a field's value; 0 if there is none.",
		Run:     hStrLen,
	},
	{
		Name: "HEXISTS", Args: "key field", Min: 2, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the fields that it names: written, removed, given an end, ended"},
		Summary: "Says whether the hash at key has a field: 1 if so, else 0.",
		Run:     hExists,
	},
	{
		Name: "HDEL", Args: "key field [field ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Deletes),
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Summary: "Removes fields of the hash at key and returns how many there were. A hash without fields is gone.",
		Run:     hDel,
	},
	{
		Name: "HINCRBY", Args: "key field increment", Min: 3, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Changes),
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Adds an integer to a field of the hash at key and returns the sum.",
		Run:     hIncrBy,
	},
	{
		Name: "HINCRBYFLOAT", Args: "key field increment", Min: 3, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Changes),
		Group: "hash", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Adds a number to a field of the hash at key and returns the sum.",
		Run:     hIncrByFloat,
	},
	{
		Name: "HRANDFIELD", Args: "key [count [WITHVALUES]]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Random,
		Keys:  command.FirstKey(command.Reads),
		Group: "hash", Since: "6.2.0", Complexity: "O(count · log n), n the fields of the hash",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveChance},
		Summary: "Returns fields chosen at random, different ones if count is positive.",
		Differs: "At most 10,000,000 with a negative count.",
		Run:     hRandField,
	},
	{
		Name: "HSCAN", Args: "key cursor [MATCH pattern] [COUNT count]", Min: 2, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "hash", Since: "2.8.0", Complexity: "O(count) per call",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveCursors},
		Summary: "Walks over the fields of the hash at key in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in the order of the fields' bytes.",
		Run:     hScan,
	},
}

// findField reads a field of the hash at the key that the call names first.
func findField(c *command.Call, field []byte) (value []byte, ok bool, err error) {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil || !ok {
		return nil, false, err
	}
	return keyspace.FieldValue(c.View, &k, field)
}

func hSet(c *command.Call) error {
	added, err := setFields(c)
	if err == nil {
		c.Reply.Int(added)
	}
	return err
}

func hMSet(c *command.Call) error {
	_, err := setFields(c)
	if err == nil {
		c.Reply.Simple("OK")
	}
	return err
}

// setFields sets the fields that the arguments have after the key, and says
// how many are new.
func setFields(c *command.Call) (added int64, err error) {
	if len(c.Args)%2 == 0 {
		return 0, command.ErrArity(c)
	}
	h, err := keyspace.OpenHash(c.View, c.Args[0])
	if err != nil {
		return 0, err
	}
	for i := 1; i < len(c.Args); i += 2 {
		isNew, err := h.Set(c.View, c.Args[i], c.Args[i+1])
		if err != nil {
			return 0, err
		}
		if isNew {
			added++
		}
	}
	err = h.Close(c.View)
	c.Notify(keyspace.EventHash, "hset", c.Args[0])
	return added, err
}

func hSetNX(c *command.Call) error {
	h, err := keyspace.OpenHash(c.View, c.Args[0])
	if err != nil {
		return err
	}
	_, had, err := keyspace.FieldValue(c.View, &h.Key, c.Args[1])
	if err != nil {
		return err
	}
	command.ReplyFlag(c, !had)
	if had {
		return nil
	}
	if _, err := h.Set(c.View, c.Args[1], c.Args[2]); err != nil {
		return err
	}
	err = h.Close(c.View)
	c.Notify(keyspace.EventHash, "hset", c.Args[0])
	return err
}

func hGet(c *command.Call) error {
	value, ok, err := findField(c, c.Args[1])
	if err != nil {
		return err
	}
	command.BulkOrNull(c, value, ok)
	return nil
}

func hMGet(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 1)
	for _, field := range c.Args[1:] {
		if !ok {
			c.Reply.Null()
			continue
		}
		value, had, err := keyspace.FieldValue(c.View, &k, field)
		if err != nil {
			return err
		}
		command.BulkOrNull(c, value, had)
	}
	return nil
}

// replyHash replies all fields of the hash at the key that the call names first, their values, or
// both.
func replyHash(c *command.Call, fields, values bool) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil {
		return err
	}
	n, err := keyspace.HashLength(c.View, &k)
	if err != nil {
		return err
	}
	if fields && values {
		c.Reply.Map(int(n))
	} else {
		c.Reply.Array(int(n))
	}
	if !ok {
		return nil
	}
	return keyspace.EachField(c.View, &k, func(field, value []byte) error {
		if fields {
			c.Reply.Bulk(field)
		}
		if values {
			c.Reply.Bulk(value)
		}
		return nil
	})
}

func hLen(c *command.Call) error {
	k, _, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil {
		return err
	}
	n, err := keyspace.HashLength(c.View, &k)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	return nil
}

func hStrLen(c *command.Call) error {
	value, _, err := findField(c, c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(value)))
	return nil
}

func hExists(c *command.Call) error {
	_, ok, err := findField(c, c.Args[1])
	if err != nil {
		return err
	}
	command.ReplyFlag(c, ok)
	return nil
}

func hDel(c *command.Call) error {
	h, err := keyspace.OpenFields(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !h.Live {
		c.Reply.Int(0)
		return nil
	}
	var n int64
	for _, field := range c.Args[1:] {
		_, ok, err := keyspace.FieldValue(c.View, &h.Key, field)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := h.Drop(c.View, field); err != nil {
			return err
		}
		n++
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	c.Notify(keyspace.EventHash, "hdel", c.Args[0])
	return h.Close(c.View)
}

package keys

import (
	"bytes"
	"math"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Keys of any type.
var keyCommands = []command.Command{
	{
		Name: "DEL", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.Writes, Keys: command.AllKeys(command.Removes),
		Group: "generic", Since: "1.0.0", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Summary: "Deletes keys and returns how many there were.",
		Differs: "Constant time per key: what a collection held stays readable in the past.",
		Run:     del,
	},
	{
		Name: "UNLINK", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.Writes | command.Fast, Keys: command.AllKeys(command.Removes),
		Group: "generic", Since: "4.0.0", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Summary: "DEL by another name.",
		Run:     del,
	},
	{
		Name: "EXISTS", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Fast, Keys: command.AllKeys(command.Looks),
		Group: "generic", Since: "1.0.0", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the key: made, removed, given another type or end, ended"},
		Summary: "Returns how many of the keys there are; one named twice counts twice.",
		Run:     exists,
	},
	{
		Name: "TOUCH", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Fast, Keys: command.AllKeys(command.Looks),
		Group: "generic", Since: "3.2.1", Complexity: "O(n), n the keys",
		Tips:    []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the key: made, removed, given another type or end, ended"},
		Summary: "EXISTS by another name.",
		Differs: "Does not change the time of last access: none is kept.",
		Run:     exists,
	},
	{
		Name: "TYPE", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the key: made, removed, given another type or end, ended"},
		Summary: "Returns the type of the value at key: string, list, set, zset, hash, stream, or none.",
		Run:     typeOf,
	},
	{
		Name: "RENAME", Args: "key newkey", Min: 2, Flags: command.Writes, Keys: command.FirstKey(command.Takes).And(command.KeyAt(2, command.Overwrites)),
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Moves a key to another name, over whatever was there.",
		Run:     func(c *command.Call) error { return rename(c, false) },
	},
	{
		Name: "RENAMENX", Args: "key newkey", Min: 2, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Takes).And(command.KeyAt(2, command.Creates)),
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Moves a key to another name if there is no such key: 1 if moved, else 0.",
		Run:     func(c *command.Call) error { return rename(c, true) },
	},
	{
		Name: "COPY", Args: "source destination [DB destination-db] [REPLACE]", Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Reads).And(command.KeyAt(2, command.Overwrites)),
		Group: "generic", Since: "6.2.0", Complexity: "O(n), n the elements of a collection; O(1) for a string",
		Summary: "Copies a key to another name or database: 1 if copied, else 0.",
		Run:     copyKey,
	},
	{
		Name: "MOVE", Args: "key db", Min: 2, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Changes),
		Group: "generic", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Moves a key to another database if it is not there yet: 1 if moved, else 0.",
		Run:     move,
	},
	{
		Name: "RANDOMKEY", Flags: command.ReadOnly | command.Random,
		Group: "generic", Since: "1.0.0", Complexity: "O(log n), n the keys",
		Tips:    []string{"request_policy:all_shards", "nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveChance},
		Summary: "Returns some key, or nil if there is none.",
		Differs: "Every key can come, but not all equally often.",
		Run:     randomKey,
	},
	{
		Name: "OBJECT", Group: "generic", Since: "2.2.3",
		Summary: "Tells how Redis would keep the value at a key.",
		Sub:     objectCommands,
	},
	{
		Name: "WAIT", Args: "numreplicas timeout", Min: 2, Flags: command.Local | command.NoScript, Categories: command.CatConnection,
		Group: "generic", Since: "3.0.0", Complexity: "O(1)",
		Tips:    []string{"request_policy:all_shards", "response_policy:agg_min"},
		Summary: "Returns how many replicas have the connection's writes: 0, there are none.",
		Run:     waitForReplicas,
	},
}

func del(c *command.Call) error {
	var n int64
	for _, key := range c.Args {
		s, err := c.Open(key)
		if err != nil {
			return err
		}
		if !s.Live {
			continue
		}
		if err := c.Delete(&s); err != nil {
			return err
		}
		n++
	}
	c.Reply.Int(n)
	return nil
}

func exists(c *command.Call) error {
	var n int64
	for _, key := range c.Args {
		_, ok, err := c.Find(key)
		if err != nil {
			return err
		}
		if ok {
			n++
		}
	}
	c.Reply.Int(n)
	return nil
}

func typeOf(c *command.Call) error {
	k, _, err := c.Find(c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Simple(k.Kind.String())
	return nil
}

// rename moves a key's document; its elements stay where they are.
func rename(c *command.Call, ifAbsent bool) error {
	from, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	if !from.Live {
		return command.ErrNoSuchKey
	}
	to, err := c.OpenIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	moved := !(ifAbsent && to.Live)
	if ifAbsent {
		command.ReplyFlag(c, moved)
	} else {
		c.Reply.Simple("OK")
	}
	if !moved || bytes.Equal(c.Args[0], c.Args[1]) {
		return nil
	}
	return moveTo(c, &from, &to, "rename_from", "rename_to")
}

// moveTo gives to what from has, ends from, and says so with two events. What
// was there before ends, so for those who listen the key is new.
//
// Where the new name's policy is not the old one's, the elements are copied: a
// collection is kept as long as its last owner's policy says, and the old name
// may have to know longer what it was.
func moveTo(c *command.Call, from, to *keyspace.Slot, left, came string) (err error) {
	moved := from.Key
	moved.Origin = from.Origin()
	if moved.Kind != keyspace.KindString && policyOf(c, from) != policyOf(c, to) {
		if moved.UID, err = keyspace.CopyElements(c.View, c.R, &moved); err != nil {
			return err
		}
	}
	if err := c.Remove(from); err != nil {
		return err
	}
	to.Live = false
	if err := c.Write(to, moved); err != nil {
		return err
	}
	c.NotifyIn(from.DB, keyspace.EventGeneric, left, from.Name)
	c.NotifyIn(to.DB, keyspace.EventGeneric, came, to.Name)
	return nil
}

// policyOf says how much of a key's history is kept.
func policyOf(c *command.Call, s *keyspace.Slot) firn.Retention {
	p, _ := c.Store.Retention(keyspace.KeyScope(string(s.ID)))
	return p
}

// copyOptions are the options of COPY.
type copyOptions struct {
	db      int
	replace bool
}

func parseCopyOptions(c *command.Call, args [][]byte) (o copyOptions, err error) {
	o.db = c.DB
	for i := 0; i < len(args); i++ {
		switch {
		case command.Is(args[i], "REPLACE"):
			o.replace = true
		case command.Is(args[i], "DB") && i+1 < len(args):
			i++
			if o.db, err = parseDatabaseNumber(c, args[i]); err != nil {
				return o, err
			}
		default:
			return o, command.ErrSyntax
		}
	}
	return o, nil
}

// parseDatabaseNumber reads the number of a database that there is.
func parseDatabaseNumber(c *command.Call, arg []byte) (int, error) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, command.ErrNotInteger
	case n < math.MinInt32 || n > math.MaxInt32:
		return 0, resp.Error("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n < 0 || n >= int64(c.DatabaseCount):
		return 0, command.ErrDatabase
	}
	return int(n), nil
}

func copyKey(c *command.Call) error {
	o, err := parseCopyOptions(c, c.Args[2:])
	if err != nil {
		return err
	}
	if o.db == c.DB && bytes.Equal(c.Args[0], c.Args[1]) {
		return command.ErrSameObject
	}
	from, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	to, err := c.OpenIn(o.db, c.Args[1])
	if err != nil {
		return err
	}
	if !from.Live {
		c.NotifyMiss(from.Name)
	}
	copied := from.Live && (o.replace || !to.Live)
	command.ReplyFlag(c, copied)
	if !copied {
		return nil
	}
	next := from.Key
	next.Created, next.Origin = 0, from.Origin()
	if next.Kind != keyspace.KindString {
		if next.UID, err = keyspace.CopyElements(c.View, c.R, &from.Key); err != nil {
			return err
		}
	}
	to.Live = false // as for moveTo
	if err := c.Write(&to, next); err != nil {
		return err
	}
	c.NotifyIn(to.DB, keyspace.EventGeneric, "copy_to", to.Name)
	return nil
}

func move(c *command.Call) error {
	db, err := parseDatabaseNumber(c, c.Args[1])
	if err != nil {
		return err
	}
	if db == c.DB {
		return command.ErrSameObject
	}
	from, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	to, err := c.OpenIn(db, c.Args[0])
	if err != nil {
		return err
	}
	moved := from.Live && !to.Live
	command.ReplyFlag(c, moved)
	if !moved {
		return nil
	}
	return moveTo(c, &from, &to, "move_from", "move_to")
}

func waitForReplicas(c *command.Call) error {
	if _, ok := resp.ParseInt(c.Args[0]); !ok {
		return command.ErrNotInteger
	}
	if _, err := command.ParseTimeoutMillis(c.Args[1]); err != nil {
		return err
	}
	c.Reply.Int(0)
	return nil
}

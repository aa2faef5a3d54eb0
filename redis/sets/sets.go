package sets

import (
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A set is a key document and one element per member, without a value.
var setCommands = []command.Command{
	{
		Name: "SADD", Args: "key member [member ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "set", Since: "1.0.0", Complexity: "O(n), n the members",
		Summary: "Adds members to the set at key and returns how many were new.",
		Run:     sAdd,
	},
	{
		Name: "SREM", Args: "key member [member ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Deletes),
		Group: "set", Since: "1.0.0", Complexity: "O(n), n the members",
		Summary: "Removes members of the set at key and returns how many there were. A set without members is gone.",
		Run:     sRem,
	},
	{
		Name: "SMEMBERS", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "set", Since: "1.0.0", Complexity: "O(n), n the members of the set",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns all members of the set at key.",
		Run:     sMembers,
	},
	{
		Name: "SISMEMBER", Args: "key member", Min: 2, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "set", Since: "1.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the members that it names: added, removed"},
		Summary: "Says whether the set at key has a member: 1 if so, else 0.",
		Run:     sIsMember,
	},
	{
		Name: "SMISMEMBER", Args: "key member [member ...]", Min: 2, Max: -1, Flags: command.ReadOnly | command.Fast,
		Keys:  command.FirstKey(command.Reads),
		Group: "set", Since: "6.2.0", Complexity: "O(n), n the members asked for",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the members that it names: added, removed"},
		Summary: "Says for each of several members whether the set at key has it: 1 if so, else 0.",
		Run:     sMIsMember,
	},
	{
		Name: "SCARD", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "set", Since: "1.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectLength, What: "the number of members"},
		Summary: "Returns how many members the set at key has.",
		Run:     sCard,
	},
	{
		Name: "SMOVE", Args: "source destination member", Min: 3, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Takes).And(command.KeyAt(2, command.Inserts)),
		Group: "set", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Moves a member from one set to another: 1 if it was there, else 0.",
		Run:     sMove,
	},
	{
		Name: "SPOP", Args: "key [count]", Min: 1, Max: -1, Flags: command.Writes | command.Fast | command.Random, Keys: command.FirstKey(command.Takes),
		Group: "set", Since: "1.0.0", Complexity: "O(count · log n), n the members of the set",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Removes members chosen at random from the set at key and returns them.",
		Differs: "Of a set of more than 65,536 members that is not in memory all can come, but not all equally often.",
		Run:     sPop,
	},
	{
		Name: "SRANDMEMBER", Args: "key [count]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Random, Keys: command.FirstKey(command.Reads),
		Group: "set", Since: "1.0.0", Complexity: "O(count · log n), n the members of the set",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveChance},
		Summary: "Returns members chosen at random, different ones if count is positive.",
		Differs: "At most 10,000,000 with a negative count. Of a set of more than 65,536 members that is not in memory all can come, but not all equally often.",
		Run:     sRandMember,
	},
	{
		Name: "SSCAN", Args: "key cursor [MATCH pattern] [COUNT count]", Min: 2, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "set", Since: "2.8.0", Complexity: "O(count) per call",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveCursors},
		Summary: "Walks over the members of the set at key in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in the order of the members' bytes.",
		Run:     sScan,
	},
	{
		Name: "SINTER", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.AllKeys(command.Reads),
		Group: "set", Since: "1.0.0", Complexity: "O(n · m), n the members of the smallest set, m the sets",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns the members that all of the sets have.",
		Run:     sInter,
	},
	{
		Name: "SINTERCARD", Args: "numkeys key [key ...] [LIMIT limit]", Min: 2, Max: -1, Flags: command.ReadOnly,
		Keys:  command.CountedKeys(1, command.Reads),
		Group: "set", Since: "7.0.0", Complexity: "O(n · m), n the members of the smallest set, m the sets",
		Summary: "Returns how many members all of the sets have, counting up to the limit if that is not 0.",
		Run:     sInterCard,
	},
	{
		Name: "SINTERSTORE", Args: "destination key [key ...]", Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Updates).And(command.KeysFrom(2, -1, 1, command.Reads)),
		Group: "set", Since: "1.0.0", Complexity: "O(n · m), n the members of the smallest set, m the sets",
		Summary: "Stores the members that all of the sets have as a new set, and returns how many.",
		Run:     sInterStore,
	},
	{
		Name: "SUNION", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.AllKeys(command.Reads),
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns the members that any of the sets has.",
		Run:     func(c *command.Call) error { return replyCombined(c, uniteSets) },
	},
	{
		Name: "SUNIONSTORE", Args: "destination key [key ...]", Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Overwrites).And(command.KeysFrom(2, -1, 1, command.Reads)),
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Summary: "Stores the members that any of the sets has as a new set, and returns how many.",
		Run:     func(c *command.Call) error { return storeCombined(c, "sunionstore", uniteSets) },
	},
	{
		Name: "SDIFF", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.AllKeys(command.Reads),
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Tips:    []string{"nondeterministic_output_order"},
		Summary: "Returns the members of the first set that none of the others has.",
		Run:     func(c *command.Call) error { return replyCombined(c, subtractSets) },
	},
	{
		Name: "SDIFFSTORE", Args: "destination key [key ...]", Min: 2, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Overwrites).And(command.KeysFrom(2, -1, 1, command.Reads)),
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Summary: "Stores the members of the first set that none of the others has as a new set, and returns how many.",
		Run:     func(c *command.Call) error { return storeCombined(c, "sdiffstore", subtractSets) },
	},
}

func sAdd(c *command.Call) error {
	s, err := keyspace.OpenSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	var n int64
	for _, member := range c.Args[1:] {
		added, err := keyspace.AddMember(c.View, &s, member)
		if err != nil {
			return err
		}
		if added {
			n++
		}
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	err = c.Write(&s, s.Key)
	c.Notify(keyspace.EventSet, "sadd", c.Args[0])
	return err
}

func sRem(c *command.Call) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	var n int64
	for _, member := range c.Args[1:] {
		if !s.Live {
			break
		}
		dropped, err := keyspace.DropMember(c.View, &s, member)
		if err != nil {
			return err
		}
		if dropped {
			n++
		}
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	c.Notify(keyspace.EventSet, "srem", c.Args[0])
	return keyspace.WriteOrRemove(c.View, &s)
}

func sMove(c *command.Call) error {
	from, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	if !from.Live {
		c.Reply.Int(0)
		return nil
	}
	to, err := c.OpenIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if from.Key.Kind != keyspace.KindSet || to.Live && to.Key.Kind != keyspace.KindSet {
		return keyspace.ErrWrongType
	}
	if string(from.ID) == string(to.ID) {
		_, had, err := c.Element(from.Key.UID, c.Args[2])
		command.ReplyFlag(c, had)
		return err
	}
	moved, err := keyspace.DropMember(c.View, &from, c.Args[2])
	command.ReplyFlag(c, moved)
	if err != nil || !moved {
		return err
	}
	c.Notify(keyspace.EventSet, "srem", c.Args[0])
	if err := keyspace.WriteOrRemove(c.View, &from); err != nil {
		return err
	}
	if !to.Live {
		to.Key = keyspace.KeyDoc{Kind: keyspace.KindSet, UID: c.NewUID()}
	}
	added, err := keyspace.AddMember(c.View, &to, c.Args[2])
	if err != nil || !added {
		return err
	}
	err = c.Write(&to, to.Key)
	c.Notify(keyspace.EventSet, "sadd", c.Args[1])
	return err
}

func sIsMember(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	if ok {
		if _, ok, err = c.Element(k.UID, c.Args[1]); err != nil {
			return err
		}
	}
	command.ReplyFlag(c, ok)
	return nil
}

func sMIsMember(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 1)
	for _, member := range c.Args[1:] {
		had := false
		if ok {
			if _, had, err = c.Element(k.UID, member); err != nil {
				return err
			}
		}
		command.ReplyFlag(c, had)
	}
	return nil
}

func sCard(c *command.Call) error {
	k, _, err := c.FindKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func sMembers(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Set(0)
		return nil
	}
	return ReplySetState(c.View, &c.Reply, &k)
}

// ReplySetState appends a set.
func ReplySetState(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc) error {
	w.Set(int(k.Length))
	return keyspace.EachInSet(v, k, func(member string) error {
		w.BulkString(member)
		return nil
	})
}

func sScan(c *command.Call) error {
	return command.ScanElements(c, keyspace.KindSet, func(k *keyspace.KeyDoc, cursor uint64, o *command.ScanOptions, l *command.List) (uint64, error) {
		if k.Encoding != keyspace.Large {
			// Like Redis, an intset in one step.
			return 0, keyspace.EachInSet(c.View, k, func(member string) error {
				if m := []byte(member); o.Matches(m) {
					l.Add(m)
				}
				return nil
			})
		}
		prefix := slices.Clone(c.PrefixOf(k.UID))
		return command.Step(c, c.Elements.ByID(), prefix, cursor, o, func(item firn.Item) error {
			member, err := c.SubKey(item.Key, len(prefix))
			if err == nil && o.Matches(member) {
				l.Add(member)
			}
			return err
		})
	})
}

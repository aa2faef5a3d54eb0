package keys

import (
	"fmt"

	"github.com/firndb/firn/internal/rdb"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// A value as one string, in Redis's own format: what DUMP says here, a Redis
// of version 7.0 and up restores, and the other way round.
var dumpCommands = []command.Command{
	{
		Name: "DUMP", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "generic", Since: "2.6.0", Complexity: "O(n), n the size of the value",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Returns the value at key in Redis's serialization format, or nil.",
		Differs: "Writes the format of Redis 7.0, which has no place for the expiries of a hash's fields. Elements are in Firn's order, and compressed bytes may differ from Redis's.",
		Run:     dump,
	},
	{
		Name: "RESTORE", Args: "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]", Min: 3, Max: -1,
		Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Overwrites), Categories: command.CatKeyspace | command.CatDangerous,
		Group: "generic", Since: "2.6.0", Complexity: "O(n · log n), n the elements",
		Summary: "Makes a key of what DUMP has returned, with a time to live in milliseconds; 0 is none.",
		Differs: "Also takes what Redis 7.2 and 7.4 dump, with the expiries of a hash's fields; modules' types it refuses. " +
			"A member or field that is there twice is refused always. A collection has at most 10,000,000 elements, and past a million not more than the payload has bytes. IDLETIME and FREQ are checked and not kept.",
		Run: restore,
	},
}

func dump(c *command.Call) error {
	k, ok, err := c.Find(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	v, err := wholeValue(c, &k)
	if err != nil {
		return err
	}
	c.Reply.Bulk(rdb.Seal(rdb.Append(nil, v)))
	return nil
}

// wholeValue reads a live key's value.
func wholeValue(c *command.Call, k *keyspace.KeyDoc) (v *rdb.Value, err error) {
	v = &rdb.Value{Compact: k.Encoding != keyspace.Large}
	add := func(b []byte) error {
		v.Items = append(v.Items, b)
		return nil
	}
	switch k.Kind {
	case keyspace.KindString:
		v.String = k.Value
		return v, nil
	case keyspace.KindList:
		v.Kind = rdb.List
		return v, keyspace.WalkList(c.View, k, 0, false, add)
	case keyspace.KindSet:
		v.Kind = rdb.Set
		return v, keyspace.WalkSet(c.View, k, 0, func(member string) error { return add([]byte(member)) })
	case keyspace.KindZSet:
		v.Kind = rdb.ZSet
		return v, keyspace.WalkZSet(c.View, k, 0, false, func(member []byte, score float64) error {
			v.Scores = append(v.Scores, score)
			return add(member)
		})
	case keyspace.KindHash:
		v.Kind = rdb.Hash
		return v, keyspace.EachField(c.View, k, func(field, value []byte) error {
			v.Items = append(v.Items, keyspace.Own(field), keyspace.Own(value))
			return nil
		})
	case keyspace.KindStream:
		v.Kind = rdb.Stream
		v.Stream, err = wholeLog(c, k)
		return v, err
	}
	return nil, fmt.Errorf("value of a %s: %w", k.Kind, keyspace.ErrDamaged)
}

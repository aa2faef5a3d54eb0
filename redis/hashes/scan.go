package hashes

import (
	"math/rand/v2"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// Parts of hashes: HSCAN and HRANDFIELD.

func hScan(c *command.Call) error {
	return command.ScanElements(c, keyspace.KindHash, func(k *keyspace.KeyDoc, cursor uint64, o *command.ScanOptions, l *command.List) (uint64, error) {
		if k.Encoding != keyspace.Large {
			// Like Redis, a small hash in one step: clients may rely on it.
			o.Count, cursor = int(max(k.Length, 1)), 0
		}
		gone, err := keyspace.EndedFields(c.View, k)
		if err != nil {
			return 0, err
		}
		prefix := slices.Clone(c.PrefixOf(k.UID))
		return command.Step(c, c.Elements.ByID(), prefix, cursor, o, func(item firn.Item) error {
			if gone != nil && gone[item.Key[len(prefix):]] {
				return nil
			}
			field, err := c.SubKey(item.Key, len(prefix))
			if err == nil && o.Matches(field) {
				l.Add(field)
				l.Add(item.Doc.Value)
			}
			return err
		})
	})
}

func hRandField(c *command.Call) error {
	if len(c.Args) == 1 {
		return randomField(c)
	}
	count, withValues, err := command.ParseRandomCount(c.Args[1:], "WITHVALUES")
	if err != nil {
		return err
	}
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil {
		return err
	}
	if !ok || count == 0 {
		c.Reply.Array(0)
		return nil
	}
	fields, err := keyspace.ReadLiveFields(c.View, &k)
	if err != nil {
		return err
	}
	ranks := keyspace.RandomRanks(fields.N, count)
	if withValues && c.Reply.Proto != 3 {
		c.Reply.Array(2 * len(ranks))
	} else {
		c.Reply.Array(len(ranks))
	}
	for _, rank := range ranks {
		if err := replyFieldAt(c, &k, fields, rank, withValues); err != nil {
			return err
		}
	}
	return nil
}

// randomField replies one field, or null if there is no hash.
func randomField(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindHash)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	fields, err := keyspace.ReadLiveFields(c.View, &k)
	if err != nil {
		return err
	}
	return replyFieldAt(c, &k, fields, rand.IntN(fields.N), false)
}

// replyFieldAt replies the field at a rank, and its value if asked: as a pair
// of its own in protocol 3.
func replyFieldAt(c *command.Call, k *keyspace.KeyDoc, fields keyspace.LiveFields, rank int, withValue bool) error {
	item, err := fields.At(rank)
	if err != nil {
		return err
	}
	field, err := c.SubKey(item.Key, len(c.PrefixOf(k.UID)))
	if err != nil {
		return err
	}
	if withValue && c.Reply.Proto == 3 {
		c.Reply.Array(2)
	}
	c.Reply.Bulk(field)
	if withValue {
		c.Reply.Bulk(item.Doc.Value)
	}
	return nil
}

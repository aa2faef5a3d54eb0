package sets

import (
	"math/rand/v2"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Members at random: SPOP and SRANDMEMBER.
//
// A set that is in memory, or is small enough to be read, gives members by
// rank, each equally often. In a huge one that is not in memory they are
// drawn by seeking, as RANDOMKEY draws keys.

const (
	// MaxLoadedMembers is how many members of a set are read for a few random
	// ones: some tenths of a second on a slow disk, and some megabytes.
	MaxLoadedMembers = 1 << 16

	// maxDrawnMembers is how many members are drawn by seeking, each at the
	// cost of some dozen seeks. For more the set is read.
	maxDrawnMembers = 1000
)

// chooseFromSet is the ids of members of a set, chosen at random:
// -count of any if count is negative, else count different ones, or all there
// are.
func chooseFromSet(c *command.Call, k *keyspace.KeyDoc, count int64) (ids []string, err error) {
	index := c.Elements.ByID()
	held := k.Length <= MaxLoadedMembers || count < -maxDrawnMembers || count > maxDrawnMembers
	if !held {
		if held, err = c.R.Warm(index, c.PrefixOf(k.UID), 0); err != nil {
			return nil, err
		}
	}
	if !held {
		if c.Tx != nil {
			c.Want(index, c.PrefixOf(k.UID), k.Length)
		}
		items, err := keyspace.DrawMany(c.View, index, keyspace.AppendUID(nil, k.UID), count)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			ids = append(ids, item.Key)
		}
		if ids != nil {
			return ids, nil
		}
	}
	members, err := c.R.Ordered(index, c.PrefixOf(k.UID))
	if err != nil {
		return nil, err
	}
	n := members.Len()
	if n == 0 || int64(n) != k.Length {
		return nil, keyspace.DamagedSet(k, int64(n))
	}
	if count == 1 {
		id, err := members.KeyAt(rand.IntN(n))
		return []string{id}, err
	}
	ranks := keyspace.RandomRanks(n, count)
	ids = make([]string, len(ranks))
	for i, rank := range ranks {
		if ids[i], err = members.KeyAt(rank); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func sRandMember(c *command.Call) error {
	if len(c.Args) == 1 {
		return randomMember(c)
	}
	if len(c.Args) > 2 {
		return command.ErrSyntax
	}
	count, _, err := command.ParseRandomCount(c.Args[1:], "")
	if err != nil {
		return err
	}
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	if !ok || count == 0 {
		c.Reply.Array(0)
		return nil
	}
	if count >= k.Length {
		c.Reply.Array(int(k.Length))
		return keyspace.EachInSet(c.View, &k, func(member string) error {
			c.Reply.BulkString(member)
			return nil
		})
	}
	ids, err := chooseFromSet(c, &k, count)
	if err != nil {
		return err
	}
	c.Reply.Array(len(ids))
	return replyMembers(c, &k, ids)
}

// replyMembers replies the members with these ids.
func replyMembers(c *command.Call, k *keyspace.KeyDoc, ids []string) error {
	prefixBytes := len(c.PrefixOf(k.UID))
	for _, id := range ids {
		member, err := keyspace.MemberOf(id, prefixBytes)
		if err != nil {
			return err
		}
		c.Reply.BulkString(member)
	}
	return nil
}

// randomMember replies one member, or null if there is no set.
func randomMember(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	ids, err := chooseFromSet(c, &k, 1)
	if err != nil {
		return err
	}
	return replyMembers(c, &k, ids)
}

func sPop(c *command.Call) error {
	switch len(c.Args) {
	case 1:
		return popMembers(c, 1, false)
	case 2:
		count, ok := resp.ParseInt(c.Args[1])
		if !ok || count < 0 {
			return command.ErrNotPositive
		}
		return popMembers(c, count, true)
	}
	return command.ErrSyntax
}

// popMembers removes members at random and replies them, as a set if so asked.
func popMembers(c *command.Call, count int64, asSet bool) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindSet)
	if err != nil {
		return err
	}
	switch {
	case !s.Live && !asSet:
		c.Reply.Null()
		return nil
	case !s.Live || count == 0:
		c.Reply.Set(0)
		return nil
	}
	c.Notify(keyspace.EventSet, "spop", c.Args[0])
	if count >= s.Key.Length && asSet {
		// The key goes; the elements stay where they are, as with DEL.
		if err := ReplySetState(c.View, &c.Reply, &s.Key); err != nil {
			return err
		}
		s.Key.Length = 0
		return keyspace.WriteOrRemove(c.View, &s)
	}
	ids, err := chooseFromSet(c, &s.Key, count)
	if err != nil {
		return err
	}
	if asSet {
		c.Reply.Set(len(ids))
	}
	if err := replyMembers(c, &s.Key, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.Tx.Delete(c.Elements, c.Keep(append(c.Room(), id...)), nil); err != nil {
			return err
		}
	}
	s.Key.Length -= int64(len(ids))
	return keyspace.WriteOrRemove(c.View, &s)
}

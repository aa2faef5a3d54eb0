package redis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// A set is a key document and one element per member, without a value.
var setCommands = []Command{
	{
		Name: "SADD", Args: "key member [member ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n), n the members",
		Summary: "Adds members to the set at key and returns how many were new.",
		Run:     sAdd,
	},
	{
		Name: "SREM", Args: "key member [member ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n), n the members",
		Summary: "Removes members of the set at key and returns how many there were. A set without members is gone.",
		Run:     sRem,
	},
	{
		Name: "SMEMBERS", Args: "key", Min: 1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n), n the members of the set",
		Summary: "Returns all members of the set at key.",
		Run:     sMembers,
	},
	{
		Name: "SISMEMBER", Args: "key member", Min: 2, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Says whether the set at key has a member: 1 if so, else 0.",
		Run:     sIsMember,
	},
	{
		Name: "SMISMEMBER", Args: "key member [member ...]", Min: 2, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "set", Since: "6.2.0", Complexity: "O(n), n the members asked for",
		Summary: "Says for each of several members whether the set at key has it: 1 if so, else 0.",
		Run:     sMIsMember,
	},
	{
		Name: "SCARD", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns how many members the set at key has.",
		Run:     sCard,
	},
	{
		Name: "SMOVE", Args: "source destination member", Min: 3, Flags: Writes | Fast, Keys: Keys{1, 2, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Moves a member from one set to another: 1 if it was there, else 0.",
		Run:     sMove,
	},
	{
		Name: "SPOP", Args: "key [count]", Min: 1, Max: -1, Flags: Writes | Fast | Random, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(count · log n), n the members of the set",
		Summary: "Removes members chosen at random from the set at key and returns them.",
		Differs: "Of a set of more than 65,536 members that is not in memory all can come, but not all equally often.",
		Run:     sPop,
	},
	{
		Name: "SRANDMEMBER", Args: "key [count]", Min: 1, Max: -1, Flags: ReadOnly | Random, Keys: Keys{1, 1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(count · log n), n the members of the set",
		Summary: "Returns members chosen at random, different ones if count is positive.",
		Differs: "At most 10,000,000 with a negative count. Of a set of more than 65,536 members that is not in memory all can come, but not all equally often.",
		Run:     sRandMember,
	},
	{
		Name: "SSCAN", Args: "key cursor [MATCH pattern] [COUNT count]", Min: 2, Max: -1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "set", Since: "2.8.0", Complexity: "O(count) per call",
		Summary: "Walks over the members of the set at key in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in the order of the members' bytes.",
		Run:     sScan,
	},
	{
		Name: "SINTER", Args: "key [key ...]", Min: 1, Max: -1, Flags: ReadOnly, Keys: Keys{1, -1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n · m), n the members of the smallest set, m the sets",
		Summary: "Returns the members that all of the sets have.",
		Run:     sInter,
	},
	{
		Name: "SINTERCARD", Args: "numkeys key [key ...] [LIMIT limit]", Min: 2, Max: -1, Flags: ReadOnly, KeyCount: 1,
		Group: "set", Since: "7.0.0", Complexity: "O(n · m), n the members of the smallest set, m the sets",
		Summary: "Returns how many members all of the sets have, counting up to the limit if that is not 0.",
		Run:     sInterCard,
	},
	{
		Name: "SINTERSTORE", Args: "destination key [key ...]", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, -1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n · m), n the members of the smallest set, m the sets",
		Summary: "Stores the members that all of the sets have as a new set, and returns how many.",
		Run:     sInterStore,
	},
	{
		Name: "SUNION", Args: "key [key ...]", Min: 1, Max: -1, Flags: ReadOnly, Keys: Keys{1, -1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Summary: "Returns the members that any of the sets has.",
		Run:     func(c *Call) error { return replyCombined(c, uniteSets) },
	},
	{
		Name: "SUNIONSTORE", Args: "destination key [key ...]", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, -1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Summary: "Stores the members that any of the sets has as a new set, and returns how many.",
		Run:     func(c *Call) error { return storeCombined(c, "sunionstore", uniteSets) },
	},
	{
		Name: "SDIFF", Args: "key [key ...]", Min: 1, Max: -1, Flags: ReadOnly, Keys: Keys{1, -1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Summary: "Returns the members of the first set that none of the others has.",
		Run:     func(c *Call) error { return replyCombined(c, subtractSets) },
	},
	{
		Name: "SDIFFSTORE", Args: "destination key [key ...]", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, -1, 1},
		Group: "set", Since: "1.0.0", Complexity: "O(n · log n), n the members of all sets",
		Summary: "Stores the members of the first set that none of the others has as a new set, and returns how many.",
		Run:     func(c *Call) error { return storeCombined(c, "sdiffstore", subtractSets) },
	},
}

// noValue is the value of a member's document.
var noValue = []byte{}

// setEncoding is what OBJECT ENCODING says of a set.
func setEncoding(k *keyDoc) string {
	if k.Encoding == large {
		return "hashtable"
	}
	return "intset"
}

// openSet opens a key to add members. A key that is not there becomes a set
// without members, which the command must not leave so.
func openSet(v *View, key []byte) (slot, error) {
	s, err := v.openKind(key, kindSet)
	if err == nil && !s.live {
		s.key = keyDoc{Kind: kindSet, UID: v.newUID()}
	}
	return s, err
}

// addMember adds a member to s.key, whose document the caller writes after the
// last one, and says whether it is new.
func addMember(v *View, s *slot, member []byte) (added bool, err error) {
	id := v.elementID(s.key.UID, member)
	if _, err = v.R.Get(v.elements, id); err != firn.ErrNotFound {
		return false, err
	}
	s.key.Length++
	if !v.encodings.setFits(s.key.Length, member) {
		s.key.Encoding = large
	}
	return true, v.Tx.Put(v.elements, id, noValue)
}

// dropMember takes a member from s.key, and says whether it was there.
func dropMember(v *View, s *slot, member []byte) (dropped bool, err error) {
	id := v.elementID(s.key.UID, member)
	if _, err = v.R.Get(v.elements, id); err != nil {
		if err == firn.ErrNotFound {
			err = nil
		}
		return false, err
	}
	s.key.Length--
	return true, v.Tx.Delete(v.elements, id, nil)
}

// writeOrRemove writes the key of a set that has lost members: with its last
// member it goes.
func writeOrRemove(v *View, s *slot) error {
	if s.key.Length > 0 {
		return v.write(s, s.key)
	}
	return v.delete(s)
}

func sAdd(c *Call) error {
	s, err := openSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	var n int64
	for _, member := range c.Args[1:] {
		added, err := addMember(c.View, &s, member)
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
	err = c.write(&s, s.key)
	c.notify(eventSet, "sadd", c.Args[0])
	return err
}

func sRem(c *Call) error {
	s, err := c.openKind(c.Args[0], kindSet)
	if err != nil {
		return err
	}
	var n int64
	for _, member := range c.Args[1:] {
		if !s.live {
			break
		}
		dropped, err := dropMember(c.View, &s, member)
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
	c.notify(eventSet, "srem", c.Args[0])
	return writeOrRemove(c.View, &s)
}

func sMove(c *Call) error {
	from, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	if !from.live {
		c.Reply.Int(0)
		return nil
	}
	to, err := c.openIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if from.key.Kind != kindSet || to.live && to.key.Kind != kindSet {
		return errWrongType
	}
	if string(from.id) == string(to.id) {
		_, had, err := c.element(from.key.UID, c.Args[2])
		replyFlag(c, had)
		return err
	}
	moved, err := dropMember(c.View, &from, c.Args[2])
	replyFlag(c, moved)
	if err != nil || !moved {
		return err
	}
	c.notify(eventSet, "srem", c.Args[0])
	if err := writeOrRemove(c.View, &from); err != nil {
		return err
	}
	if !to.live {
		to.key = keyDoc{Kind: kindSet, UID: c.newUID()}
	}
	added, err := addMember(c.View, &to, c.Args[2])
	if err != nil || !added {
		return err
	}
	err = c.write(&to, to.key)
	c.notify(eventSet, "sadd", c.Args[1])
	return err
}

func sIsMember(c *Call) error {
	k, ok, err := c.findKind(c.Args[0], kindSet)
	if err != nil {
		return err
	}
	if ok {
		if _, ok, err = c.element(k.UID, c.Args[1]); err != nil {
			return err
		}
	}
	replyFlag(c, ok)
	return nil
}

func sMIsMember(c *Call) error {
	k, ok, err := c.findKind(c.Args[0], kindSet)
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 1)
	for _, member := range c.Args[1:] {
		had := false
		if ok {
			if _, had, err = c.element(k.UID, member); err != nil {
				return err
			}
		}
		replyFlag(c, had)
	}
	return nil
}

func sCard(c *Call) error {
	k, _, err := c.findKind(c.Args[0], kindSet)
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func sMembers(c *Call) error {
	k, ok, err := c.findKind(c.Args[0], kindSet)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Set(0)
		return nil
	}
	return replySetState(c.View, &c.Reply, &k)
}

// replySetState appends a set.
func replySetState(v *View, w *resp.Writer, k *keyDoc) error {
	w.Set(int(k.Length))
	return eachInSet(v, k, func(member string) error {
		w.BulkString(member)
		return nil
	})
}

// eachInSet visits all members of a set: of an intset in the order of the
// numbers, as in Redis, of any other in the order of the bytes. A set that has
// not as many as its key says is errDamaged.
func eachInSet(v *View, k *keyDoc, visit func(member string) error) error {
	if k.Encoding != large {
		members, err := intset(v, k)
		if err != nil {
			return err
		}
		for _, member := range members {
			if err := visit(member); err != nil {
				return err
			}
		}
		return nil
	}
	return walkSet(v, k, 0, visit)
}

// intset is the members of a set of few integers, in their order.
func intset(v *View, k *keyDoc) ([]string, error) {
	members := make([]string, 0, min(k.Length, defaultIntsetEntries))
	err := walkSet(v, k, 0, func(member string) error {
		members = append(members, member)
		return nil
	})
	sortIntegers(members)
	return members, err
}

// memberOf is the member in an element's id, whose first n bytes are the uid.
func memberOf(id string, n int) (string, error) {
	member, rest, err := tuple.TakeString(id[n:])
	if err != nil || rest != "" {
		return "", fmt.Errorf("id %q: %w", id, errDamaged)
	}
	return member, nil
}

func damagedSet(k *keyDoc, n int64) error {
	return fmt.Errorf("set %d/%d has %d members, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, errDamaged)
}

// sortIntegers sorts printed integers by what they are.
func sortIntegers(members []string) {
	slices.SortFunc(members, func(a, b string) int {
		x, _ := resp.ParseInt([]byte(a))
		y, _ := resp.ParseInt([]byte(b))
		return cmp.Compare(x, y)
	})
}

func sScan(c *Call) error {
	return scanElements(c, kindSet, func(k *keyDoc, cursor uint64, o *scanOptions, l *list) (uint64, error) {
		if k.Encoding != large {
			// Like Redis, an intset in one step.
			return 0, eachInSet(c.View, k, func(member string) error {
				if m := []byte(member); o.matches(m) {
					l.add(m)
				}
				return nil
			})
		}
		prefix := slices.Clone(c.prefixOf(k.UID))
		return step(c, c.elements.ByID(), prefix, cursor, o, func(item firn.Item) error {
			member, err := c.subKey(item.Key, len(prefix))
			if err == nil && o.matches(member) {
				l.add(member)
			}
			return err
		})
	})
}

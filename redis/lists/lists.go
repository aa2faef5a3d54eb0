package lists

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A list is a key document and an element for each item, whose sub-key is its
// position: see keyspace/listplaces.go.
var listCommands = []command.Command{
	{
		Name: "LPUSH", Args: "key element [element ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements",
		Summary: "Puts elements before the first of the list at key, one after the other, and returns its length.",
		Run:     func(c *command.Call) error { return listPush(c, false, false) },
	},
	{
		Name: "RPUSH", Args: "key element [element ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements",
		Summary: "Puts elements behind the last of the list at key and returns its length.",
		Run:     func(c *command.Call) error { return listPush(c, true, false) },
	},
	{
		Name: "LPUSHX", Args: "key element [element ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "list", Since: "2.2.0", Complexity: "O(n), n the elements",
		Summary: "LPUSH if there is a list at key, else 0.",
		Run:     func(c *command.Call) error { return listPush(c, false, true) },
	},
	{
		Name: "RPUSHX", Args: "key element [element ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "list", Since: "2.2.0", Complexity: "O(n), n the elements",
		Summary: "RPUSH if there is a list at key, else 0.",
		Run:     func(c *command.Call) error { return listPush(c, true, true) },
	},
	{
		Name: "LPOP", Args: "key [count]", Min: 1, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Takes),
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements that are taken",
		Summary: "Takes the first element off the list at key, or as many as count. A list without elements is gone.",
		Run:     func(c *command.Call) error { return listPop(c, false) },
	},
	{
		Name: "RPOP", Args: "key [count]", Min: 1, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Takes),
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements that are taken",
		Summary: "Takes the last element off the list at key, or as many as count. A list without elements is gone.",
		Run:     func(c *command.Call) error { return listPop(c, true) },
	},
	{
		Name: "LLEN", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "list", Since: "1.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectLength, What: "the number of elements"},
		Summary: "Returns how many elements the list at key has.",
		Run:     lLen,
	},
	{
		Name: "LRANGE", Args: "key start stop", Min: 3, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "list", Since: "1.0.0", Complexity: listLookUp + "; and O(n), n the elements of the range",
		Live:    command.Live{On: keyspace.AspectFront, What: "the elements from the front up to the last that is replied; with a negative number any write to the key"},
		Summary: "Returns the elements of the list at key from start to stop, which may count from the end.",
		Run:     lRange,
	},
	{
		Name: "LINDEX", Args: "key index", Min: 2, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "list", Since: "1.0.0", Complexity: listLookUp,
		Live:    command.Live{On: keyspace.AspectFront, What: "the elements from the front up to the one that is replied; with a negative number any write to the key"},
		Summary: "Returns an element of the list at key by its index, which may count from the end, or nil.",
		Run:     lIndex,
	},
	{
		Name: "LSET", Args: "key index element", Min: 3, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "list", Since: "1.0.0", Complexity: listLookUp,
		Summary: "Replaces an element of the list at key by its index.",
		Run:     lSet,
	},
	{
		Name: "LINSERT", Args: "key BEFORE|AFTER pivot element", Min: 4, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Inserts),
		Group: "list", Since: "2.2.0", Complexity: "O(n), n the elements up to the pivot",
		Summary: "Puts an element before or after the first that equals pivot and returns the list's length; -1 if none does.",
		Run:     lInsert,
	},
	{
		Name: "LREM", Args: "key count element", Min: 3, Flags: command.Writes, Keys: command.FirstKey(command.Deletes),
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements that are looked at",
		Summary: "Removes elements that equal element: the first count, or from the end if count is negative, or all if it is 0. Returns how many there were.",
		Run:     lRem,
	},
	{
		Name: "LTRIM", Args: "key start stop", Min: 3, Flags: command.Writes, Keys: command.FirstKey(command.Deletes),
		Group: "list", Since: "1.0.0", Complexity: listLookUp + "; and O(n), n the elements that are removed, or those that stay if they are fewer",
		Summary: "Keeps the elements of the list at key from start to stop, and removes the others.",
		Run:     lTrim,
	},
	{
		Name: "LPOS", Args: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]", Min: 2, Max: -1, Flags: command.ReadOnly,
		Keys:  command.FirstKey(command.Reads),
		Group: "list", Since: "6.0.6", Complexity: "O(n), n the elements that are looked at",
		Summary: "Returns the index of an element of the list at key, or nil; or the indexes of several with COUNT.",
		Run:     lPos,
	},
	{
		Name: "LMOVE", Args: "source destination LEFT|RIGHT LEFT|RIGHT", Min: 4, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Takes).And(command.KeyAt(2, command.Inserts)),
		Group: "list", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Takes an element off one end of a list, puts it at one end of another, and returns it, or nil.",
		Run:     lMove,
	},
	{
		Name: "RPOPLPUSH", Args: "source destination", Min: 2, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Takes).And(command.KeyAt(2, command.Inserts)),
		Group: "list", Since: "1.2.0", Complexity: "O(1)",
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`LMOVE` with the `RIGHT` and `LEFT` arguments"},
		Summary:    "LMOVE source destination RIGHT LEFT.",
		Run:        func(c *command.Call) error { return moveItem(c, true, false, nil) },
	},
	{
		Name: "LMPOP", Args: "numkeys key [key ...] LEFT|RIGHT [COUNT count]", Min: 3, Max: -1, Flags: command.Writes,
		Keys:  command.CountedKeys(1, command.Takes),
		Group: "list", Since: "7.0.0", Complexity: "O(n + m), n the keys and m the elements that are taken",
		Summary: "Takes elements off the first of several lists that there is.",
		Run:     listPopper.Run,
	},
	{
		Name: "BLPOP", Args: "key [key ...] timeout", Min: 2, Max: -1, Flags: command.Writes | command.Blocks | command.NoScript,
		Keys:  command.KeysFrom(1, -2, 1, command.Takes),
		Group: "list", Since: "2.0.0", Complexity: "O(n), n the keys",
		Summary: "Takes the first element off the first of several lists that there is, and waits for one if there is none.",
		Run:     listPopper.OneOrWait(false),
	},
	{
		Name: "BRPOP", Args: "key [key ...] timeout", Min: 2, Max: -1, Flags: command.Writes | command.Blocks | command.NoScript,
		Keys:  command.KeysFrom(1, -2, 1, command.Takes),
		Group: "list", Since: "2.0.0", Complexity: "O(n), n the keys",
		Summary: "Takes the last element off the first of several lists that there is, and waits for one if there is none.",
		Run:     listPopper.OneOrWait(true),
	},
	{
		Name: "BLMOVE", Args: "source destination LEFT|RIGHT LEFT|RIGHT timeout", Min: 5,
		Flags: command.Writes | command.Blocks | command.DenyOOM | command.NoScript,
		Keys:  command.FirstKey(command.Takes).And(command.KeyAt(2, command.Inserts)),
		Group: "list", Since: "6.2.0", Complexity: "O(1)",
		Summary: "LMOVE that waits for an element if there is none.",
		Run:     blMove,
	},
	{
		Name: "BRPOPLPUSH", Args: "source destination timeout", Min: 3, Flags: command.Writes | command.Blocks | command.DenyOOM | command.NoScript,
		Keys:  command.FirstKey(command.Takes).And(command.KeyAt(2, command.Inserts)),
		Group: "list", Since: "2.2.0", Complexity: "O(1)",
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`BLMOVE` with the `RIGHT` and `LEFT` arguments"},
		Summary:    "RPOPLPUSH that waits for an element if there is none.",
		Run:        bRPopLPush,
	},
	{
		Name: "BLMPOP", Args: "timeout numkeys key [key ...] LEFT|RIGHT [COUNT count]", Min: 4, Max: -1, Flags: command.Writes | command.Blocks,
		Keys:  command.CountedKeys(2, command.Takes),
		Group: "list", Since: "7.0.0", Complexity: "O(n + m), n the keys and m the elements that are taken",
		Summary: "LMPOP that waits for a list if there is none.",
		Run:     listPopper.RunOrWait,
	},
}

// listLookUp is what it costs to find an element by its index.
const listLookUp = "O(1) for a list without gaps; O(n), n the distance from the nearer end, after LREM and LINSERT; O(log n) then while it is in memory"

// ReplyListState appends a list for HISTORY.
func ReplyListState(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc) error {
	q, err := keyspace.SequenceOf(k)
	if err != nil {
		return err
	}
	return replyItems(v, w, &q, 0, q.Length)
}

// replyItems replies n items from a rank on.
func replyItems(v *keyspace.View, w *resp.Writer, q *keyspace.Sequence, rank, n int64) error {
	w.Array(int(n))
	if !q.LooksUp(v, n) {
		return q.WalkValues(v, rank, n, func(value []byte) { w.Bulk(value) })
	}
	for it, err := range q.Lent(v, rank, n, false) {
		if err != nil {
			return err
		}
		w.Bulk(it.Value)
	}
	return nil
}

// FindList reads the list at the key that the call names first; ok is false if there is none.
func FindList(c *command.Call) (q keyspace.Sequence, ok bool, err error) {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindList)
	if err != nil || !ok {
		return keyspace.Sequence{}, false, err
	}
	q, err = keyspace.SequenceOf(&k)
	return q, true, err
}

func listPush(c *command.Call, right, ifPresent bool) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindList)
	if err != nil {
		return err
	}
	if ifPresent && !s.Live {
		c.Reply.Int(0)
		return nil
	}
	q, err := keyspace.OpenList(c.View, &s)
	if err != nil {
		return err
	}
	if err := q.Reserve(c.View, int64(len(c.Args)), right); err != nil {
		return err
	}
	for _, value := range c.Args[1:] {
		if err := q.Push(c.View, keyspace.Own(value), right); err != nil {
			return err
		}
	}
	c.Reply.Int(q.Length)
	err = keyspace.WriteList(c.View, &s, &q)
	c.Notify(keyspace.EventList, pushEvent(right), c.Args[0])
	return err
}

func pushEvent(right bool) string {
	if right {
		return "rpush"
	}
	return "lpush"
}

func popEvent(right bool) string {
	if right {
		return "rpop"
	}
	return "lpop"
}

func listPop(c *command.Call, right bool) error {
	if len(c.Args) > 2 {
		return command.ErrArity(c)
	}
	count, many := int64(1), len(c.Args) == 2
	if many {
		var ok bool
		if count, ok = resp.ParseInt(c.Args[1]); !ok || count < 0 {
			return command.ErrNotPositive
		}
	}
	s, err := c.OpenKind(c.Args[0], keyspace.KindList)
	if err != nil {
		return err
	}
	switch {
	case !s.Live && many:
		c.Reply.NullArray()
		return nil
	case !s.Live:
		c.Reply.Null()
		return nil
	case count == 0:
		c.Reply.Array(0)
		return nil
	case many:
		return replyTaken(c, &s, c.Args[0], count, right)
	}
	return replyPopped(c, &s, c.Args[0], right)
}

// replyPopped takes an item off an end of a list that there is, and replies
// it.
func replyPopped(c *command.Call, s *keyspace.Slot, key []byte, right bool) error {
	q, err := keyspace.SequenceOf(&s.Key)
	if err != nil {
		return err
	}
	value, err := q.PopItem(c.View, right)
	if err != nil {
		return err
	}
	c.Reply.Bulk(value)
	c.Notify(keyspace.EventList, popEvent(right), key)
	return keyspace.WriteList(c.View, s, &q)
}

// replyTaken is replyPopped for up to count items, as an array.
func replyTaken(c *command.Call, s *keyspace.Slot, key []byte, count int64, right bool) error {
	q, err := keyspace.SequenceOf(&s.Key)
	if err != nil {
		return err
	}
	n := min(count, q.Length)
	c.Reply.Array(int(n))
	if err := q.Take(c.View, n, right, c.Reply.Bulk); err != nil {
		return err
	}
	c.Notify(keyspace.EventList, popEvent(right), key)
	return keyspace.WriteList(c.View, s, &q)
}

func lLen(c *command.Call) error {
	k, _, err := c.FindKind(c.Args[0], keyspace.KindList)
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func lRange(c *command.Call) error {
	start, end, err := command.ParseBounds(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	q, ok, err := FindList(c)
	if err != nil {
		return err
	}
	rank, n := keyspace.RanksOf(start, end, q.Length)
	near, err := q.Near(c.View, start, end, n)
	switch {
	case err != nil:
		return err
	case !ok || n == 0:
		c.Reply.Array(0)
		return nil
	case near:
		c.Reply.Array(int(n))
		return keyspace.WalkFromFront(c.View, &q, rank, n, rank+n == q.Length, func(value []byte) { c.Reply.Bulk(value) })
	}
	return replyItems(c.View, &c.Reply, &q, rank, n)
}

// parseIndex reads an index that may count from the end; ok is false if the
// list has no such item.
func parseIndex(arg []byte, length int64) (rank int64, ok bool, err error) {
	rank, isInt := resp.ParseInt(arg)
	if !isInt {
		return 0, false, command.ErrNotInteger
	}
	if rank < 0 {
		rank += length
	}
	return rank, 0 <= rank && rank < length, nil
}

func lIndex(c *command.Call) error {
	q, ok, err := FindList(c)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	given, _ := resp.ParseInt(c.Args[1])
	rank, ok, err := parseIndex(c.Args[1], q.Length)
	if err != nil {
		return err
	}
	var n int64
	if ok {
		n = 1
	}
	near, err := q.Near(c.View, given, given, n)
	switch {
	case err != nil:
		return err
	case !ok:
		c.Reply.Null()
		return nil
	case near:
		return keyspace.WalkFromFront(c.View, &q, rank, 1, false, func(value []byte) { c.Reply.Bulk(value) })
	}
	it, err := q.ItemAt(c.View, rank)
	if err != nil {
		return err
	}
	c.Reply.Bulk(it.Value)
	return nil
}

func lSet(c *command.Call) error {
	s, q, err := keyspace.OpenItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.Live {
		return command.ErrNoSuchKey
	}
	rank, ok, err := parseIndex(c.Args[1], q.Length)
	if err != nil {
		return err
	}
	if !ok {
		return resp.Error("ERR index out of range")
	}
	position, err := q.PositionOf(c.View, rank, false)
	if err != nil {
		return err
	}
	if err := c.Tx.Put(c.Elements, q.ItemID(c.View, position), keyspace.Own(c.Args[2])); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	c.Notify(keyspace.EventList, "lset", c.Args[0])
	return keyspace.WriteList(c.View, &s, &q)
}

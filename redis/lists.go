package redis

import "github.com/firndb/firn/resp"

// A list is a key document and an element for each item, whose sub-key is its
// position: see listplaces.go.
var listCommands = []Command{
	{
		Name: "LPUSH", Args: "key element [element ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements",
		Summary: "Puts elements before the first of the list at key, one after the other, and returns its length.",
		Run:     func(c *Call) error { return listPush(c, false, false) },
	},
	{
		Name: "RPUSH", Args: "key element [element ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements",
		Summary: "Puts elements behind the last of the list at key and returns its length.",
		Run:     func(c *Call) error { return listPush(c, true, false) },
	},
	{
		Name: "LPUSHX", Args: "key element [element ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "2.2.0", Complexity: "O(n), n the elements",
		Summary: "LPUSH if there is a list at key, else 0.",
		Run:     func(c *Call) error { return listPush(c, false, true) },
	},
	{
		Name: "RPUSHX", Args: "key element [element ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "2.2.0", Complexity: "O(n), n the elements",
		Summary: "RPUSH if there is a list at key, else 0.",
		Run:     func(c *Call) error { return listPush(c, true, true) },
	},
	{
		Name: "LPOP", Args: "key [count]", Min: 1, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements that are taken",
		Summary: "Takes the first element off the list at key, or as many as count. A list without elements is gone.",
		Run:     func(c *Call) error { return listPop(c, false) },
	},
	{
		Name: "RPOP", Args: "key [count]", Min: 1, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements that are taken",
		Summary: "Takes the last element off the list at key, or as many as count. A list without elements is gone.",
		Run:     func(c *Call) error { return listPop(c, true) },
	},
	{
		Name: "LLEN", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns how many elements the list at key has.",
		Run:     lLen,
	},
	{
		Name: "LRANGE", Args: "key start stop", Min: 3, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: listLookUp + "; and O(n), n the elements of the range",
		Summary: "Returns the elements of the list at key from start to stop, which may count from the end.",
		Run:     lRange,
	},
	{
		Name: "LINDEX", Args: "key index", Min: 2, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: listLookUp,
		Summary: "Returns an element of the list at key by its index, which may count from the end, or nil.",
		Run:     lIndex,
	},
	{
		Name: "LSET", Args: "key index element", Min: 3, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: listLookUp,
		Summary: "Replaces an element of the list at key by its index.",
		Run:     lSet,
	},
	{
		Name: "LINSERT", Args: "key BEFORE|AFTER pivot element", Min: 4, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "list", Since: "2.2.0", Complexity: "O(n), n the elements up to the pivot",
		Summary: "Puts an element before or after the first that equals pivot and returns the list's length; -1 if none does.",
		Run:     lInsert,
	},
	{
		Name: "LREM", Args: "key count element", Min: 3, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: "O(n), n the elements that are looked at",
		Summary: "Removes elements that equal element: the first count, or from the end if count is negative, or all if it is 0. Returns how many there were.",
		Run:     lRem,
	},
	{
		Name: "LTRIM", Args: "key start stop", Min: 3, Flags: Writes, Keys: Keys{1, 1, 1},
		Group: "list", Since: "1.0.0", Complexity: listLookUp + "; and O(n), n the elements that are removed, or those that stay if they are fewer",
		Summary: "Keeps the elements of the list at key from start to stop, and removes the others.",
		Run:     lTrim,
	},
	{
		Name: "LPOS", Args: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]", Min: 2, Max: -1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "list", Since: "6.0.6", Complexity: "O(n), n the elements that are looked at",
		Summary: "Returns the index of an element of the list at key, or nil; or the indexes of several with COUNT.",
		Run:     lPos,
	},
	{
		Name: "LMOVE", Args: "source destination LEFT|RIGHT LEFT|RIGHT", Min: 4, Flags: Writes, Keys: Keys{1, 2, 1},
		Group: "list", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Takes an element off one end of a list, puts it at one end of another, and returns it, or nil.",
		Run:     lMove,
	},
	{
		Name: "RPOPLPUSH", Args: "source destination", Min: 2, Flags: Writes, Keys: Keys{1, 2, 1},
		Group: "list", Since: "1.2.0", Complexity: "O(1)",
		Summary: "LMOVE source destination RIGHT LEFT.",
		Run:     func(c *Call) error { return moveItem(c, true, false, nil) },
	},
	{
		Name: "LMPOP", Args: "numkeys key [key ...] LEFT|RIGHT [COUNT count]", Min: 3, Max: -1, Flags: Writes, KeyCount: 1,
		Group: "list", Since: "7.0.0", Complexity: "O(n + m), n the keys and m the elements that are taken",
		Summary: "Takes elements off the first of several lists that there is.",
		Run:     listPopper.run,
	},
	{
		Name: "BLPOP", Args: "key [key ...] timeout", Min: 2, Max: -1, Flags: Writes | Blocks, Keys: Keys{1, -2, 1},
		Group: "list", Since: "2.0.0", Complexity: "O(n), n the keys",
		Summary: "Takes the first element off the first of several lists that there is, and waits for one if there is none.",
		Run:     listPopper.oneOrWait(false),
	},
	{
		Name: "BRPOP", Args: "key [key ...] timeout", Min: 2, Max: -1, Flags: Writes | Blocks, Keys: Keys{1, -2, 1},
		Group: "list", Since: "2.0.0", Complexity: "O(n), n the keys",
		Summary: "Takes the last element off the first of several lists that there is, and waits for one if there is none.",
		Run:     listPopper.oneOrWait(true),
	},
	{
		Name: "BLMOVE", Args: "source destination LEFT|RIGHT LEFT|RIGHT timeout", Min: 5, Flags: Writes | Blocks, Keys: Keys{1, 2, 1},
		Group: "list", Since: "6.2.0", Complexity: "O(1)",
		Summary: "LMOVE that waits for an element if there is none.",
		Run:     blMove,
	},
	{
		Name: "BRPOPLPUSH", Args: "source destination timeout", Min: 3, Flags: Writes | Blocks, Keys: Keys{1, 2, 1},
		Group: "list", Since: "2.2.0", Complexity: "O(1)",
		Summary: "RPOPLPUSH that waits for an element if there is none.",
		Run:     bRPopLPush,
	},
	{
		Name: "BLMPOP", Args: "timeout numkeys key [key ...] LEFT|RIGHT [COUNT count]", Min: 4, Max: -1, Flags: Writes | Blocks, KeyCount: 2,
		Group: "list", Since: "7.0.0", Complexity: "O(n + m), n the keys and m the elements that are taken",
		Summary: "LMPOP that waits for a list if there is none.",
		Run:     listPopper.runOrWait,
	},
}

// listLookUp is what it costs to find an element by its index.
const listLookUp = "O(1) for a list without gaps; O(n), n the distance from the nearer end, after LREM and LINSERT; O(log n) then while it is in memory"

// listEncoding is what OBJECT ENCODING says of a list, of any size.
func listEncoding(*keyDoc) string { return "quicklist" }

// replyListState appends a list for HISTORY.
func replyListState(v *View, w *resp.Writer, k *keyDoc) error {
	q, err := sequenceOf(k)
	if err != nil {
		return err
	}
	return replyItems(v, w, &q, 0, q.length)
}

// replyItems replies n items from a rank on.
func replyItems(v *View, w *resp.Writer, q *sequence, rank, n int64) error {
	w.Array(int(n))
	for it, err := range q.items(v, rank, n, false) {
		if err != nil {
			return err
		}
		w.Bulk(it.value)
	}
	return nil
}

// findList reads the list at the call's key; ok is false if there is none.
func findList(c *Call) (q sequence, ok bool, err error) {
	k, ok, err := c.findKind(c.Args[0], kindList)
	if err != nil || !ok {
		return sequence{}, false, err
	}
	q, err = sequenceOf(&k)
	return q, true, err
}

func listPush(c *Call, right, ifPresent bool) error {
	s, err := c.openKind(c.Args[0], kindList)
	if err != nil {
		return err
	}
	if ifPresent && !s.live {
		c.Reply.Int(0)
		return nil
	}
	q, err := openList(c.View, &s)
	if err != nil {
		return err
	}
	if err := q.reserve(c.View, int64(len(c.Args)), right); err != nil {
		return err
	}
	for _, value := range c.Args[1:] {
		if err := q.push(c.View, own(value), right); err != nil {
			return err
		}
	}
	c.Reply.Int(q.length)
	err = writeList(c.View, &s, &q)
	c.notify(eventList, pushEvent(right), c.Args[0])
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

func listPop(c *Call, right bool) error {
	if len(c.Args) > 2 {
		return errArity(c)
	}
	count, many := int64(1), len(c.Args) == 2
	if many {
		var ok bool
		if count, ok = resp.ParseInt(c.Args[1]); !ok || count < 0 {
			return errNotPositive
		}
	}
	s, err := c.openKind(c.Args[0], kindList)
	if err != nil {
		return err
	}
	switch {
	case !s.live && many:
		c.Reply.NullArray()
		return nil
	case !s.live:
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
func replyPopped(c *Call, s *slot, key []byte, right bool) error {
	q, err := sequenceOf(&s.key)
	if err != nil {
		return err
	}
	value, err := q.popItem(c.View, right)
	if err != nil {
		return err
	}
	c.Reply.Bulk(value)
	c.notify(eventList, popEvent(right), key)
	return writeList(c.View, s, &q)
}

// replyTaken is replyPopped for up to count items, as an array.
func replyTaken(c *Call, s *slot, key []byte, count int64, right bool) error {
	q, err := sequenceOf(&s.key)
	if err != nil {
		return err
	}
	n := min(count, q.length)
	c.Reply.Array(int(n))
	if err := q.take(c.View, n, right, c.Reply.Bulk); err != nil {
		return err
	}
	c.notify(eventList, popEvent(right), key)
	return writeList(c.View, s, &q)
}

func lLen(c *Call) error {
	k, _, err := c.findKind(c.Args[0], kindList)
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func lRange(c *Call) error {
	start, end, err := parseBounds(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	q, ok, err := findList(c)
	if err != nil {
		return err
	}
	rank, n := ranksOf(start, end, q.length)
	if !ok || n == 0 {
		c.Reply.Array(0)
		return nil
	}
	return replyItems(c.View, &c.Reply, &q, rank, n)
}

// parseIndex reads an index that may count from the end; ok is false if the
// list has no such item.
func parseIndex(arg []byte, length int64) (rank int64, ok bool, err error) {
	rank, isInt := resp.ParseInt(arg)
	if !isInt {
		return 0, false, errNotInteger
	}
	if rank < 0 {
		rank += length
	}
	return rank, 0 <= rank && rank < length, nil
}

func lIndex(c *Call) error {
	q, ok, err := findList(c)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	rank, ok, err := parseIndex(c.Args[1], q.length)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	it, err := q.itemAt(c.View, rank)
	if err != nil {
		return err
	}
	c.Reply.Bulk(it.value)
	return nil
}

func lSet(c *Call) error {
	s, q, err := openItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.live {
		return errNoSuchKey
	}
	rank, ok, err := parseIndex(c.Args[1], q.length)
	if err != nil {
		return err
	}
	if !ok {
		return resp.Error("ERR index out of range")
	}
	position, err := q.positionOf(c.View, rank, false)
	if err != nil {
		return err
	}
	if err := c.Tx.Put(c.elements, q.itemID(c.View, position), own(c.Args[2])); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	c.notify(eventList, "lset", c.Args[0])
	return writeList(c.View, &s, &q)
}

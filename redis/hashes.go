package redis

import (
	"bytes"
	"fmt"

	"github.com/firndb/firn"
)

// A hash is a key document and an element for each field, whose sub-key is the
// field and whose value is the field's value and nothing else. When a field
// expires stands elsewhere: see fieldEnds.
var hashCommands = []Command{
	{
		Name: "HSET", Args: "key field value [field value ...]", Min: 3, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Summary: "Sets fields of the hash at key and returns how many are new.",
		Run:     hSet,
	},
	{
		Name: "HMSET", Args: "key field value [field value ...]", Min: 3, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Summary: "HSET with the reply OK.",
		Run:     hSet,
	},
	{
		Name: "HSETNX", Args: "key field value", Min: 3, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Sets a field of the hash at key if it is not there: 1 if set, else 0.",
		Run:     hSetNX,
	},
	{
		Name: "HGET", Args: "key field", Min: 2, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Returns a field of the hash at key, or nil.",
		Run:     hGet,
	},
	{
		Name: "HMGET", Args: "key field [field ...]", Min: 2, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Summary: "Returns several fields of the hash at key, nil where there is none.",
		Run:     hMGet,
	},
	{
		Name: "HGETALL", Args: "key", Min: 1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields of the hash",
		Summary: "Returns all fields of the hash at key and their values.",
		Differs: "In the order of the fields' bytes.",
		Run:     func(c *Call) error { return replyHash(c, true, true) },
	},
	{
		Name: "HKEYS", Args: "key", Min: 1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields of the hash",
		Summary: "Returns all fields of the hash at key.",
		Differs: "In the order of the fields' bytes.",
		Run:     func(c *Call) error { return replyHash(c, true, false) },
	},
	{
		Name: "HVALS", Args: "key", Min: 1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields of the hash",
		Summary: "Returns the values of all fields of the hash at key.",
		Differs: "In the order of the fields' bytes.",
		Run:     func(c *Call) error { return replyHash(c, false, true) },
	},
	{
		Name: "HLEN", Args: "key", Min: 1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(1), and the expired fields that are not swept yet",
		Summary: "Returns how many fields the hash at key has.",
		Differs: "Does not count fields that have expired.",
		Run:     hLen,
	},
	{
		Name: "HSTRLEN", Args: "key field", Min: 2, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "3.2.0", Complexity: "O(1)",
		Summary: "Returns the length of a field's value; 0 if there is none.",
		Run:     hStrLen,
	},
	{
		Name: "HEXISTS", Args: "key field", Min: 2, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Says whether the hash at key has a field: 1 if so, else 0.",
		Run:     hExists,
	},
	{
		Name: "HDEL", Args: "key field [field ...]", Min: 2, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(n), n the fields",
		Summary: "Removes fields of the hash at key and returns how many there were. A hash without fields is gone.",
		Run:     hDel,
	},
	{
		Name: "HINCRBY", Args: "key field increment", Min: 3, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.0.0", Complexity: "O(1)",
		Summary: "Adds an integer to a field of the hash at key and returns the sum.",
		Run:     hIncrBy,
	},
	{
		Name: "HINCRBYFLOAT", Args: "key field increment", Min: 3, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Adds a number to a field of the hash at key and returns the sum.",
		Run:     hIncrByFloat,
	},
	{
		Name: "HRANDFIELD", Args: "key [count [WITHVALUES]]", Min: 1, Max: -1, Flags: ReadOnly | Random, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "6.2.0", Complexity: "O(count · log n), n the fields of the hash",
		Summary: "Returns fields chosen at random, different ones if count is positive.",
		Differs: "At most 10,000,000 with a negative count.",
		Run:     hRandField,
	},
	{
		Name: "HSCAN", Args: "key cursor [MATCH pattern] [COUNT count]", Min: 2, Max: -1, Flags: ReadOnly, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "2.8.0", Complexity: "O(count) per call",
		Summary: "Walks over the fields of the hash at key in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in the order of the fields' bytes.",
		Run:     hScan,
	},
}

// hashEncoding is what OBJECT ENCODING says of a hash.
func hashEncoding(k *keyDoc) string {
	if k.Encoding == large {
		return "hashtable"
	}
	return "listpack"
}

// element is the value of one element of a collection; ok is false if it is
// not there.
func (v *View) element(u uid, sub []byte) (value []byte, ok bool, err error) {
	doc, err := v.R.Get(v.elements, v.elementID(u, sub))
	if err == firn.ErrNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return doc.Value, true, nil
}

// findField reads a field of the hash at the call's key.
func findField(c *Call, field []byte) (value []byte, ok bool, err error) {
	k, ok, err := c.findKind(c.Args[0], kindHash)
	if err != nil || !ok {
		return nil, false, err
	}
	return fieldValue(c.View, &k, field)
}

// openedHash is a hash that a command is about to write.
type openedHash struct {
	slot
	ends  fieldEnds // what becomes of the key's value
	stale bool      // ends.first or ends.last may no longer be exact
	from  []byte    // a key of the index of ends, before which the hash has none; nil: that is not known
}

// openFields opens a key to change the fields of the hash there. It may not be there.
func openFields(v *View, key []byte) (h openedHash, err error) {
	h.slot, err = v.openKind(key, kindHash)
	if err == nil && h.live {
		h.ends = h.key.fieldEnds()
	}
	return h, err
}

// openHash opens a key to add fields to the hash there. A key that is not there becomes
// a hash without fields, which the command must not leave so.
func openHash(v *View, key []byte) (openedHash, error) {
	h, err := openFields(v, key)
	if err == nil && !h.live {
		h.key = keyDoc{Kind: kindHash, UID: v.newUID()}
	}
	return h, err
}

// close writes the key of a hash whose fields have changed; one without
// fields that live it removes.
func (h *openedHash) close(v *View) error {
	if h.stale {
		if err := h.refreshEnds(v); err != nil {
			return err
		}
	}
	h.key.Value = h.ends.encode()
	if h.key.Length > 0 && !h.key.ended(v.now()) {
		return v.write(&h.slot, h.key)
	}
	return v.delete(&h.slot)
}

// set stores a field in h.key, whose document the caller writes after the
// last one, and says whether it is new. A field that would expire does so no
// more. One that has the value already is not written again: the key's new
// version says that the command came.
func (h *openedHash) set(v *View, field, value []byte) (added bool, err error) {
	id := v.elementID(h.key.UID, field)
	doc, err := v.R.Get(v.elements, id)
	if err != nil && err != firn.ErrNotFound {
		return false, err
	}
	added = err != nil
	if !added && h.ends.count > 0 {
		end, err := h.dropEnd(v, field)
		if err != nil {
			return false, err
		}
		if added = expired(end, v.now()); added {
			h.key.Length--
		}
	}
	if !added && bytes.Equal(doc.Value, value) {
		return false, nil
	}
	return added, h.put(v, id, field, value, added)
}

// put stores a field of which it is known whether it is new.
func (h *openedHash) put(v *View, id, field, value []byte, added bool) error {
	if added {
		h.key.Length++
	}
	if !v.encodings.hashFits(h.key.Length, field, value) {
		h.key.Encoding = large
	}
	return v.Tx.Put(v.elements, id, own(value))
}

// drop removes a field that is there.
func (h *openedHash) drop(v *View, field []byte) error {
	if _, err := h.dropEnd(v, field); err != nil {
		return err
	}
	h.key.Length--
	return v.Tx.Delete(v.elements, v.elementID(h.key.UID, field), nil)
}

func hSet(c *Call) error {
	if len(c.Args)%2 == 0 {
		return errArity(c)
	}
	h, err := openHash(c.View, c.Args[0])
	if err != nil {
		return err
	}
	var n int64
	for i := 1; i < len(c.Args); i += 2 {
		added, err := h.set(c.View, c.Args[i], c.Args[i+1])
		if err != nil {
			return err
		}
		if added {
			n++
		}
	}
	if c.Cmd.Name == "HMSET" {
		c.Reply.Simple("OK")
	} else {
		c.Reply.Int(n)
	}
	err = h.close(c.View)
	c.notify(eventHash, "hset", c.Args[0])
	return err
}

func hSetNX(c *Call) error {
	h, err := openHash(c.View, c.Args[0])
	if err != nil {
		return err
	}
	_, had, err := fieldValue(c.View, &h.key, c.Args[1])
	if err != nil {
		return err
	}
	replyFlag(c, !had)
	if had {
		return nil
	}
	if _, err := h.set(c.View, c.Args[1], c.Args[2]); err != nil {
		return err
	}
	err = h.close(c.View)
	c.notify(eventHash, "hset", c.Args[0])
	return err
}

func hGet(c *Call) error {
	value, ok, err := findField(c, c.Args[1])
	if err != nil {
		return err
	}
	bulkOrNull(c, value, ok)
	return nil
}

func hMGet(c *Call) error {
	k, ok, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 1)
	for _, field := range c.Args[1:] {
		if !ok {
			c.Reply.Null()
			continue
		}
		value, had, err := fieldValue(c.View, &k, field)
		if err != nil {
			return err
		}
		bulkOrNull(c, value, had)
	}
	return nil
}

// replyHash replies all fields of the hash at the call's key, their values, or
// both.
func replyHash(c *Call, fields, values bool) error {
	k, ok, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	n, err := hashLength(c.View, &k)
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
	return eachField(c.View, &k, func(field, value []byte) error {
		if fields {
			c.Reply.Bulk(field)
		}
		if values {
			c.Reply.Bulk(value)
		}
		return nil
	})
}

// eachField visits all fields of a hash that have not ended, in the order of
// their bytes. The field is valid during the visit only. A hash that has not
// as many as its key says is errDamaged.
func eachField(v *View, k *keyDoc, visit func(field, value []byte) error) error {
	gone, err := endedFields(v, k)
	if err != nil {
		return err
	}
	prefix := v.prefixOf(k.UID)
	n := len(prefix)
	var seen int64
	for item, err := range v.R.Scan(firn.Range{Index: v.elements.ByID(), Prefix: prefix}) {
		if err != nil {
			return err
		}
		seen++
		if gone != nil && gone[item.Key[n:]] {
			continue
		}
		field, err := v.subKey(item.Key, n)
		if err != nil {
			return err
		}
		if err := visit(field, item.Doc.Value); err != nil {
			return err
		}
	}
	if seen != k.Length {
		return fmt.Errorf("hash %d/%d has %d fields, its key says %d: %w", k.UID.TS, k.UID.N, seen, k.Length, errDamaged)
	}
	return nil
}

func hLen(c *Call) error {
	k, _, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	n, err := hashLength(c.View, &k)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	return nil
}

func hStrLen(c *Call) error {
	value, _, err := findField(c, c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(value)))
	return nil
}

func hExists(c *Call) error {
	_, ok, err := findField(c, c.Args[1])
	if err != nil {
		return err
	}
	replyFlag(c, ok)
	return nil
}

func hDel(c *Call) error {
	h, err := openFields(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !h.live {
		c.Reply.Int(0)
		return nil
	}
	var n int64
	for _, field := range c.Args[1:] {
		_, ok, err := fieldValue(c.View, &h.key, field)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := h.drop(c.View, field); err != nil {
			return err
		}
		n++
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	c.notify(eventHash, "hdel", c.Args[0])
	return h.close(c.View)
}

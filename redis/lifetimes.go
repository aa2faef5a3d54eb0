package redis

import (
	"bytes"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Fields of hashes that expire, as in Redis 7.4. How they are kept stands at
// fieldEnds.
var lifetimeCommands = []Command{
	{
		Name: "HEXPIRE", Args: "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "Lets fields of a hash expire after some seconds: for each 1 if set, 2 if it is gone at once, 0 if not, -2 if there is none.",
		Run:     func(c *Call) error { return hExpire(c, 1000, c.now()) },
	},
	{
		Name: "HPEXPIRE", Args: "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "HEXPIRE in milliseconds.",
		Run:     func(c *Call) error { return hExpire(c, 1, c.now()) },
	},
	{
		Name: "HEXPIREAT", Args: "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "HEXPIRE with a Unix time.",
		Run:     func(c *Call) error { return hExpire(c, 1000, 0) },
	},
	{
		Name: "HPEXPIREAT", Args: "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]", Min: 5, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "HEXPIRE with a Unix time in milliseconds.",
		Run:     func(c *Call) error { return hExpire(c, 1, 0) },
	},
	{
		Name: "HTTL", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Summary: "Returns the seconds until fields of a hash expire; -1 for one that does not, -2 if there is none.",
		Run:     func(c *Call) error { return hTimeLeft(c, 1000, c.now()) },
	},
	{
		Name: "HPTTL", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Summary: "Returns the milliseconds until fields of a hash expire; -1 for one that does not, -2 if there is none.",
		Run:     func(c *Call) error { return hTimeLeft(c, 1, c.now()) },
	},
	{
		Name: "HEXPIRETIME", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Summary: "Returns the Unix times at which fields of a hash expire; -1 for one that does not, -2 if there is none.",
		Run:     func(c *Call) error { return hTimeLeft(c, 1000, 0) },
	},
	{
		Name: "HPEXPIRETIME", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: ReadOnly | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n), n the fields named",
		Summary: "HEXPIRETIME in milliseconds.",
		Run:     func(c *Call) error { return hTimeLeft(c, 1, 0) },
	},
	{
		Name: "HPERSIST", Args: "key FIELDS numfields field [field ...]", Min: 4, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hash", Since: "7.4.0", Complexity: "O(n · log m), n the fields named, m those that expire",
		Summary: "Lets fields of a hash expire no more: for each 1 if so, -1 if it would not, -2 if there is none.",
		Run:     hPersist,
	},
}

// maxFieldEnd is the last moment at which a field may expire, in ms: Redis
// keeps it in 46 bits.
const maxFieldEnd = 1<<46 - 1

// operationFieldsExpired is the operation of the versions with which the
// sweeper removes fields that have ended.
const operationFieldsExpired = "hexpired"

// What these commands say of a field.
const (
	fieldAbsent  = -2
	fieldNoEnd   = -1
	fieldRefused = 0 // by NX, XX, GT or LT
	fieldDone    = 1
	fieldRemoved = 2 // its end had passed already
)

// parseFields reads FIELDS numfields field [field ...]. wrongCount is the
// answer to a number that is none.
func parseFields(args [][]byte, wrongCount resp.Error) ([][]byte, error) {
	if !is(args[0], "FIELDS") {
		return nil, resp.Error("ERR Mandatory argument FIELDS is missing or not at the right position")
	}
	n, ok := resp.ParseInt(args[1])
	if !ok || n < 1 {
		return nil, wrongCount
	}
	if n != int64(len(args)-2) {
		return nil, resp.Error("ERR The `numfields` parameter must match the number of arguments")
	}
	return args[2:], nil
}

// parseFieldEnd reads a time in units of unit ms from base on.
func parseFieldEnd(c *Call, arg []byte, unit, base int64) (int64, error) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, errNotInteger
	case n < 0:
		return 0, resp.Error("ERR invalid expire time, must be >= 0")
	case n > maxFieldEnd/unit || n*unit > maxFieldEnd-base:
		return 0, errExpireTime(c)
	}
	return n*unit + base, nil
}

// parseFieldCondition reads the one condition that may stand before FIELDS.
func parseFieldCondition(arg []byte) (o expireConditions, given bool) {
	o = expireConditions{
		ifNone: is(arg, "NX"), ifSome: is(arg, "XX"), ifLater: is(arg, "GT"), ifSooner: is(arg, "LT"),
	}
	return o, o != expireConditions{}
}

// hExpire gives fields an end, in units of unit ms from base on. One that has
// passed removes them.
func hExpire(c *Call, unit, base int64) error {
	h, err := openFields(c.View, c.Args[0])
	if err != nil {
		return err
	}
	end, err := parseFieldEnd(c, c.Args[1], unit, base)
	if err != nil {
		return err
	}
	rest := c.Args[2:]
	conditions, given := parseFieldCondition(rest[0])
	if given {
		rest = rest[1:]
	}
	fields, err := parseFields(rest, "ERR Parameter `numFields` should be greater than 0")
	if err != nil {
		return err
	}
	c.Reply.Array(len(fields))
	var set, removed bool
	for _, field := range fields {
		result, err := expireField(c, &h, field, end, conditions)
		if err != nil {
			return err
		}
		set, removed = set || result == fieldDone, removed || result == fieldRemoved
		c.Reply.Int(result)
	}
	if set {
		c.notify(eventHash, "hexpire", c.Args[0])
	}
	if removed {
		c.notify(eventHash, "hdel", c.Args[0])
	}
	if !set && !removed {
		return nil
	}
	return h.close(c.View)
}

// expireField gives one field an end if the conditions allow it.
func expireField(c *Call, h *openedHash, field []byte, end int64, conditions expireConditions) (int64, error) {
	ok, current, err := h.endOf(c.View, field)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return fieldAbsent, nil
	case !conditions.allow(current, end):
		return fieldRefused, nil
	case end <= c.now():
		return fieldRemoved, h.drop(c.View, field)
	}
	return fieldDone, h.setEnd(c.View, field, current, end)
}

// endOf says whether a hash that may not be there has a field, and when
// that ends, 0 for never.
func (h *openedHash) endOf(v *View, field []byte) (ok bool, end int64, err error) {
	if !h.live {
		return false, 0, nil
	}
	if _, ok, err = v.element(h.key.UID, field); err != nil || !ok || h.ends.count == 0 {
		return ok, 0, err
	}
	end, err = fieldEnd(v, h.key.UID, field)
	return !expired(end, v.now()), end, err
}

// hTimeLeft replies how long after since ms fields expire, in units of unit
// ms, rounded up.
func hTimeLeft(c *Call, unit, since int64) error {
	k, there, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	fields, err := parseFields(c.Args[1:], "ERR Number of fields must be a positive integer")
	if err != nil {
		return err
	}
	h := openedHash{slot: slot{key: k, live: there}, ends: k.fieldEnds()}
	c.Reply.Array(len(fields))
	for _, field := range fields {
		ok, end, err := h.endOf(c.View, field)
		switch {
		case err != nil:
			return err
		case !ok:
			c.Reply.Int(fieldAbsent)
		case end == 0:
			c.Reply.Int(fieldNoEnd)
		default:
			c.Reply.Int((end - since + unit - 1) / unit)
		}
	}
	return nil
}

func hPersist(c *Call) error {
	h, err := openFields(c.View, c.Args[0])
	if err != nil {
		return err
	}
	fields, err := parseFields(c.Args[1:], "ERR Number of fields must be a positive integer")
	if err != nil {
		return err
	}
	c.Reply.Array(len(fields))
	changed := false
	for _, field := range fields {
		ok, end, err := h.endOf(c.View, field)
		switch {
		case err != nil:
			return err
		case !ok:
			c.Reply.Int(fieldAbsent)
			continue
		case end == 0:
			c.Reply.Int(fieldNoEnd)
			continue
		}
		if err := h.deleteEnd(c.View, field, end); err != nil {
			return err
		}
		c.Reply.Int(fieldDone)
		changed = true
	}
	if !changed {
		return nil
	}
	c.notify(eventHash, "hpersist", c.Args[0])
	return h.close(c.View)
}

// sweep removes up to limit fields that have ended from a hash that
// lives on, and returns how many. from is a key of their index: if it is of
// this hash, no field before it has an end. last is the key of the last field
// that was removed.
func (h *openedHash) sweep(v *View, from []byte, limit int) (n int, last []byte, err error) {
	ended := v.endedRange(h.key.UID, h.ends, v.now(), limit)
	if bytes.HasPrefix(from, appendUID(nil, h.key.UID)) && bytes.Compare(from, ended.From) > 0 {
		ended.From = from
	}
	h.from = ended.From
	var due []*firn.Document
	for item, err := range v.R.Scan(ended) {
		if err != nil {
			return 0, nil, err
		}
		h.from = []byte(item.Key)
		due = append(due, item.Doc)
	}
	for _, doc := range due {
		end, _ := parseLifetime(doc.Value)
		if err := h.dropEnded(v, []byte(doc.ID), end); err != nil {
			return 0, nil, err
		}
	}
	return len(due), h.from, h.close(v)
}

// dropEnded removes a field that has ended, with the id that its element and
// its lifetime have in common.
func (h *openedHash) dropEnded(v *View, id []byte, end int64) error {
	h.forgetEnd(end)
	h.key.Length--
	if err := v.Tx.Delete(v.lifetimes, id, nil); err != nil {
		return err
	}
	return v.Tx.Delete(v.elements, id, nil)
}

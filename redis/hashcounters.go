package redis

import (
	"errors"
	"strconv"

	"github.com/firndb/firn/resp"
)

// Numbers in fields of hashes: HINCRBY and HINCRBYFLOAT.

func hIncrBy(c *Call) error {
	increment, ok := resp.ParseInt(c.Args[2])
	if !ok {
		return errNotInteger
	}
	s, value, had, err := c.openField()
	if err != nil {
		return err
	}
	var old int64
	if had {
		if old, ok = resp.ParseInt(value); !ok {
			return Error("ERR hash value is not an integer")
		}
	}
	sum, ok := addInts(old, increment)
	if !ok {
		return errOverflow
	}
	c.Reply.Int(sum)
	return c.closeField(&s, strconv.AppendInt(c.work.digits[:0], sum, 10), !had)
}

func hIncrByFloat(c *Call) error {
	increment, err := resp.ParseLongDouble(c.Args[2])
	if err != nil {
		return errNotFloat
	}
	if increment.IsInf() {
		return Error("ERR value is NaN or Infinity")
	}
	s, value, had, err := c.openField()
	if err != nil {
		return err
	}
	var old resp.LongDouble
	if had {
		if old, err = resp.ParseLongDouble(value); err != nil {
			return Error("ERR hash value is not a float")
		}
	}
	sum, err := old.Add(increment)
	if errors.Is(err, resp.ErrNotFinite) {
		return errNaNInfinity
	}
	if err != nil {
		return err
	}
	text := sum.Append(nil)
	c.Reply.Bulk(text)
	return c.closeField(&s, text, !had)
}

// openField opens the call's key and reads the field that is its next
// argument.
func (c *Call) openField() (s slot, value []byte, had bool, err error) {
	s, err = c.openHash()
	if err != nil {
		return s, nil, false, err
	}
	value, had, err = c.element(s.key.UID, c.Args[1])
	return s, value, had, err
}

// closeField stores the field that openField has read, and the key.
func (c *Call) closeField(s *slot, value []byte, added bool) error {
	id := c.elementID(s.key.UID, c.Args[1])
	if err := c.putField(s, id, c.Args[1], value, added); err != nil {
		return err
	}
	return c.write(s, s.key)
}

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
	h, value, had, err := openField(c)
	if err != nil {
		return err
	}
	var old int64
	if had {
		if old, ok = resp.ParseInt(value); !ok {
			return resp.Error("ERR hash value is not an integer")
		}
	}
	sum, ok := addInts(old, increment)
	if !ok {
		return errOverflow
	}
	c.Reply.Int(sum)
	err = closeField(c, &h, c.keep(strconv.AppendInt(c.room(), sum, 10)), had)
	c.notify(eventHash, "hincrby", c.Args[0])
	return err
}

func hIncrByFloat(c *Call) error {
	increment, err := resp.ParseLongDouble(c.Args[2])
	if err != nil {
		return errNotFloat
	}
	if increment.IsInf() {
		return resp.Error("ERR value is NaN or Infinity")
	}
	h, value, had, err := openField(c)
	if err != nil {
		return err
	}
	var old resp.LongDouble
	if had {
		if old, err = resp.ParseLongDouble(value); err != nil {
			return resp.Error("ERR hash value is not a float")
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
	err = closeField(c, &h, text, had)
	c.notify(eventHash, "hincrbyfloat", c.Args[0])
	return err
}

// openField opens the call's key and reads the field that is its next
// argument.
func openField(c *Call) (h openedHash, value []byte, had bool, err error) {
	h, err = openHash(c.View, c.Args[0])
	if err != nil || !h.live {
		return h, nil, false, err
	}
	value, had, err = fieldValue(c.View, &h.key, c.Args[1])
	return h, value, had, err
}

// closeField stores the field that openField has read, and the key. A field
// that was there keeps its end.
func closeField(c *Call, h *openedHash, value []byte, had bool) (err error) {
	if had {
		err = h.put(c.View, c.elementID(h.key.UID, c.Args[1]), c.Args[1], value, false)
	} else {
		_, err = h.set(c.View, c.Args[1], value)
	}
	if err != nil {
		return err
	}
	return h.close(c.View)
}

package hashes

import (
	"errors"
	"strconv"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Numbers in fields of hashes: HINCRBY and HINCRBYFLOAT.

func hIncrBy(c *command.Call) error {
	increment, ok := resp.ParseInt(c.Args[2])
	if !ok {
		return command.ErrNotInteger
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
	sum, ok := command.AddInts(old, increment)
	if !ok {
		return command.ErrOverflow
	}
	c.Reply.Int(sum)
	err = closeField(c, &h, c.Keep(strconv.AppendInt(c.Room(), sum, 10)), had)
	c.Notify(keyspace.EventHash, "hincrby", c.Args[0])
	return err
}

func hIncrByFloat(c *command.Call) error {
	increment, err := resp.ParseLongDouble(c.Args[2])
	if err != nil {
		return command.ErrNotFloat
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
		return command.ErrNaNInfinity
	}
	if err != nil {
		return err
	}
	text := sum.Append(nil)
	c.Reply.Bulk(text)
	err = closeField(c, &h, text, had)
	c.Notify(keyspace.EventHash, "hincrbyfloat", c.Args[0])
	return err
}

// openField opens the key that the call names first and reads the field that is its next
// argument.
func openField(c *command.Call) (h keyspace.OpenedHash, value []byte, had bool, err error) {
	h, err = keyspace.OpenHash(c.View, c.Args[0])
	if err != nil || !h.Live {
		return h, nil, false, err
	}
	value, had, err = keyspace.FieldValue(c.View, &h.Key, c.Args[1])
	return h, value, had, err
}

// closeField stores the field that openField has read, and the key. A field
// that was there keeps its end.
func closeField(c *command.Call, h *keyspace.OpenedHash, value []byte, had bool) (err error) {
	if had {
		err = h.Put(c.View, c.ElementID(h.Key.UID, c.Args[1]), c.Args[1], value, false)
	} else {
		_, err = h.Set(c.View, c.Args[1], value)
	}
	if err != nil {
		return err
	}
	return h.Close(c.View)
}

package values

import (
	"math"
	"strconv"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Numbers in strings: INCR and its relatives.

// add adds an integer to the one at the key that the call names first and replies the sum.
func add(c *command.Call, increment int64) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	var old int64
	if s.Live {
		n, ok := resp.ParseInt(s.Key.Value)
		if !ok {
			return command.ErrNotInteger
		}
		old = n
	}
	sum, ok := command.AddInts(old, increment)
	if !ok {
		return command.ErrOverflow
	}
	c.Reply.Int(sum)
	return changeString(c, &s, c.Keep(strconv.AppendInt(c.Room(), sum, 10)), keyspace.Compact, "incrby")
}

func incrBy(c *command.Call) error {
	n, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return command.ErrNotInteger
	}
	return add(c, n)
}

func decrBy(c *command.Call) error {
	n, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return command.ErrNotInteger
	}
	if n == math.MinInt64 {
		return resp.Error("ERR decrement would overflow")
	}
	return add(c, -n)
}

func incrByFloat(c *command.Call) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	var old resp.LongDouble
	if s.Live {
		if old, err = resp.ParseLongDouble(s.Key.Value); err != nil {
			return command.ErrNotFloat
		}
	}
	increment, err := resp.ParseLongDouble(c.Args[1])
	if err != nil {
		return command.ErrNotFloat
	}
	sum, err := old.Add(increment)
	if err != nil {
		return command.ErrNaNInfinity
	}
	text := sum.Append(nil)
	c.Reply.Bulk(text)
	return changeString(c, &s, text, keyspace.Plain, "incrbyfloat")
}

package redis

import (
	"math"
	"strconv"

	"github.com/firndb/firn/resp"
)

// Numbers in strings: INCR and its relatives.

// add adds an integer to the one at the call's key and replies the sum.
func add(c *Call, increment int64) error {
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	var old int64
	if s.live {
		n, ok := resp.ParseInt(s.key.Value)
		if !ok {
			return errNotInteger
		}
		old = n
	}
	sum, ok := addInts(old, increment)
	if !ok {
		return errOverflow
	}
	c.Reply.Int(sum)
	return changeString(c, &s, c.keep(strconv.AppendInt(c.room(), sum, 10)), compact, "incrby")
}

// addInts is a+b; ok is false if that does not fit.
func addInts(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0) || b == 0
}

func incrBy(c *Call) error {
	n, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return errNotInteger
	}
	return add(c, n)
}

func decrBy(c *Call) error {
	n, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return errNotInteger
	}
	if n == math.MinInt64 {
		return resp.Error("ERR decrement would overflow")
	}
	return add(c, -n)
}

func incrByFloat(c *Call) error {
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	var old resp.LongDouble
	if s.live {
		if old, err = resp.ParseLongDouble(s.key.Value); err != nil {
			return errNotFloat
		}
	}
	increment, err := resp.ParseLongDouble(c.Args[1])
	if err != nil {
		return errNotFloat
	}
	sum, err := old.Add(increment)
	if err != nil {
		return errNaNInfinity
	}
	text := sum.Append(nil)
	c.Reply.Bulk(text)
	return changeString(c, &s, text, plain, "incrbyfloat")
}

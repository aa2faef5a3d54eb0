package values

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Parts of strings: APPEND, GETRANGE, SETRANGE; and the bounds of all ranges.

// checkStringLength refuses a string that would become longer than
// proto-max-bulk-len. Both numbers are not negative.
func checkStringLength(c *command.Call, length, more int64) error {
	if limit := c.MaxBulkBytes.Load(); length > limit || more > limit-length {
		return command.ErrTooLong
	}
	return nil
}

func appendString(c *command.Call) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	old, more := s.Key.Value, c.Args[1]
	if !s.Live {
		c.Reply.Int(int64(len(more)))
		return changeString(c, &s, more, keyspace.Compact, "append")
	}
	if err := checkStringLength(c, int64(len(old)), int64(len(more))); err != nil {
		return err
	}
	joined := make([]byte, 0, len(old)+len(more))
	joined = append(append(joined, old...), more...)
	c.Reply.Int(int64(len(joined)))
	return changeString(c, &s, joined, keyspace.Large, "append")
}

// changeString gives a string another value, keeps its expiry, and says so.
func changeString(c *command.Call, s *keyspace.Slot, value []byte, form keyspace.Encoding, event string) error {
	if err := c.WriteString(s, value, form, s.Key.Expires); err != nil {
		return err
	}
	c.Notify(keyspace.EventString, event, s.Name)
	return nil
}

func getRange(c *command.Call) error {
	start, end, err := command.ParseBounds(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	k, _, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	length := int64(len(k.Value))
	backwards := start < 0 && end < 0 && start > end
	start, end = clampRange(start, end, length)
	if backwards || start > end || length == 0 {
		c.Reply.BulkString("")
		return nil
	}
	c.Reply.Bulk(k.Value[start : end+1])
	return nil
}

// clampRange turns indexes that may count from the end into ones within a
// string or collection of the given length. The range is empty if start > end.
func clampRange(start, end, length int64) (from, to int64) {
	if start < 0 {
		start += length
	}
	if end < 0 {
		end += length
	}
	return max(start, 0), min(max(end, 0), length-1)
}

func setRange(c *command.Call) error {
	offset, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return command.ErrNotInteger
	}
	if offset < 0 {
		return resp.Error("ERR offset is out of range")
	}
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	old, patch := s.Key.Value, c.Args[2]
	if len(patch) == 0 {
		c.Reply.Int(int64(len(old)))
		return nil
	}
	if err := checkStringLength(c, offset, int64(len(patch))); err != nil {
		return err
	}
	value := make([]byte, max(int64(len(old)), offset+int64(len(patch))))
	copy(value, old)
	copy(value[offset:], patch)
	c.Reply.Int(int64(len(value)))
	return changeString(c, &s, value, keyspace.Large, "setrange")
}

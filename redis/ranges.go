package redis

import "github.com/firndb/firn/resp"

// Parts of strings: APPEND, GETRANGE, SETRANGE; and the bounds of all ranges.

// checkStringLength refuses a string that would become longer than
// proto-max-bulk-len. Both numbers are not negative.
func checkStringLength(c *Call, length, more int64) error {
	if limit := c.maxBulkBytes.Load(); length > limit || more > limit-length {
		return errTooLong
	}
	return nil
}

func appendString(c *Call) error {
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	old, more := s.key.Value, c.Args[1]
	if !s.live {
		c.Reply.Int(int64(len(more)))
		return changeString(c, &s, more, compact, "append")
	}
	if err := checkStringLength(c, int64(len(old)), int64(len(more))); err != nil {
		return err
	}
	joined := make([]byte, 0, len(old)+len(more))
	joined = append(append(joined, old...), more...)
	c.Reply.Int(int64(len(joined)))
	return changeString(c, &s, joined, large, "append")
}

// changeString gives a string another value, keeps its expiry, and says so.
func changeString(c *Call, s *slot, value []byte, form encoding, event string) error {
	if err := c.writeString(s, value, form, s.key.Expires); err != nil {
		return err
	}
	c.notify(eventString, event, s.name)
	return nil
}

func getRange(c *Call) error {
	start, end, err := parseBounds(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	k, _, err := c.findKind(c.Args[0], kindString)
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

// parseBounds reads the two indexes of a range.
func parseBounds(low, high []byte) (start, end int64, err error) {
	start, ok := resp.ParseInt(low)
	end, ok2 := resp.ParseInt(high)
	if !ok || !ok2 {
		return 0, 0, errNotInteger
	}
	return start, end, nil
}

// ranksOf turns indexes that may count from the end into a rank and how many
// elements of a collection there are from it on, possibly none.
func ranksOf(start, end, length int64) (rank, n int64) {
	if start < 0 {
		start = max(start+length, 0)
	}
	if end < 0 {
		end += length
	}
	if start > end || start >= length { // first of all: their difference may overflow
		return 0, 0
	}
	return start, min(end, length-1) - start + 1
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

func setRange(c *Call) error {
	offset, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return errNotInteger
	}
	if offset < 0 {
		return resp.Error("ERR offset is out of range")
	}
	s, err := c.openKind(c.Args[0], kindString)
	if err != nil {
		return err
	}
	old, patch := s.key.Value, c.Args[2]
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
	return changeString(c, &s, value, large, "setrange")
}

package command

import (
	"github.com/firndb/firn/resp"
)

// ParseBounds reads the two indexes of a range.
func ParseBounds(low, high []byte) (start, end int64, err error) {
	start, ok := resp.ParseInt(low)
	end, ok2 := resp.ParseInt(high)
	if !ok || !ok2 {
		return 0, 0, ErrNotInteger
	}
	return start, end, nil
}

package redis

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseBytes reads a number of bytes as Redis writes it: a bare number, or
// one with k, m or g (powers of 1,000), kb, mb or gb (powers of 1,024), or b
// behind it, in any case.
func ParseBytes(text string) (int64, error) {
	digits := strings.TrimRight(strings.ToLower(text), "bgkm")
	units := map[string]int64{
		"": 1, "b": 1, "k": 1e3, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30,
	}
	unit, ok := units[strings.ToLower(text)[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > (1<<62)/unit {
		return 0, fmt.Errorf("redis: %q is not a number of bytes such as 64mb", text)
	}
	return n * unit, nil
}

package command

import (
	"math"

	"github.com/firndb/firn/resp"
)

// maxRandomCount bounds HRANDFIELD, SRANDMEMBER and ZRANDMEMBER with a negative
// count, whose reply grows with the number and not with the collection.
const maxRandomCount = 10_000_000

// errRandomCount is the answer to the one count that has no opposite.
const errRandomCount = resp.Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")

// ParseRandomCount reads the count of HRANDFIELD, SRANDMEMBER and ZRANDMEMBER,
// and the option to reply pairs.
func ParseRandomCount(args [][]byte, option string) (count int64, pairs bool, err error) {
	count, ok := resp.ParseInt(args[0])
	switch {
	case !ok:
		return 0, false, ErrNotInteger
	case count == math.MinInt64:
		return 0, false, errRandomCount
	case len(args) > 2 || len(args) == 2 && !Is(args[1], option):
		return 0, false, ErrSyntax
	}
	pairs = len(args) == 2
	if pairs && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) || count < -maxRandomCount {
		return 0, false, errOutOfRange
	}
	return count, pairs, nil
}

package retention

import (
	"fmt"
	"strconv"

	"github.com/firndb/firn/schema"
)

// horizonGlobal is the store's horizon in the file, as a decimal number: the
// oldest moment that can be read where no other policy holds.
const horizonGlobal = "horizon"

// readHorizon is the store's horizon in the file. A store that has none yet
// begins at created.
func readHorizon(s schema.Session, created schema.Timestamp) (schema.Timestamp, error) {
	text, ok, err := s.Global(horizonGlobal)
	if err != nil || !ok {
		return created, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: global %s is %q", schema.ErrCorrupt, horizonGlobal, text)
	}
	return schema.Timestamp(n), nil
}

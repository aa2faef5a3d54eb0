package retention

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/firndb/firn/schema"
)

// horizonGlobal is the store's horizon in the file, as a decimal number: the
// oldest moment that can be read where no other policy holds.
const horizonGlobal = "horizon"

// ErrCompacted means that a moment is before the horizon. Its documents are
// forgotten, which is not the same as "not found".
var ErrCompacted = errors.New("firn: compacted")

// CompactedError says how far back history reaches. It matches ErrCompacted.
type CompactedError struct {
	Asked  schema.Timestamp // the moment that was asked for
	Oldest schema.Timestamp // the oldest that can be read
}

func (e *CompactedError) Error() string {
	return fmt.Sprintf("firn: compacted: asked for %d, oldest readable timestamp is %d", e.Asked, e.Oldest)
}

// Is makes the error match ErrCompacted.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

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

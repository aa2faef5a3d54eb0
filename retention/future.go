package retention

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/schema"
)

// ErrFuture means that a moment has not come yet, so that nobody can know what
// will be then.
var ErrFuture = errors.New("firn: moment is in the future")

// FutureError says how far forward history reaches. It matches ErrFuture.
type FutureError struct {
	Asked  schema.Timestamp // the moment that was asked for
	Newest schema.Timestamp // of the last commit
}

func (e *FutureError) Error() string {
	return fmt.Sprintf("firn: moment is in the future: asked for %d, newest timestamp is %d", e.Asked, e.Newest)
}

// Is makes the error match ErrFuture.
func (e *FutureError) Is(target error) bool { return target == ErrFuture }

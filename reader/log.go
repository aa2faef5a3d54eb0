package reader

import (
	"fmt"

	"github.com/firndb/firn/schema"
)

// Walk visits the rows of the log behind a cursor that the view can see, of all
// tables and in the log's order, at most limit of them, as [schema.Session]
// does. visit must not read through the view.
func (v *View) Walk(after schema.Cursor, limit int, visit func(*schema.Visit) (bool, error)) (next schema.Cursor, done bool, err error) {
	s, err := v.session()
	if err != nil {
		return after, false, err
	}
	if next, done, err = s.Walk(after, v.at, limit, visit); err != nil {
		return next, false, fmt.Errorf("walk the log: %w", err)
	}
	return next, done, nil
}

package reader

import (
	"fmt"

	"github.com/firndb/firn/schema"
)

// Log appends to dst the rows of the log behind a cursor that the view can
// see, of all tables and in the log's order, at most limit of them.
func (v *View) Log(dst []*schema.Row, after schema.Cursor, limit int) ([]*schema.Row, error) {
	s, err := v.session()
	if err != nil {
		return dst, err
	}
	if dst, err = s.Log(dst, after, v.at, limit); err != nil {
		return dst, fmt.Errorf("walk the log: %w", err)
	}
	return dst, nil
}

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrJSON means that a value is not JSON text.
var ErrJSON = errors.New("schema: not JSON")

// CheckJSON refuses with ErrJSON what may not be the value of a row with JSON
// set: anything but one JSON value in UTF-8, with white space around it. Bytes
// that are not UTF-8 are refused although encoding/json takes them in strings:
// SQLite says so of its TEXT, and other programs choke on them.
func CheckJSON(value []byte) error {
	switch {
	case !utf8.Valid(value):
		return fmt.Errorf("%w: not UTF-8", ErrJSON)
	case json.Valid(value):
		return nil
	}
	var whole json.RawMessage
	return fmt.Errorf("%w: %v", ErrJSON, json.Unmarshal(value, &whole)) // that says where
}

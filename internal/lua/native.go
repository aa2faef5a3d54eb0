package lua

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// Call is a call of a function that was registered, see State.Register.
type Call interface {
	arg.Call

	// RaiseValue raises an error that is any value. It does not return.
	RaiseValue(v val.Value)

	// NewArray returns a new table with room for n elements.
	NewArray(n int) arg.Table
}

// Table is a table of a program, as it is and not a copy.
type Table interface {
	arg.Table

	// Field is what the table has under a name. It does not look at metatables.
	Field(name string) val.Value
}

// NewArray implements Call.
func (c *passed) NewArray(n int) arg.Table { return c.th.newTable(n, 0) }

// Field implements Table.
func (t *table) Field(name string) val.Value { return t.getString(name) }

// Strings is a table of strings, for SetGlobal and Call.
func (s *State) Strings(words [][]byte) val.Value {
	t := &table{array: make([]value, len(words))}
	for i, word := range words {
		t.array[i] = val.String(word)
	}
	return t
}

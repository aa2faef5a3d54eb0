package lua

import (
	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/arg"
)

// Call is a call of a function that was registered, see State.Register.
type Call interface {
	arg.Call

	// RaiseValue raises an error that is any value. It does not return.
	RaiseValue(v glua.LValue)

	// NewArray returns a new table with room for n elements.
	NewArray(n int) arg.Table
}

// Table is a table of a program, as it is and not a copy.
type Table interface {
	arg.Table

	// Field is what the table has under a name. It does not look at metatables.
	Field(name string) glua.LValue
}

// NewArray implements Call.
func (c *passed) NewArray(n int) arg.Table { return c.th.newTable(n, 0) }

// Field implements Table.
func (t *table) Field(name string) glua.LValue { return t.getString(name) }

// Strings is a table of strings, for SetGlobal and Run.
func (s *State) Strings(words [][]byte) glua.LValue {
	t := &table{array: make([]value, len(words))}
	for i, word := range words {
		t.array[i] = glua.LString(word)
	}
	return t
}

// Run is Call whose result is not copied: a table is a Table. It is good until
// the state is used again.
func (s *State) Run(fn *glua.LFunction, g *Guard, args ...glua.LValue) (v glua.LValue, err error) {
	s.begin(g)
	defer s.settle()
	defer s.end(&v, &err)
	return s.first(fn, args), nil
}

package arg

import glua "github.com/yuin/gopher-lua"

// Library is what a library publishes: a table of functions and values.
type Library struct {
	Functions map[string]Function
	Values    map[string]glua.LValue
}

// Function is a function that Lua calls. It pushes its results, and returns how
// many they are.
type Function func(c Call) (results int)

// Call is one call of a Function. The virtual machine makes it.
type Call interface {
	// Top is the number of arguments.
	Top() int

	// Arg returns argument n, of 1 to Top, and nil of Lua for any other.
	Arg(n int) glua.LValue

	// Push appends a result.
	Push(v glua.LValue)

	// Raise raises an error whose value is the text. It does not return.
	Raise(text string)

	// Where returns the place where the function was called as "name:line: ",
	// or nothing when it was not called by a script.
	Where() string

	// Callee returns the name by which the function was called, "?" when there
	// is none, and whether it was called as a method.
	Callee() (name string, method bool)

	// Charge is told that the function is about to take bytes. It raises an
	// error of its own when that is too much. What is freed again is not told.
	Charge(bytes int)

	// Table returns v as a table, if it is one.
	Table(v glua.LValue) (t Table, ok bool)

	// NewTable returns a new table, which will have about so many elements and
	// other members.
	NewTable(elements, members int) Table

	// NewFunction returns a function as a value of Lua.
	NewFunction(name string, fn Function) glua.LValue
}

// Table is a table of Lua. Nothing here looks at metatables.
type Table interface {
	glua.LValue

	// Index returns what the table has at the index i, from 1.
	Index(i int) glua.LValue

	// Set gives the table a member. The key is neither nil nor NaN.
	Set(key, v glua.LValue)

	// Walk yields the members in the order of next.
	Walk(yield func(key, v glua.LValue) bool)
}

// Open returns a new table with all of a library.
func Open(c Call, l Library) Table {
	t := c.NewTable(0, len(l.Functions)+len(l.Values))
	for name, fn := range l.Functions {
		t.Set(glua.LString(name), c.NewFunction(name, fn))
	}
	for name, v := range l.Values {
		t.Set(glua.LString(name), v)
	}
	return t
}

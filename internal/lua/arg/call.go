package arg

import "github.com/firndb/firn/internal/lua/val"

// Library is what a library publishes: a table of functions and values.
type Library struct {
	// Members are in the order in which Redis puts them into the table, which
	// tells in which order next finds them.
	Members []Member

	// Room is how many members the table has room for before there is any.
	Room int
}

// Member is a function or another value under its name.
type Member struct {
	Name     string
	Function Function
	Value    val.Value // of what is no function
}

// Function is a function that Lua calls. It pushes its results, and returns how
// many they are.
type Function func(c Call) (results int)

// Call is one call of a Function. The virtual machine makes it.
type Call interface {
	// Top is the number of arguments.
	Top() int

	// Arg returns argument n, of 1 to Top, and nil of Lua for any other.
	Arg(n int) val.Value

	// Push appends a result.
	Push(v val.Value)

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

	// Spend is told that the function has worked for about so many steps, a
	// step being what one instruction of a script does. It raises an error of
	// its own when that is too much.
	Spend(steps int)

	// Table returns v as a table, if it is one.
	Table(v val.Value) (t Table, ok bool)

	// NewTable returns a new table with room for so many members.
	NewTable(room int) Table

	// NewFunction returns a function as a value of Lua.
	NewFunction(name string, fn Function) val.Value
}

// Table is a table of Lua, and a value like others. Nothing here looks at
// metatables.
type Table interface {
	val.Value

	// Index returns what the table has at the index i, from 1.
	Index(i int) val.Value

	// Set gives the table a member. The key is neither nil nor NaN.
	Set(c Call, key, v val.Value)

	// Slots is how many places Walk looks at, with a member or without.
	Slots() int

	// Walk yields the members in the order of next.
	Walk(yield func(key, v val.Value) bool)
}

// Open returns a new table with all of a library.
func Open(c Call, l Library) Table {
	t := c.NewTable(l.Room)
	for _, m := range l.Members {
		v := m.Value
		if m.Function != nil {
			v = c.NewFunction(m.Name, m.Function)
		}
		t.Set(c, val.String(m.Name), v)
	}
	return t
}

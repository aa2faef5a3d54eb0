package lua

import (
	"fmt"
	"math"

	"github.com/firndb/firn/internal/lua/val"
)

// value is any value of a program: those of package val, *table, *function and
// *coroutine.
type value = val.Value

var vnil = val.Nil

// smallNumbers are boxed once, since programs count.
var smallNumbers = func() (all [1024]value) {
	for i := range all {
		all[i] = val.Number(i)
	}
	return all
}()

// number boxes a number.
func number(n float64) value {
	if i := int(n); uint(i) < uint(len(smallNumbers)) && float64(i) == n && (i != 0 || !math.Signbit(n)) {
		return smallNumbers[i]
	}
	return val.Number(n)
}

func boolean(b bool) value {
	if b {
		return val.True
	}
	return val.False
}

func truth(v value) bool {
	if b, ok := v.(val.Bool); ok {
		return bool(b)
	}
	return v != vnil
}

// Function is a function, as a value. Only the state that made it can call it.
type Function = function

// function is a function of a program or of the library.
type function struct {
	proto   *proto
	ups     []*cell
	globals *table // what its global names are, of a function of a program
	native  native
	name    string // of a native one
	seen    uint32 // the walk that has been here
}

// native is a function of the library. Its arguments lie on the thread's stack
// and are borrowed, and so is what it returns: until the next call.
type native func(th *thread, args []value) []value

func (fn *function) String() string  { return fmt.Sprintf("function: %p", fn) }
func (fn *function) Type() val.Type  { return val.TypeFunction }
func (t *table) String() string      { return fmt.Sprintf("table: %p", t) }
func (t *table) Type() val.Type      { return val.TypeTable }
func (co *coroutine) String() string { return fmt.Sprintf("thread: %p", co) }
func (co *coroutine) Type() val.Type { return val.TypeThread }

// cell holds a local variable that an inner function uses. It lies in the
// variable's slot, and is no value that a program sees.
type cell struct {
	v    value
	seen uint32
}

func (c *cell) String() string     { return "variable" }
func (c *cell) Type() val.Type     { return val.TypeNil }
func typeName(v value) string      { return v.Type().String() }
func isCallable(v value) (ok bool) { ok = v.Type() == val.TypeFunction; return ok }

// textOf is a string, or a number as a string: what Lua coerces.
func textOf(v value) (string, bool) {
	switch v := v.(type) {
	case val.String:
		return string(v), true
	case val.Number:
		return formatNumber(float64(v)), true
	}
	return "", false
}

// numberOf is a number, or a string that reads as one.
func numberOf(v value) (float64, bool) {
	switch v := v.(type) {
	case val.Number:
		return float64(v), true
	case val.String:
		return parseNumber(string(v))
	}
	return 0, false
}

// rawEqual compares without metamethods.
func rawEqual(a, b value) bool {
	switch x := a.(type) {
	case val.Number:
		y, ok := b.(val.Number)
		return ok && x == y
	case val.String:
		y, ok := b.(val.String)
		return ok && x == y
	}
	return a == b
}

// functionBytes is what a function takes.
const functionBytes = 96

// cellBytes is what a variable takes that an inner function uses.
const cellBytes = 24

package lua

import (
	"fmt"
	"math"

	glua "github.com/yuin/gopher-lua"
)

// value is any value of a program: gopher-lua's nil, booleans, numbers,
// strings, Go functions and userdata, and our own *table, *function and
// *coroutine.
type value = glua.LValue

var vnil = glua.LNil

// smallNumbers are boxed once, since programs count.
var smallNumbers = func() (all [1024]value) {
	for i := range all {
		all[i] = glua.LNumber(i)
	}
	return all
}()

// number boxes a number.
func number(n float64) value {
	if i := int(n); uint(i) < uint(len(smallNumbers)) && float64(i) == n && (i != 0 || !math.Signbit(n)) {
		return smallNumbers[i]
	}
	return glua.LNumber(n)
}

func boolean(b bool) value {
	if b {
		return glua.LTrue
	}
	return glua.LFalse
}

func truth(v value) bool {
	if b, ok := v.(glua.LBool); ok {
		return bool(b)
	}
	return v != vnil
}

// function is a function of a program or of the library.
type function struct {
	proto   *proto
	ups     []*cell
	globals *table // what its global names are, of a function of a program
	native  native
	name    string // of a native one
	outer   *glua.LFunction
	seen    uint32 // the walk that has been here
}

// native is a function of the library. Its arguments lie on the thread's stack
// and are borrowed, and so is what it returns: until the next call.
type native func(th *thread, args []value) []value

func (fn *function) String() string         { return fmt.Sprintf("function: %p", fn) }
func (fn *function) Type() glua.LValueType  { return glua.LTFunction }
func (t *table) String() string             { return fmt.Sprintf("table: %p", t) }
func (t *table) Type() glua.LValueType      { return glua.LTTable }
func (co *coroutine) String() string        { return fmt.Sprintf("thread: %p", co) }
func (co *coroutine) Type() glua.LValueType { return glua.LTThread }

// cell holds a local variable that an inner function uses. It lies in the
// variable's slot, and is no value that a program sees.
type cell struct {
	v    value
	seen uint32
}

func (c *cell) String() string         { return "variable" }
func (c *cell) Type() glua.LValueType  { return glua.LTNil }
func typeName(v value) string          { return v.Type().String() }
func isCallable(v value) (ok bool)     { ok = v.Type() == glua.LTFunction; return ok }
func asString(v value) (string, bool)  { return textOf(v) }
func stringValue(s string) glua.LValue { return glua.LString(s) }

// textOf is a string, or a number as a string: what Lua coerces.
func textOf(v value) (string, bool) {
	switch v := v.(type) {
	case glua.LString:
		return string(v), true
	case glua.LNumber:
		return formatNumber(float64(v)), true
	}
	return "", false
}

// numberOf is a number, or a string that reads as one.
func numberOf(v value) (float64, bool) {
	switch v := v.(type) {
	case glua.LNumber:
		return float64(v), true
	case glua.LString:
		return parseNumber(string(v))
	}
	return 0, false
}

// rawEqual compares without metamethods.
func rawEqual(a, b value) bool {
	switch x := a.(type) {
	case glua.LNumber:
		y, ok := b.(glua.LNumber)
		return ok && x == y
	case glua.LString:
		y, ok := b.(glua.LString)
		return ok && x == y
	}
	return a == b
}

// functionBytes is what a function takes.
const functionBytes = 96

// cellBytes is what a variable takes that an inner function uses.
const cellBytes = 24

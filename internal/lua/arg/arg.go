// Package arg reads the arguments of functions that Lua calls, and raises
// errors about them in the words of PUC Lua's auxiliary library.
//
// A function reads its arguments by [Number], [Integer], [String] and the
// like, which convert between numbers and strings as Lua does and do not
// return when the argument is something else. [Error] and [Raise] do not
// return at all: they raise a Lua error, with the position of the caller.
//
// The package also knows the bounds that every library has: [Reserve] and
// [Allowance] ask before something big is made, and [StackSlots] is how many
// values the stack of one C function takes in Redis.
package arg

import (
	"fmt"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/number"
)

// StackSlots is how many values a C function of PUC Lua may hold on its stack
// at once (LUAI_MAXCSTACK). Libraries that nest or return many values stop
// there with an error, in Redis as here.
const StackSlots = 8000

// Number returns argument n, which is a number or a string that can be
// converted to one.
func Number(L *glua.LState, n int) float64 {
	f, ok := ToNumber(L.Get(n))
	if !ok {
		TypeError(L, n, "number")
	}
	return f
}

// Integer returns argument n, a number, without its fraction.
func Integer(L *glua.LState, n int) int64 {
	return number.Int64(Number(L, n))
}

// OptInteger is Integer, and absent where the argument is nil or missing.
func OptInteger(L *glua.LState, n int, absent int64) int64 {
	if L.Get(n) == glua.LNil {
		return absent
	}
	return Integer(L, n)
}

// String returns argument n, which is a string or a number.
func String(L *glua.LState, n int) string {
	switch v := L.Get(n).(type) {
	case glua.LString:
		return string(v)
	case glua.LNumber:
		return number.String(float64(v))
	}
	TypeError(L, n, "string")
	return ""
}

// ToNumber returns the number that a value is or can be converted to.
func ToNumber(v glua.LValue) (f float64, ok bool) {
	switch v := v.(type) {
	case glua.LNumber:
		return float64(v), true
	case glua.LString:
		return number.Parse(string(v))
	}
	return 0, false
}

// Check raises an error about argument n unless ok.
func Check(L *glua.LState, ok bool, n int, problem string) {
	if !ok {
		Error(L, n, problem)
	}
}

// TypeError raises the error that argument n is not what was expected.
func TypeError(L *glua.LState, n int, expected string) {
	Error(L, n, expected+" expected, got "+TypeName(L, n))
}

// TypeName returns the name of argument n's type, or "no value" where there is
// no such argument.
func TypeName(L *glua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

// Error raises the error that argument n has a problem.
func Error(L *glua.LState, n int, problem string) {
	name, method := Callee(L)
	if method {
		n-- // self is not counted
		if n == 0 {
			Raise(L, "calling '%s' on bad self (%s)", name, problem)
		}
	}
	Raise(L, "bad argument #%d to '%s' (%s)", n, name, problem)
}

// Raise raises an error with a text, and before it the place where the running
// function was called, if that is in a script.
func Raise(L *glua.LState, format string, args ...any) {
	RaiseBare(L, Where(L)+fmt.Sprintf(format, args...))
}

// RaiseBare raises an error whose value is the text and nothing else.
func RaiseBare(L *glua.LState, text string) {
	L.Error(glua.LString(text), 0)
}

// Where returns the place where the running function was called as "name:line: ",
// or nothing when it was not called by a script.
func Where(L *glua.LState) string {
	caller, ok := L.GetStack(1)
	if !ok {
		return ""
	}
	v, err := L.GetInfo("fSl", caller, glua.LNil)
	if fn, ok := v.(*glua.LFunction); err != nil || !ok || fn.IsG || caller.CurrentLine <= 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", caller.Source, caller.CurrentLine)
}

// Package arg reads the arguments of functions that Lua calls, and raises
// errors about them in the words of PUC Lua's auxiliary library.
//
// A function reads its arguments by [Number], [Integer], [String] and the
// like, which convert between numbers and strings as Lua does and do not
// return when the argument is something else. [Error] and [Raise] do not
// return at all: they raise a Lua error, with the position of the caller.
//
// A [Call] is what a function is given. Functions know nothing else of the
// virtual machine.
//
// The package also knows the bounds that every library has: [Reserve] and
// [Allowance] ask before something big is made, and [StackSlots] is how many
// values the stack of one C function takes in Redis.
package arg

import (
	"fmt"

	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
)

// StackSlots is how many values a C function of PUC Lua may hold on its stack
// at once (LUAI_MAXCSTACK). Libraries that nest or return many values stop
// there with an error, in Redis as here.
const StackSlots = 8000

// Number returns argument n, which is a number or a string that can be
// converted to one.
func Number(c Call, n int) float64 {
	f, ok := ToNumber(c.Arg(n))
	if !ok {
		TypeError(c, n, "number")
	}
	return f
}

// Integer returns argument n, a number, without its fraction.
func Integer(c Call, n int) int64 {
	return number.Int64(Number(c, n))
}

// Int returns argument n, a number, as C's int: the lowest 32 bits of it.
func Int(c Call, n int) int {
	return int(int32(Integer(c, n)))
}

// OptInteger is Integer, and absent where the argument is nil or missing.
func OptInteger(c Call, n int, absent int64) int64 {
	if c.Arg(n) == val.Nil {
		return absent
	}
	return Integer(c, n)
}

// String returns argument n, which is a string or a number.
func String(c Call, n int) string {
	switch v := c.Arg(n).(type) {
	case val.String:
		return string(v)
	case val.Number:
		return number.String(float64(v))
	}
	TypeError(c, n, "string")
	return ""
}

// ToNumber returns the number that a value is or can be converted to.
func ToNumber(v val.Value) (f float64, ok bool) {
	switch v := v.(type) {
	case val.Number:
		return float64(v), true
	case val.String:
		return number.Parse(string(v))
	}
	return 0, false
}

// Check raises an error about argument n unless ok.
func Check(c Call, ok bool, n int, problem string) {
	if !ok {
		Error(c, n, problem)
	}
}

// TypeError raises the error that argument n is not what was expected.
func TypeError(c Call, n int, expected string) {
	Error(c, n, expected+" expected, got "+TypeName(c, n))
}

// TypeName returns the name of argument n's type, or "no value" where there is
// no such argument.
func TypeName(c Call, n int) string {
	if n > c.Top() {
		return "no value"
	}
	return c.Arg(n).Type().String()
}

// Error raises the error that argument n has a problem.
func Error(c Call, n int, problem string) {
	name, method := c.Callee()
	if method {
		n-- // self is not counted
		if n == 0 {
			Raise(c, "calling '%s' on bad self (%s)", name, problem)
		}
	}
	Raise(c, "bad argument #%d to '%s' (%s)", n, name, problem)
}

// Raise raises an error with a text, and before it the place where the running
// function was called, if that is in a script.
func Raise(c Call, format string, args ...any) {
	c.Raise(c.Where() + fmt.Sprintf(format, args...))
}

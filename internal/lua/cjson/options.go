package cjson

import (
	"fmt"
	"math"
	"strings"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// options are what scripts may set. Each table of the library has its own.
type options struct {
	sparseConvert  int // 0: an excessively sparse array is an error, 1: it becomes an object
	sparseRatio    int // of the greatest index to the elements, above which an array is excessively sparse; 0 is never
	sparseSafe     int // no array is excessively sparse whose greatest index is not above this
	encodeMaxDepth int
	decodeMaxDepth int
	precision      int // digits of a number
	keepBuffer     int // has no effect here
	encodeInvalid  int // of numbers that JSON does not have: see invalid…
	decodeInvalid  int // 0 or 1
}

// What encode does with numbers that JSON does not have.
const (
	invalidRefused = iota
	invalidWritten
	invalidNull
)

// defaults are the options of a new table, and of the library's own when a
// script begins.
var defaults = options{
	sparseRatio:    2,
	sparseSafe:     10,
	encodeMaxDepth: 1000,
	decodeMaxDepth: 1000,
	precision:      14,
	keepBuffer:     1,
	decodeInvalid:  1,
}

// switches are the values of an option that is a boolean.
var switches = []string{"off", "on"}

// atMost raises an error when there are more arguments.
func atMost(c arg.Call, n int) {
	arg.Check(c, c.Top() <= n, n+1, "found too many arguments")
}

// choice sets an option to argument n, if there is one: false is the first of
// the names, true the second, and both are shown as booleans. It pushes what
// the option is now.
func choice(c arg.Call, n int, setting *int, names []string) {
	switch v := c.Arg(n).(type) {
	case *val.NilType:
	case val.Bool:
		*setting = 0
		if v {
			*setting = 1
		}
	default:
		*setting = named(c, n, names)
	}
	switch *setting {
	case 0:
		c.Push(val.False)
	case 1:
		c.Push(val.True)
	default:
		c.Push(val.String(names[*setting]))
	}
}

// named returns which of the names argument n is.
func named(c arg.Call, n int, names []string) int {
	text, _, _ := strings.Cut(arg.String(c, n), "\x00")
	for i, name := range names {
		if text == name {
			return i
		}
	}
	arg.Error(c, n, "invalid option '"+text+"'")
	return 0
}

// integer sets an option to argument n, if there is one, and pushes what it is
// now. An error names argument 1 whichever it is, as in Redis.
func integer(c arg.Call, n int, setting *int, least, most int) {
	if c.Arg(n) != val.Nil {
		v := int(int32(arg.Integer(c, n)))
		if v < least || v > most {
			arg.Error(c, 1, fmt.Sprintf("expected integer between %d and %d", least, most))
		}
		*setting = v
	}
	c.Push(val.Number(*setting))
}

// oneChoice is a function that sets one option by name.
func oneChoice(setting *int, names []string) arg.Function {
	return func(c arg.Call) int {
		atMost(c, 1)
		choice(c, 1, setting, names)
		return 1
	}
}

// oneInteger is a function that sets one option to an integer.
func oneInteger(setting *int, least, most int) arg.Function {
	return func(c arg.Call) int {
		atMost(c, 1)
		integer(c, 1, setting, least, most)
		return 1
	}
}

// sparseArray sets the three options of sparse arrays.
func (o *options) sparseArray(c arg.Call) int {
	atMost(c, 3)
	choice(c, 1, &o.sparseConvert, switches)
	integer(c, 2, &o.sparseRatio, 0, math.MaxInt32)
	integer(c, 3, &o.sparseSafe, 0, math.MaxInt32)
	return 3
}

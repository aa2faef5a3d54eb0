package cjson

import (
	"math"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
)

// encoder writes one value.
type encoder struct {
	*options
	c         arg.Call
	out       []byte
	allowance arg.Allowance
	depth     int // of tables that are being written
	slots     int // of Redis's stack: one for an array, two for an object
}

// encodeSlots is what a table needs of Redis's stack before it is written.
const encodeSlots = 3

func (o *options) encode(c arg.Call) int {
	arg.Check(c, c.Top() == 1, 1, "expected 1 argument")
	e := encoder{options: o, c: c, slots: 1}
	e.value(c.Arg(1))
	c.Push(val.String(e.out))
	return 1
}

// refuse raises the error that a value cannot be written.
func (e *encoder) refuse(v val.Value, reason string) {
	arg.Raise(e.c, "Cannot serialise %s: %s", v.Type(), reason)
}

// scalarBytes is about what a value takes that is no string, with what
// separates it from the next.
const scalarBytes = 8

func (e *encoder) value(v val.Value) {
	e.allowance.Take(e.c, scalarBytes)
	switch v := v.(type) {
	case val.String:
		e.text(string(v))
	case val.Number:
		e.number(v)
	case val.Bool:
		if v {
			e.out = append(e.out, "true"...)
		} else {
			e.out = append(e.out, "false"...)
		}
	case *val.NilType:
		e.out = append(e.out, "null"...)
	default:
		if t, ok := e.c.Table(v); ok {
			e.table(t)
			return
		}
		if v != Null {
			e.refuse(v, "type not supported")
		}
		e.out = append(e.out, "null"...)
	}
}

func (e *encoder) number(v val.Number) {
	f := float64(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		switch {
		case e.encodeInvalid == invalidRefused:
			e.refuse(v, "must not be NaN or Inf")
		case e.encodeInvalid == invalidNull:
			e.out = append(e.out, "null"...)
			return
		case math.IsNaN(f):
			e.out = append(e.out, "nan"...) // never -nan
			return
		}
	}
	e.out = number.Append(e.out, f, e.precision)
}

// escapeBytes is how much longer a string becomes by one escape, at most.
const escapeBytes = 5

const hexDigits = "0123456789abcdef"

// text writes a string. Bytes that are not ASCII are written as they are.
func (e *encoder) text(s string) {
	e.allowance.Take(e.c, len(s))
	arg.SpendOnText(e.c, len(s))
	e.out = append(e.out, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c > '\\' && c != 0x7f || c >= ' ' && c != '"' && c != '/' && c != '\\' && c != 0x7f {
			continue
		}
		e.out = append(append(e.out, s[start:i]...), '\\')
		e.out = escape(e.out, c)
		e.allowance.Take(e.c, escapeBytes)
		start = i + 1
	}
	e.out = append(append(e.out, s[start:]...), '"')
}

// escape appends what follows a backslash.
func escape(out []byte, c byte) []byte {
	switch c {
	case '"', '/', '\\':
		return append(out, c)
	case '\b':
		return append(out, 'b')
	case '\t':
		return append(out, 't')
	case '\n':
		return append(out, 'n')
	case '\f':
		return append(out, 'f')
	case '\r':
		return append(out, 'r')
	}
	return append(out, 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// table writes an array if there is a greatest index, and an object otherwise.
func (e *encoder) table(t arg.Table) {
	e.depth++
	if e.depth > e.encodeMaxDepth || e.slots+encodeSlots > arg.StackSlots {
		arg.Raise(e.c, "Cannot serialise, excessive nesting (%d)", e.depth)
	}
	arg.SpendOn(e.c, t)
	if n := e.arrayLength(t); n > 0 {
		e.slots++
		e.array(t, n)
		e.slots--
	} else {
		e.slots += 2
		e.object(t)
		e.slots -= 2
	}
	e.depth--
}

// arrayLength returns the greatest index of a table that has only indexes, and
// -1 for another one. An index of more than 32 bits is none: in Redis it
// overflows, and what it does then depends on the order of the table.
func (e *encoder) arrayLength(t arg.Table) int32 {
	var greatest, items int32
	for k := range t.Walk {
		f, ok := k.(val.Number)
		if !ok || f < 1 || f > math.MaxInt32 || math.Floor(float64(f)) != float64(f) {
			return -1
		}
		greatest = max(greatest, int32(f))
		items++
	}
	if e.sparseRatio > 0 && greatest > items*int32(e.sparseRatio) && greatest > int32(e.sparseSafe) {
		if e.sparseConvert == 0 {
			e.refuse(t, "excessively sparse array")
		}
		return -1
	}
	return greatest
}

func (e *encoder) array(t arg.Table, n int32) {
	e.c.Spend(int(n)) // it may be much longer than the table
	e.out = append(e.out, '[')
	for i := range int(n) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.value(t.Index(i + 1))
	}
	e.out = append(e.out, ']')
}

func (e *encoder) object(t arg.Table) {
	e.out = append(e.out, '{')
	first := true
	for k, v := range t.Walk {
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		e.key(k)
		e.value(v)
	}
	e.out = append(e.out, '}')
}

func (e *encoder) key(k val.Value) {
	switch k := k.(type) {
	case val.String:
		e.text(string(k))
	case val.Number:
		e.out = append(e.out, '"')
		e.number(k)
		e.out = append(e.out, '"')
	default:
		e.refuse(k, "table key must be a number or string")
	}
	e.out = append(e.out, ':')
}

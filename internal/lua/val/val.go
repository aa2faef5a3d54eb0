// Package val has the values of Lua that are not the interpreter's alone: what
// programs, libraries and those who run programs hand to each other. Tables,
// functions and coroutines are values, too, and the interpreter's.
package val

import (
	"fmt"

	"github.com/firndb/firn/internal/lua/number"
)

// Value is any value of Lua. It is never a nil interface: that is [Nil].
type Value interface {
	// String is what tostring gives for a value without metatable.
	String() string

	Type() Type
}

// Type is one of Lua's types.
type Type uint8

// Lua's types.
const (
	TypeNil Type = iota
	TypeBool
	TypeNumber
	TypeString
	TypeTable
	TypeFunction
	TypeUserData
	TypeThread
)

// String is the type's name, as Lua's type gives it.
func (t Type) String() string {
	return [...]string{"nil", "boolean", "number", "string", "table", "function", "userdata", "thread"}[t]
}

// NilType is the type of [Nil]. It has a size so that no other pointer is equal
// to the one that there is.
type NilType struct{ _ byte }

// Nil is Lua's nil.
var Nil Value = new(NilType)

func (*NilType) String() string { return "nil" }
func (*NilType) Type() Type     { return TypeNil }

// Bool is a boolean.
type Bool bool

// Lua's booleans, made into values once.
const (
	True  = Bool(true)
	False = Bool(false)
)

func (b Bool) Type() Type { return TypeBool }

func (b Bool) String() string {
	if b {
		return "true"
	}
	return "false"
}

// Number is a number: Lua 5.1 has no other.
type Number float64

func (n Number) String() string { return number.String(float64(n)) }
func (n Number) Type() Type     { return TypeNumber }

// String is a string, of any bytes.
type String string

func (s String) String() string { return string(s) }
func (s String) Type() Type     { return TypeString }

// UserData is a value that programs can only hand on, and compare.
type UserData struct {
	Value any
}

func (u *UserData) String() string { return fmt.Sprintf("userdata: %p", u) }
func (u *UserData) Type() Type     { return TypeUserData }

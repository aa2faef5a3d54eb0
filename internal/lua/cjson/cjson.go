// Package cjson is Lua's library of JSON as Redis ships it.
//
// [Open] makes the library's table. Its options belong to the state, as in
// Redis, but [Reset] sets them back, so that one script does not change what
// the next one gets.
//
// The members of an object are written in the order in which next gives them.
// What is bounded: the depth, as in Redis and by its stack, and the bytes
// written, by the state's meter.
package cjson

import (
	"math"

	glua "github.com/yuin/gopher-lua"
)

// Null is cjson.null, which stands for JSON's null where nil cannot be. It is
// the same in all states, and nothing may change it.
var Null = &glua.LUserData{Metatable: glua.LNil}

// registered is the name under which a state's registry has the options of the
// library's own table.
const registered = "cjson options"

// Open returns the library's table.
func Open(L *glua.LState) *glua.LTable {
	o := new(options)
	registry(L).RawSetString(registered, &glua.LUserData{Value: o, Metatable: glua.LNil})
	return newTable(L, o)
}

// Reset gives the options of the table that Open made their defaults again.
func Reset(L *glua.LState) {
	if kept, ok := registry(L).RawGetString(registered).(*glua.LUserData); ok {
		*kept.Value.(*options) = defaults
	}
}

func registry(L *glua.LState) *glua.LTable {
	return L.Get(glua.RegistryIndex).(*glua.LTable)
}

// newTable returns a table of the library with default options.
func newTable(L *glua.LState, o *options) *glua.LTable {
	*o = defaults
	t := L.SetFuncs(L.NewTable(), map[string]glua.LGFunction{
		"encode":                  func(L *glua.LState) int { return encode(L, o) },
		"decode":                  func(L *glua.LState) int { return decode(L, o) },
		"encode_sparse_array":     o.sparseArray,
		"encode_max_depth":        oneInteger(&o.encodeMaxDepth, 1, math.MaxInt32),
		"decode_max_depth":        oneInteger(&o.decodeMaxDepth, 1, math.MaxInt32),
		"encode_number_precision": oneInteger(&o.precision, 1, defaults.precision),
		"encode_keep_buffer":      oneChoice(&o.keepBuffer, switches),
		"encode_invalid_numbers":  oneChoice(&o.encodeInvalid, []string{"off", "on", "null"}),
		"decode_invalid_numbers":  oneChoice(&o.decodeInvalid, switches),
		"new": func(L *glua.LState) int {
			L.Push(newTable(L, new(options)))
			return 1
		},
	})
	t.RawSetString("null", Null)
	t.RawSetString("_NAME", glua.LString("cjson"))
	t.RawSetString("_VERSION", glua.LString("2.1.0"))
	return t
}

// Package cjson is Lua's library of JSON as Redis ships it.
//
// [New] makes the library with its options. They belong to the state, as in
// Redis, but [State.Reset] sets them back, so that one script does not change
// what the next one gets.
//
// The members of an object are written in the order in which next gives them.
// What is bounded: the depth, as in Redis and by its stack, and the bytes
// written, by the state's memory.
package cjson

import (
	"math"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// Null is cjson.null, which stands for JSON's null where nil cannot be. It is
// the same in all states, and nothing may change it.
var Null = new(val.UserData)

// State is the library of one state of Lua. One goroutine uses it.
type State struct{ options }

// New returns the library with its default options.
func New() *State { return &State{options: defaults} }

// Reset gives the options their defaults again.
func (s *State) Reset() { s.options = defaults }

// Library returns what the library publishes.
func (s *State) Library() arg.Library {
	return arg.Library{Members: []arg.Member{
		{Name: "encode", Function: s.encode},
		{Name: "decode", Function: s.decode},
		{Name: "encode_sparse_array", Function: s.sparseArray},
		{Name: "encode_max_depth", Function: oneInteger(&s.encodeMaxDepth, 1, math.MaxInt32)},
		{Name: "decode_max_depth", Function: oneInteger(&s.decodeMaxDepth, 1, math.MaxInt32)},
		{Name: "encode_number_precision", Function: oneInteger(&s.precision, 1, defaults.precision)},
		{Name: "encode_keep_buffer", Function: oneChoice(&s.keepBuffer, switches)},
		{Name: "encode_invalid_numbers", Function: oneChoice(&s.encodeInvalid, []string{"off", "on", "null"})},
		{Name: "decode_invalid_numbers", Function: oneChoice(&s.decodeInvalid, switches)},
		{Name: "new", Function: another},
		{Name: "null", Value: Null},
		{Name: "_NAME", Value: val.String("cjson")},
		{Name: "_VERSION", Value: val.String("2.1.0")},
	}}
}

// anotherBytes is about what another library takes.
const anotherBytes = 4 << 10

// another returns the library with options of its own.
func another(c arg.Call) int {
	arg.Reserve(c, anotherBytes)
	c.Push(arg.Open(c, New().Library()))
	return 1
}

// Package cmsgpack is Lua's library of MessagePack as Redis ships it.
//
// Values are written by the module that also writes Firn's own MessagePack.
// They are read by hand: the formats that Redis does not know are errors, an
// error is found at the byte where Redis finds it, and a string is a part of
// the input and no copy.
//
// The library knows MessagePack as it was before binaries and extensions. What
// is nested too deeply becomes nil, and so does what MessagePack does not have.
package cmsgpack

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// Library returns what the library publishes.
func Library() arg.Library {
	return arg.Library{Members: []arg.Member{
		{Name: "pack", Function: pack},
		{Name: "unpack", Function: unpack},
		{Name: "unpack_one", Function: unpackOne},
		{Name: "unpack_limit", Function: unpackLimit},
		{Name: "_NAME", Value: val.String("cmsgpack")},
		{Name: "_VERSION", Value: val.String("lua-cmsgpack 0.4.0")},
		{Name: "_COPYRIGHT", Value: val.String("Copyright (C) 2012, Salvatore Sanfilippo")},
		{Name: "_DESCRIPTION", Value: val.String("MessagePack C implementation for Lua")},
	}}
}

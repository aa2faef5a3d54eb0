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

import glua "github.com/yuin/gopher-lua"

// Open returns the library's table.
func Open(L *glua.LState) *glua.LTable {
	t := L.SetFuncs(L.NewTable(), map[string]glua.LGFunction{
		"pack":         pack,
		"unpack":       unpack,
		"unpack_one":   unpackOne,
		"unpack_limit": unpackLimit,
	})
	t.RawSetString("_NAME", glua.LString("cmsgpack"))
	t.RawSetString("_VERSION", glua.LString("lua-cmsgpack 0.4.0"))
	t.RawSetString("_COPYRIGHT", glua.LString("Copyright (C) 2012, Salvatore Sanfilippo"))
	t.RawSetString("_DESCRIPTION", glua.LString("MessagePack C implementation for Lua"))
	return t
}

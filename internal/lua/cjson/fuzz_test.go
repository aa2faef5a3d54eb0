package cjson_test

import (
	"testing"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/luatest"
)

// Any text is read, or is an error. What was read and written once is written
// the same again.
func FuzzDecode(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	L := luatest.NewState(library())
	f.Fuzz(func(t *testing.T, text string) {
		once, ok := rewrite(t, L, text)
		if !ok {
			return
		}
		if twice, ok := rewrite(t, L, once); !ok || twice != once {
			t.Fatalf("%q became %q and then %q", text, once, twice)
		}
	})
}

// rewrite reads JSON and writes it again. What is no JSON, or has a number that
// JSON does not have, is not.
func rewrite(t *testing.T, L *glua.LState, text string) (json string, ok bool) {
	values, err := luatest.Call(t, L, "cjson", "decode", glua.LString(text))
	if err != nil {
		return "", false
	}
	written, err := luatest.Call(t, L, "cjson", "encode", values...)
	if err != nil {
		return "", false
	}
	return written[0].String(), true
}

package cjson_test

import (
	"testing"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/luatest"
)

// Any text is read, or is an error. What was read and written once means the
// same when it is read again.
func FuzzDecode(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	p := luatest.NewProgram(f, `
		local function rewrite(text)
			local ok, v = pcall(cjson.decode, text)
			if ok then ok, v = pcall(cjson.encode, v) end
			return ok and v
		end
		local once = rewrite((...))
		return not once or #once == #(rewrite(once) or '')`)
	f.Fuzz(func(t *testing.T, text string) {
		if p.Run(t, glua.LString(text)) != glua.LTrue {
			t.Fatalf("%q is not the same when it is written again", text)
		}
	})
}

package cjson_test

import (
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/lua/val"
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
		if p.Run(t, val.String(text)) != val.True {
			t.Fatalf("%q is not the same when it is written again", text)
		}
	})
}

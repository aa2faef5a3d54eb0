package structs_test

import (
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/lua/val"
)

// Any format reads any bytes, or is an error. What it makes of values is not
// longer than the strings among them, and 32 bytes and their padding for each
// letter.
func FuzzFormat(f *testing.F) {
	for _, format := range []string{"", "b", "z", "!3", "i33", "c99999999999", "!16bi16", "bc0", "ss", ">!4hLd", "xxx", "c1000000000"} {
		f.Add(format, []byte("\x03abcdefghijklmnopqrstuvwxyz\x00"), 1)
	}
	p := luatest.NewProgram(f, `
		local format, data, at = ...
		pcall(struct.size, format)
		local values = {pcall(struct.unpack, format, data, at)}
		if not values[1] then return true end
		local ok, packed = pcall(struct.pack, format, unpack(values, 2, #values - 1))
		return not ok or #packed <= #data * #format + 64 * #format`)
	f.Fuzz(func(t *testing.T, format string, data []byte, at int) {
		if p.Run(t, val.String(format), val.String(data), val.Number(at)) != val.True {
			t.Fatalf("%q makes too much of %q", format, data)
		}
	})
}

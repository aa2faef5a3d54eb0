package structs_test

import (
	"testing"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/luatest"
)

// Any format reads any bytes, or is an error. What it makes of values is not
// longer than the strings among them and 32 bytes for each letter.
func FuzzFormat(f *testing.F) {
	for _, format := range []string{"", "b", "z", "!3", "i33", "c99999999999", "!16bi16", "bc0", "ss", ">!4hLd", "xxx", "c1000000000"} {
		f.Add(format, []byte("\x03abcdefghijklmnopqrstuvwxyz\x00"), 1)
	}
	L := luatest.NewState(library())
	f.Fuzz(func(t *testing.T, format string, data []byte, at int) {
		_, _ = luatest.Call(t, L, "struct", "size", glua.LString(format))
		values, err := luatest.Call(t, L, "struct", "unpack", glua.LString(format), glua.LString(data), glua.LNumber(at))
		if err != nil {
			return
		}
		packed, err := luatest.Call(t, L, "struct", "pack", append([]glua.LValue{glua.LString(format)}, values...)...)
		if err != nil {
			return // a length for c0 is not among the values
		}
		if n := len(packed[0].String()); n > len(data)*(len(format)+1)+32*len(format)+len(format) {
			t.Fatalf("%q made %d bytes of %d", format, n, len(data))
		}
	})
}

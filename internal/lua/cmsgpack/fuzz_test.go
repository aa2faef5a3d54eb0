package cmsgpack_test

import (
	"testing"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/luatest"
)

// Any bytes are read, or are an error. What was read and written once is
// written the same again.
func FuzzUnpack(f *testing.F) {
	for first := range 256 {
		f.Add([]byte{byte(first), 0, 0, 0, 1, 0xa1, 'x', 0, 0})
	}
	f.Add([]byte("\xdd\xff\xff\xff\xff\x01"))
	f.Add([]byte("\x81\xce\x03\xff\xff\xfe\x01"))
	f.Add([]byte("\x92\x93\x01\x02\xc0\x82\xa1a\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00\xa1b\x90"))
	L := luatest.NewState(library())
	f.Fuzz(func(t *testing.T, data []byte) {
		once, ok := rewrite(t, L, string(data))
		if !ok {
			return
		}
		if twice, ok := rewrite(t, L, once); !ok || twice != once {
			t.Fatalf("%q became %q and then %q", data, once, twice)
		}
	})
}

// rewrite reads values and writes them again.
func rewrite(t *testing.T, L *glua.LState, data string) (pack string, ok bool) {
	values, err := luatest.Call(t, L, "cmsgpack", "unpack", glua.LString(data))
	if err != nil || len(values) == 0 {
		return "", false
	}
	written, err := luatest.Call(t, L, "cmsgpack", "pack", values...)
	if err != nil {
		t.Fatalf("%q was read, but not written: %v", data, err)
	}
	return written[0].String(), true
}

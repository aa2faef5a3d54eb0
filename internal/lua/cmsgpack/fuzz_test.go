package cmsgpack_test

import (
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/lua/val"
)

// Any bytes are read, or are an error. What was read can be written, and takes
// as many bytes when it was read again.
func FuzzUnpack(f *testing.F) {
	for first := range 256 {
		f.Add([]byte{byte(first), 0, 0, 0, 1, 0xa1, 'x', 0, 0})
	}
	f.Add([]byte("\xdd\xff\xff\xff\xff\x01"))
	f.Add([]byte("\x81\xce\x03\xff\xff\xfe\x01"))
	f.Add([]byte("\x92\x93\x01\x02\xc0\x82\xa1a\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00\xa1b\x90"))
	p := luatest.NewProgram(f, `
		local ok, v = pcall(cmsgpack.unpack, (...))
		if not ok or v == nil then return true end
		local once = cmsgpack.pack(v)
		return #once == #cmsgpack.pack((cmsgpack.unpack(once)))`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if p.Run(t, val.String(data)) != val.True {
			t.Fatalf("%q is not the same when it is written again", data)
		}
	})
}

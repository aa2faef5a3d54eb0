package schema

import (
	"unsafe"
)

// bytesOf is s as bytes, without a copy. They must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

package keyspace

import (
	"bytes"
)

// CutAtZero is b up to its first zero byte: where text ends in C.
func CutAtZero(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

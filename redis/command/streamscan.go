package command

import (
	"slices"

	"github.com/firndb/firn/resp"
)

// InsertHeader puts the header of an aggregate of n elements, or pairs, before
// what was written since start.
func InsertHeader(w *resp.Writer, start int, mark byte, n int) {
	var buf [24]byte
	header := resp.Writer{Proto: w.Proto, Buf: buf[:0]}
	if mark == '%' {
		header.Map(n)
	} else {
		header.Array(n)
	}
	w.Buf = slices.Insert(w.Buf, start, header.Buf...)
}

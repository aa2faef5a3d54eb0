package command

import (
	"slices"

	"github.com/firndb/firn/resp"
)

// ReplyNames replies an array of names.
func ReplyNames(c *Call, names []string) error {
	ReplyStrings(&c.Reply, names)
	return nil
}

// ReplyStrings appends an array of strings.
func ReplyStrings(w *resp.Writer, texts []string) {
	w.Array(len(texts))
	for _, text := range texts {
		w.BulkString(text)
	}
}

// ReplyTexts appends a set of simple strings.
func ReplyTexts(w *resp.Writer, texts []string) {
	w.Set(len(texts))
	for _, text := range texts {
		w.Simple(text)
	}
}

// ReplyField appends the name of a field of a map, and a text.
func ReplyField(w *resp.Writer, name, text string) {
	w.BulkString(name)
	w.BulkString(text)
}

// ReplyNumber appends the name of a field of a map, and a number.
func ReplyNumber(w *resp.Writer, name string, n int) {
	w.BulkString(name)
	w.Int(int64(n))
}

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

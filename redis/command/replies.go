package command

import (
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

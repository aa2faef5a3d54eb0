package command

import (
	"github.com/firndb/firn/resp"
)

// Each calls fn for every command that can be run, subcommands included.
func (t *Table) Each(fn func(*Entry)) {
	for _, e := range t.Numbered {
		if e.Run != nil {
			fn(e)
		}
	}
}

// Named is the entry of a name such as "get" or "client|id"; nil if unknown.
func (t *Table) Named(name []byte) *Entry {
	for i, c := range name {
		if c != '|' {
			continue
		}
		if e := t.find(name[:i]); e != nil {
			return e.findSub(name[i+1:])
		}
	}
	return t.find(name)
}

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

// Arity is Redis's: the number of words, negative if it is the fewest.
func (e *Entry) Arity() int {
	n := e.Min + 1 + e.depth()
	if e.Run == nil {
		return -2
	}
	if e.MaxArgs() != e.Min || len(e.Sub) > 0 {
		return -n
	}
	return n
}

package streams

import (
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// ReplyEntry appends an entry as clients get it: its id and its fields.
func ReplyEntry(w *resp.Writer, e *keyspace.StreamEntry) error {
	w.Array(2)
	ReplyID(w, e.ID)
	w.Array(e.Fields)
	body := e.Body
	for range e.Fields {
		b := body.Bin()
		if b == nil {
			return e.Damaged()
		}
		w.Bulk(b)
	}
	if len(body.B) > 0 {
		return e.Damaged()
	}
	return nil
}

// ReplyID appends an id as a bulk string.
func ReplyID(w *resp.Writer, id keyspace.StreamID) {
	var text [keyspace.StreamIDBytes]byte
	w.Bulk(id.AppendTo(text[:0]))
}

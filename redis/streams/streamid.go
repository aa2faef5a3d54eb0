package streams

import (
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// ReplyID appends an id as a bulk string.
func ReplyID(w *resp.Writer, id keyspace.StreamID) {
	var text [keyspace.StreamIDBytes]byte
	w.Bulk(id.AppendTo(text[:0]))
}

package history

import (
	"fmt"

	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/lists"
	"github.com/firndb/firn/redis/sets"
	"github.com/firndb/firn/redis/streams"
	"github.com/firndb/firn/redis/zsets"
	"github.com/firndb/firn/resp"
)

// ReplyState appends the value of a live key, in the shape of its type.
func ReplyState(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc) error {
	switch k.Kind {
	case keyspace.KindString:
		w.Bulk(k.Value)
		return nil
	case keyspace.KindHash:
		return replyHashState(v, w, k)
	case keyspace.KindList:
		return lists.ReplyListState(v, w, k)
	case keyspace.KindSet:
		return sets.ReplySetState(v, w, k)
	case keyspace.KindZSet:
		return zsets.ReplyZSetState(v, w, k)
	case keyspace.KindStream:
		return streams.ReplyStreamState(v, w, k)
	}
	return fmt.Errorf("state of a %s: %w", k.Kind, keyspace.ErrDamaged)
}

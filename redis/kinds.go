package redis

import (
	"fmt"

	"github.com/firndb/firn/resp"
)

// kind is the type of a key. The numbers are stored.
type kind uint8

const (
	kindNone   kind = 0
	kindString kind = 1
	kindHash   kind = 2
	kindList   kind = 3
	kindSet    kind = 4
	kindZSet   kind = 5
	kindStream kind = 6
)

var kindNames = [...]string{
	kindNone: "none", kindString: "string", kindHash: "hash",
	kindList: "list", kindSet: "set", kindZSet: "zset", kindStream: "stream",
}

// String is the type's name as TYPE gives it.
func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "none"
}

// encodingName is what OBJECT ENCODING says of a key.
func (k *keyDoc) encodingName() string {
	switch k.Kind {
	case kindHash:
		return hashEncoding(k)
	case kindList:
		return listEncoding(k)
	case kindSet:
		return setEncoding(k)
	case kindZSet:
		return zsetEncoding(k)
	case kindStream:
		return streamEncoding(k)
	}
	return stringEncoding(k)
}

// replyState appends the value of a live key, in the shape of its type.
func replyState(v *View, w *resp.Writer, k *keyDoc) error {
	switch k.Kind {
	case kindString:
		w.Bulk(k.Value)
		return nil
	case kindHash:
		return replyHashState(v, w, k)
	case kindList:
		return replyListState(v, w, k)
	case kindSet:
		return replySetState(v, w, k)
	case kindZSet:
		return replyZSetState(v, w, k)
	case kindStream:
		return replyStreamState(v, w, k)
	}
	return fmt.Errorf("state of a %s: %w", k.Kind, errDamaged)
}

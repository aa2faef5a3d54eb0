package firn

import (
	"bytes"
	"context"

	"github.com/firndb/firn/tuple"
)

// colorKeys indexes a value by what is before its colon: (color, id), so that
// every key is unique.
func colorKeys(id string, value []byte, add func([]byte)) {
	if color, _, ok := bytes.Cut(value, []byte(":")); ok {
		add(append(tuple.AppendBytes(nil, color), id...))
	}
}

// modelTables declares things, which are counted by group and indexed by color.
func modelTables() []TableSpec {
	return []TableSpec{{
		Name: "things", Prefix: 1, Counted: true,
		Indexes: []IndexSpec{{Name: "color", Prefix: 1, Keys: colorKeys}},
	}}
}

func thingID(group, n int) []byte {
	return tuple.AppendInt(tuple.AppendInt(nil, int64(group)), int64(n))
}

func groupPrefix(group int) []byte { return tuple.AppendInt(nil, int64(group)) }

var colors = []string{"red", "green", "blue"}

// moveHorizon moves the store's horizon, and everything that may go does.
func moveHorizon(ctx context.Context, s *Store, ts Timestamp) error {
	_, err := s.Prune(ctx, ts)
	return err
}

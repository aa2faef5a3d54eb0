package keyspace

import (
	"math"
	"testing"
)

func TestStreamIDsKeepTheirOrderAsKeys(t *testing.T) {
	numbers := []uint64{0, 1, 127, 128, 255, 256, 1 << 32, 1795248886164, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxInt64 + 2, math.MaxUint64 - 1, math.MaxUint64}
	var ids []StreamID
	for _, ms := range numbers {
		for _, seq := range numbers {
			ids = append(ids, StreamID{ms, seq})
		}
	}
	before := ""
	for i, id := range ids {
		key := string(id.AppendKey(nil))
		if i > 0 && key <= before {
			t.Errorf("%v has the key % x, not greater than % x", id, key, before)
		}
		if back, err := TakeIDKey(key); err != nil || back != id {
			t.Errorf("key of %v\n got %v, %v\nwant the id", id, back, err)
		}
		before = key
	}
}

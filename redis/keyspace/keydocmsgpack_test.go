package keyspace

// The rule: a key document is MessagePack that any other codec reads the same
// way, and that ours reads when another one has written it in shortest form.

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/firndb/firn"
)

func TestOtherCodecsReadKeyDocuments(t *testing.T) {
	for _, k := range []KeyDoc{
		{Kind: KindString, Version: 1, Created: 5, Length: 2, Value: []byte("hi")},
		{Kind: KindString, Encoding: Large, Version: 127, Created: 128, Expires: math.MaxInt64, Value: []byte{}},
		{Kind: KindString, Version: 1 << 16, Created: 1 << 32, Length: 70000, Value: bytes.Repeat([]byte{0}, 70000)},
		{Kind: KindHash, Encoding: Large, Version: 256, Created: 65535, Length: 3, UID: UID{TS: 1 << 50, N: 7}},
	} {
		stored := NewKeyDoc("HSET", &k)
		d := msgpack.NewDecoder(bytes.NewReader(stored))
		d.UseLooseInterfaceDecoding(true)
		got, err := d.DecodeSlice()
		if err != nil {
			t.Fatalf("decode %x: %v", stored[:min(len(stored), 40)], err)
		}
		want := []any{
			int64(k.Kind) | int64(k.Encoding)<<4, "HSET", k.Version, k.Created, k.Expires, k.Length, int64(k.UID.TS), k.UID.N, any(k.Value),
		}
		if k.Value == nil {
			want[8] = nil
		}
		if len(got) != len(want) {
			t.Fatalf("elements: got %d, want %d", len(got), len(want))
		}
		for i := range want {
			if !reflect.DeepEqual(loosen(got[i], i), want[i]) {
				t.Errorf("element %d of version %d: got %T, want the same %T", i, k.Version, got[i], want[i])
			}
		}
		var b bytes.Buffer
		e := msgpack.NewEncoder(&b)
		e.UseCompactInts(true)
		if err := e.Encode(want); err != nil {
			t.Fatal(err)
		}
		back, err := ParseKeyDoc(&firn.Document{TS: 9, Value: b.Bytes()})
		if err != nil || !bytes.Equal(NewKeyDoc("HSET", &back), stored) {
			t.Errorf("version %d written by another codec: got version %d, %v, want the same document", k.Version, back.Version, err)
		}
	}
}

// loosen undoes what the other codec's loose decoding does to element i.
func loosen(v any, i int) any {
	switch v := v.(type) {
	case uint64:
		return int64(v)
	case string:
		if i == 8 {
			return []byte(v)
		}
	}
	return v
}

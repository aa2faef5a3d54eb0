package keyspace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/firndb/firn"
)

// A key document has one encoding, and bytes that are not one are an error.

func TestKeyDocHasTheDocumentedBytes(t *testing.T) {
	got := NewKeyDoc("SET", &KeyDoc{Kind: KindString, Version: 1, Length: 2, Value: []byte("hi")})
	want := []byte("\x99\x01\xa3SET\x01\x00\x00\x02\x00\x00\xc4\x02hi")
	if !bytes.Equal(got, want) {
		t.Errorf("got % x\nwant % x", got, want)
	}
}

func TestKeyDocOfAnOriginHasTheDocumentedBytes(t *testing.T) {
	got := NewKeyDoc("RENAME", &KeyDoc{Kind: KindString, Version: 1, Created: 1, Value: []byte{}, Origin: OriginKey(0, []byte("k"))})
	want := []byte("\x9a\x01\xa6RENAME\x01\x01\x00\x00\x00\x00\xc4\x00\xc4\x030:k")
	if !bytes.Equal(got, want) {
		t.Errorf("got % x\nwant % x", got, want)
	}
}

// keyDocSeeds have every length of every element.
func keyDocSeeds() [][]byte {
	var seeds [][]byte
	for _, n := range []int64{0, 1, 127, 128, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64} {
		k := KeyDoc{Kind: KindHash, Encoding: Large, Version: n, Created: n, Expires: n, Length: n, UID: UID{firn.Timestamp(n), n}}
		seeds = append(seeds, NewKeyDoc("HSET", &k))
	}
	for _, n := range []int{0, 1, 255, 256, 65535, 65536} {
		k := KeyDoc{Kind: KindString, Version: 1, Length: int64(n), Value: bytes.Repeat([]byte{0xff}, n)}
		seeds = append(seeds, NewKeyDoc("AN OPERATION OF MORE THAN 31 BYTES", &k))
		if k.Origin = bytes.Repeat([]byte{'o'}, n); n > 0 {
			seeds = append(seeds, NewKeyDoc("RENAME", &k))
		}
	}
	return seeds
}

func TestKeyDocsComeBack(t *testing.T) {
	for i, b := range keyDocSeeds() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k, ok := decodeKeyDoc(b)
			if !ok {
				t.Fatalf("% x is refused", b[:min(len(b), 60)])
			}
			if size := sizeKeyDoc(string(k.Operation), &k); size != len(b) {
				t.Errorf("got size %d\nwant %d", size, len(b))
			}
			if got := NewKeyDoc(string(k.Operation), &k); !bytes.Equal(got, b) {
				t.Errorf("got % x\nwant % x", got, b)
			}
			if got := keyDocExpiry(b); got != k.Expires {
				t.Errorf("got expiry %d\nwant %d", got, k.Expires)
			}
			for cut := range min(len(b), 80) {
				if _, ok := decodeKeyDoc(b[:cut]); ok {
					t.Errorf("the first %d bytes are accepted", cut)
				}
			}
		})
	}
}

func FuzzKeyDoc(f *testing.F) {
	for _, seed := range keyDocSeeds() {
		if len(seed) < 1000 {
			f.Add(seed)
		}
	}
	f.Add([]byte("\x9a\x01\xa3SET\x01\x00\x00\x02\x00\x00\xc4\x02hi\xc4\x00")) // an empty origin
	f.Add([]byte("\x99\x01\xa3SET\xcc\x01\x00\x00\x02\x00\x00\xc4\x02hi"))     // version in a longer form
	f.Fuzz(func(t *testing.T, b []byte) {
		k, ok := decodeKeyDoc(b)
		expires := keyDocExpiry(b)
		if !ok {
			return
		}
		if got := NewKeyDoc(string(k.Operation), &k); !bytes.Equal(got, b) {
			t.Errorf("got % x\nwant % x", got, b)
		}
		if expires != k.Expires {
			t.Errorf("got expiry %d\nwant %d", expires, k.Expires)
		}
	})
}

func TestDamagedKeyDocsAreErrors(t *testing.T) {
	for _, doc := range []firn.Document{
		{ID: "a", TS: 1, Value: []byte{}},
		{ID: "a", TS: 1, Value: []byte("junk")},
		{ID: "a", TS: 1, Value: NewKeyDoc("SET", &KeyDoc{Kind: KindString, Version: 1})},
		{ID: "a", TS: 1, Deleted: true, Value: []byte("junk")},
	} {
		if k, err := ParseKeyDoc(&doc); !errors.Is(err, ErrDamaged) {
			t.Errorf("% x\n got %+v, %v\nwant %v", doc.Value, k, err, ErrDamaged)
		}
	}
}

func TestDatabaseDocumentsComeBack(t *testing.T) {
	want := UID{1_700_000_000_000_000, 3}
	got, operation, err := ParseDatabase(&firn.Document{Value: appendDatabase(nil, "FLUSHDB", want)})
	if got != want || operation != "FLUSHDB" || err != nil {
		t.Errorf("got %v %q %v\nwant %v FLUSHDB", got, operation, err, want)
	}
	if _, _, err := ParseDatabase(&firn.Document{Value: []byte{0x93, 1}}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v\nwant %v", err, ErrDamaged)
	}
}

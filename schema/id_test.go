package schema

// Ids are stored in the order of their bytes, in which nothing is between an
// id with all that belongs to it and the one behind.

import (
	"bytes"
	"math"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

func TestBehindIsNext(t *testing.T) {
	random := seed.Fresh(t).Rand(1)
	stored := func(x IndexID) []byte { return appendID(nil, uint32(x)) }
	drawn := func() IndexID { return IndexID(1 + random.Uint32N(math.MaxUint32)>>(8*random.IntN(4))) }
	for range 100_000 {
		x := drawn()
		next, more := x.Behind()
		for _, y := range []IndexID{drawn(), x + 1, x << 8, x<<8 | 1} {
			if y != 0 && bytes.Compare(stored(y), stored(x)) > 0 && (!more || bytes.Compare(stored(y), stored(next)) < 0) {
				t.Fatalf("behind %#x: got %#x, %t, want %#x or less", x, next, more, y)
			}
		}
		if more && bytes.Compare(stored(next), stored(x)) <= 0 {
			t.Fatalf("behind %#x: got %#x, which is not", x, next)
		}
	}
	if _, more := IndexID(math.MaxUint32).Behind(); more {
		t.Error("behind the last id: got one more")
	}
}

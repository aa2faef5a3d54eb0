package values

import (
	"testing"

	"github.com/firndb/firn/internal/seed"
)

func TestBitsAreFoundAndCountedInAnyRange(t *testing.T) {
	seed := seed.Fresh(t)
	r := seed.Rand(0)
	for range 20_000 {
		value := make([]byte, r.IntN(40))
		for i := range value {
			value[i] = []byte{0, 0xff, byte(r.Uint32())}[r.IntN(3)]
		}
		from := r.Int64N(int64(8*len(value)) + 1)
		to := from + r.Int64N(int64(8*len(value))-from+1)
		count, first := int64(0), [2]int64{to, to}
		for i := to - 1; i >= from; i-- {
			bit := int64(value[i/8] >> (7 - i%8) & 1)
			count += bit
			first[bit] = i
		}
		got, want := [3]int64{countBits(value, from, to), findBit(value, 0, from, to), findBit(value, 1, from, to)}, [3]int64{count, first[0], first[1]}
		if got != want {
			t.Fatalf("seed %d: set, first 0 and first 1 of %x from %d to %d\n got %v\nwant %v", seed, value, from, to, got, want)
		}
	}
}

func TestFieldsHoldWhatFits(t *testing.T) {
	seed := seed.Fresh(t)
	r := seed.Rand(0)
	for range 20_000 {
		f := field{signed: r.IntN(2) == 0, width: 1 + r.Int64N(63), offset: r.Int64N(20)}
		n := f.least() + int64(r.Uint64()%uint64(f.most()-f.least()+1))
		value := make([]byte, 12)
		if r.IntN(2) == 0 {
			for i := range value {
				value[i] = 0xff
			}
		}
		before := countBits(value, 0, f.offset) + countBits(value, f.offset+f.width, 96)
		f.store(value, n)
		after := countBits(value, 0, f.offset) + countBits(value, f.offset+f.width, 96)
		if got := f.read(value); got != n || before != after {
			t.Fatalf("seed %d: %+v\n got %d, %d bits around it\nwant %d, %d", seed, f, got, after, n, before)
		}
	}
}

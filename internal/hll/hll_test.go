package hll

import (
	"bytes"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// TestDamagedHyperLogLogsAreRefused: a string that a client has written does
// no harm, whatever is in it.
func TestDamagedHyperLogLogsAreRefused(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	refused, times := 0, 20_000
	if testing.Short() {
		times /= 20
	}
	for range times {
		b := append([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"), 0x7f, 0xff)
		for range rng.IntN(20) {
			b = append(b, byte(rng.Uint32()))
		}
		b[16+rng.IntN(len(b)-16)] = byte(rng.Uint32())
		if !Is(b) {
			t.Fatalf("%q does not look like a HyperLogLog", b)
		}
		before := bytes.Clone(b)
		for range 20 {
			h := Sketch{B: b}
			if _, err := h.Raise(rng.IntN(RegisterCount), byte(1+rng.IntN(51))); err != nil {
				refused++
			}
			if err := h.Each(func(int, int, byte) {}); err != nil {
				refused++
			}
			if err := h.ToDense(); err != nil {
				refused++
			}
		}
		if !bytes.Equal(b, before) {
			t.Fatalf("seed %d: a stored string was modified\n got %q\nwant %q", seed, b, before)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func TestSparseAndDenseHaveTheSameRegisters(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	var want Registers
	h := New(3000)
	for i := range 6000 {
		index, count := rng.IntN(RegisterCount), byte(1+rng.IntN(4))
		if i%3 > 0 { // neighbours, so that runs are split and joined
			index %= 40
		}
		if _, err := h.Raise(index, count); err != nil {
			t.Fatal(err)
		}
		want[index] = max(want[index], count)
		if i%50 > 0 {
			continue
		}
		dense := h
		if err := dense.ToDense(); err != nil {
			t.Fatal(err)
		}
		for _, form := range []Sketch{h, dense} {
			err := form.Each(func(first, length int, count byte) {
				for j := first; j < first+length; j++ {
					if want[j] != count {
						t.Fatalf("seed %d, step %d, register %d: got %d, want %d", seed, i, j, count, want[j])
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if !h.Dense() || len(h.B) != DenseBytes {
		t.Errorf("got %d bytes, want it dense by now", len(h.B))
	}
}

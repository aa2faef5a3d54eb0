package redis

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
)

// A HyperLogLog is, to the byte, the string that Redis makes of the same
// elements, and counts the same.

func TestHyperLogLogsAreRedisToTheByte(t *testing.T) {
	redis, mine := startRedis(t)(), newPlain(t)
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	forms := map[string]bool{}
	size := 0
	for size < 60_000 {
		words := [][]byte{[]byte("PFADD"), []byte("h")}
		for range 1 + size/5 {
			words = append(words, fmt.Appendf(nil, "%x", rng.Uint64N(1<<rng.IntN(64)+1)))
		}
		size += len(words)
		for _, command := range [][][]byte{
			words, splitWords(t, "GET h"), splitWords(t, "PFCOUNT h nosuch"), splitWords(t, "PFDEBUG ENCODING h"),
			splitWords(t, "PFMERGE merged other h"), splitWords(t, "GET merged"), splitWords(t, "PFCOUNT merged h"),
			{[]byte("PFADD"), []byte("other"), words[len(words)-1]},
		} {
			got, want := mine.tell(t, command...), redis.tell(t, command...)
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %.60q after %d elements\n got %.300q\nwant %.300q", seed, command, size, got, want)
			}
			if string(command[0]) == "PFDEBUG" {
				forms[string(got)] = true
			}
		}
	}
	got, want := mine.ask(t, "PFDEBUG GETREG h"), show(redis.tell(t, splitWords(t, "PFDEBUG GETREG h")...), ' ')
	if got != want {
		t.Errorf("seed %d: the registers differ", seed)
	}
	// Last, because with it Redis stores the count.
	got, want = mine.ask(t, "PFCOUNT h"), show(redis.tell(t, splitWords(t, "PFCOUNT h")...), ' ')
	check(t, "PFCOUNT h", got, want)
	if len(forms) != 2 {
		t.Errorf("got the forms %v, want both", forms)
	}
}

// TestSparseOnesBecomeDenseWithTheSameElement adds one by one around the limit
// until five strings have passed it: each may pass it by one byte or by more.
func TestSparseOnesBecomeDenseWithTheSameElement(t *testing.T) {
	redis, mine := startRedis(t)(), newPlain(t)
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	for range 5 {
		mine.ask(t, "DEL h")
		redis.tell(t, []byte("DEL"), []byte("h"))
		length := ""
		for n := 900; length != fmt.Sprintf("(integer) %d", hllDenseBytes); n = 1 {
			words := [][]byte{[]byte("PFADD"), []byte("h")}
			for range n {
				words = append(words, fmt.Append(nil, rng.Uint64()))
			}
			mine.tell(t, words...)
			redis.tell(t, words...)
			length = mine.ask(t, "STRLEN h")
			if want := show(redis.tell(t, splitWords(t, "STRLEN h")...), ' '); length != want {
				t.Fatalf("seed %d, length\n got %s\nwant %s", seed, length, want)
			}
		}
	}
}

// TestCrowdedRegistersAreJoinedAsRedisJoinsThem adds elements whose registers
// are neighbours, which random ones seldom are.
func TestCrowdedRegistersAreJoinedAsRedisJoinsThem(t *testing.T) {
	redis, mine := startRedis(t)(), newPlain(t)
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	for added := 0; added < 600; {
		element := fmt.Append(nil, rng.Uint64())
		if index, _ := hllPlace(element); index%1000 >= 20 {
			continue
		}
		added++
		for _, command := range [][][]byte{{[]byte("PFADD"), []byte("h"), element}, splitWords(t, "GET h")} {
			got, want := mine.tell(t, command...), redis.tell(t, command...)
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %q, element %d\n got %q\nwant %q", seed, command, added, got, want)
			}
		}
	}
}

// TestDamagedHyperLogLogsAreRefused: a string that a client has written does
// no harm, whatever is in it.
func TestDamagedHyperLogLogsAreRefused(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	refused, times := 0, 20_000
	if race.Enabled || testing.Short() {
		times /= 20
	}
	for range times {
		b := append([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"), 0x7f, 0xff)
		for range rng.IntN(20) {
			b = append(b, byte(rng.Uint32()))
		}
		b[16+rng.IntN(len(b)-16)] = byte(rng.Uint32())
		if !isHLL(b) {
			t.Fatalf("%q does not look like a HyperLogLog", b)
		}
		before := bytes.Clone(b)
		for range 20 {
			h := hll{b: b}
			if _, err := h.raise(rng.IntN(hllRegisterCount), byte(1+rng.IntN(51))); err != nil {
				refused++
			}
			if err := h.each(func(int, int, byte) {}); err != nil {
				refused++
			}
			if err := h.toDense(); err != nil {
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
	var want hllRegisters
	h := newHLL(defaultSparseBytes)
	for i := range 6000 {
		index, count := rng.IntN(hllRegisterCount), byte(1+rng.IntN(4))
		if i%3 > 0 { // neighbours, so that runs are split and joined
			index %= 40
		}
		if _, err := h.raise(index, count); err != nil {
			t.Fatal(err)
		}
		want[index] = max(want[index], count)
		if i%50 > 0 {
			continue
		}
		dense := h
		if err := dense.toDense(); err != nil {
			t.Fatal(err)
		}
		for _, form := range []hll{h, dense} {
			err := form.each(func(first, length int, count byte) {
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
	if !h.dense() || len(h.b) != hllDenseBytes {
		t.Errorf("got %d bytes, want it dense by now", len(h.b))
	}
}

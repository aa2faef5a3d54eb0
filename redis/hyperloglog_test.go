package redis

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/hll"
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
			words, SplitWords(t, "GET h"), SplitWords(t, "PFCOUNT h nosuch"), SplitWords(t, "PFDEBUG ENCODING h"),
			SplitWords(t, "PFMERGE merged other h"), SplitWords(t, "GET merged"), SplitWords(t, "PFCOUNT merged h"),
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
	got, want := mine.ask(t, "PFDEBUG GETREG h"), show(redis.tell(t, SplitWords(t, "PFDEBUG GETREG h")...), ' ')
	if got != want {
		t.Errorf("seed %d: the registers differ", seed)
	}
	// Last, because with it Redis stores the count.
	got, want = mine.ask(t, "PFCOUNT h"), show(redis.tell(t, SplitWords(t, "PFCOUNT h")...), ' ')
	Check(t, "PFCOUNT h", got, want)
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
		for n := 900; length != fmt.Sprintf("(integer) %d", hll.DenseBytes); n = 1 {
			words := [][]byte{[]byte("PFADD"), []byte("h")}
			for range n {
				words = append(words, fmt.Append(nil, rng.Uint64()))
			}
			mine.tell(t, words...)
			redis.tell(t, words...)
			length = mine.ask(t, "STRLEN h")
			if want := show(redis.tell(t, SplitWords(t, "STRLEN h")...), ' '); length != want {
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
		if index, _ := hll.Place(element); index%1000 >= 20 {
			continue
		}
		added++
		for _, command := range [][][]byte{{[]byte("PFADD"), []byte("h"), element}, SplitWords(t, "GET h")} {
			got, want := mine.tell(t, command...), redis.tell(t, command...)
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %q, element %d\n got %q\nwant %q", seed, command, added, got, want)
			}
		}
	}
}

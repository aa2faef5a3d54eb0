package tracking

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/internal/slab"
)

// Who has read which key is known exactly, in little memory.

func TestReadersAreThoseOfAMap(t *testing.T) {
	drawn := seed.Fresh(t)
	rng := drawn.Rand(0)
	var r readers
	r.init()
	model := map[string]map[int64]bool{}
	gone := map[int64]bool{}
	for step := range seed.Steps(t, 40_000) {
		key := randomKey(rng)
		switch rng.IntN(6) {
		case 0:
			got := slices.Clone(r.take([]byte(key)))
			if want := slices.Sorted(maps.Keys(model[key])); !slices.Equal(got, want) {
				t.Fatalf("step %d: %.20q: got %d, want %d", step, key, got, want)
			}
			delete(model, key)
		case 1:
			if any := r.any(); (any == nil) != (len(model) == 0) || any != nil && model[string(any)] == nil {
				t.Fatalf("step %d: got %.20q, want one of %d keys", step, any, len(model))
			}
		default:
			id := int64(rng.IntN(50)) << rng.IntN(40)
			if model[key] == nil {
				model[key] = map[int64]bool{}
			}
			model[key][id] = true
			r.add([]byte(key), id, func(id int64) bool { return !gone[id] })
		}
		items := 0
		for _, who := range model {
			items += len(who)
		}
		if want := modelBytes(&r); r.bytes() != want {
			t.Fatalf("step %d: got %d bytes, want %d", step, r.bytes(), want)
		}
		if r.keys != len(model) || r.items != items {
			t.Fatalf("step %d: got %d keys and %d items, want %d and %d", step, r.keys, r.items, len(model), items)
		}
	}
	for key, who := range model {
		if got, want := r.of([]byte(key)), slices.Sorted(maps.Keys(who)); !slices.Equal(got, want) {
			t.Errorf("%.20q: got %d, want %d", key, got, want)
		}
	}
	r.reset()
	if r.keys != 0 || r.any() != nil || r.bytes() != 0 {
		t.Errorf("got %d keys and %d bytes, want none", r.keys, r.bytes())
	}
}

// modelBytes is what bytes should be, from all that there is.
func modelBytes(r *readers) int64 {
	sum := r.slab.Held() + int64(len(r.index))*indexBytes
	for key, who := range r.large {
		sum += largeSize([]byte(key), who)
	}
	return sum
}

// randomKey is one of few, some of which are larger than a place of a slab.
func randomKey(rng *rand.Rand) string {
	if n := rng.IntN(40); n > 3 {
		return fmt.Sprintf("key:%d", n)
	}
	return strings.Repeat(string(rune('a'+rng.IntN(3))), slab.MaxBytes-rng.IntN(64))
}

// TestReadersWithOneHashAreApart: a chain is as good as a place.
func TestReadersWithOneHashAreApart(t *testing.T) {
	var r readers
	r.init()
	first, hash := map[uint32]string{}, uint32(0)
	var a, b string
	for n := 0; b == ""; n++ {
		key := fmt.Sprint(n)
		hash = r.hash([]byte(key))
		a = first[hash]
		if first[hash] = key; a != "" {
			b = key
		}
	}
	there := func(int64) bool { return true }
	r.add([]byte(a), 1, there)
	r.add([]byte(b), 2, there)
	for i := range 40 {
		r.add([]byte(a), int64(10+i), there) // it moves
	}
	if got := r.take([]byte(b)); !slices.Equal(got, []int64{2}) {
		t.Errorf("%s: got %d, want 2", b, got)
	}
	if got := r.take([]byte(a)); len(got) != 41 || r.keys != 0 || len(r.index) != 0 {
		t.Errorf("%s: got %d, want 41; %d keys are left", a, got, r.keys)
	}
}

// trackedKeys makes n keys of 16 bytes that clients have read, and says what
// memory each takes, and is said to take.
func trackedKeys(n, clients int) (taken, said float64) {
	var r readers
	r.init()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	key := make([]byte, 0, 16)
	for i := range n {
		key = fmt.Appendf(key[:0], "key:%012d", i)
		for id := range clients {
			r.add(key, int64(100_000+7*id), func(int64) bool { return true })
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	total := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if slab.OffHeap {
		total += r.slab.Held()
	}
	runtime.KeepAlive(r)
	return float64(total) / float64(n), float64(r.bytes()) / float64(n)
}

// BenchmarkTrackedKeys measures memory: B/key.
func BenchmarkTrackedKeys(b *testing.B) {
	for _, clients := range []int{1, 10} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			for b.Loop() {
				taken, _ := trackedKeys(1_000_000, clients)
				b.ReportMetric(taken, "B/key")
			}
		})
	}
}

// maxTrackedKeyBytes is what a tracked key of 16 bytes may take, with ten
// readers.
const maxTrackedKeyBytes = 100

func TestTrackedKeysTakeLittleMemory(t *testing.T) {
	for _, clients := range []int{1, 10} {
		got, said := trackedKeys(200_000, clients)
		if got > maxTrackedKeyBytes {
			t.Errorf("%d clients: got %.0f bytes a key, want %d at most", clients, got, maxTrackedKeyBytes)
		}
		if said < got*0.75 || said > got*1.25 {
			t.Errorf("%d clients: %.0f bytes a key are said to be %.0f", clients, got, said)
		}
		t.Logf("%d clients: %.1f bytes a key, said to be %.1f", clients, got, said)
	}
}

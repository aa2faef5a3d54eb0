package pages

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// members is a set of n random members of 16 bytes behind a uid.
func members(b *testing.B, n int) []string {
	rng := seed.Fixed(b, 1).Rand(0)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("\x18\x06\x01\x02\x03\x04\x05\x06\x14\x02%016x", rng.Uint64())
	}
	return keys
}

// group is how many changes there are between two snapshots.
const group = 800

func BenchmarkTree(b *testing.B) {
	for _, n := range []int{1e5, 1e6} {
		keys := members(b, n)
		value := Value{Bytes: []byte("12345678")}
		tree := New(0)
		for i, key := range keys {
			tree.Set(key, value)
			if i%group == 0 {
				tree.Snapshot()
			}
		}
		each := float64(tree.Bytes()) / float64(n)
		for name, op := range map[string]func(i int, key string){
			"get":     func(_ int, key string) { tree.Get(key) },
			"rank":    func(_ int, key string) { tree.Rank(key) },
			"at":      func(i int, _ string) { tree.At(i * 7919 % n) },
			"replace": func(_ int, key string) { tree.Set(key, value) },
			"swap":    func(_ int, key string) { tree.Delete(key); tree.Set(key, value) },
		} {
			b.Run(fmt.Sprintf("n=%d/op=%s", n, name), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					op(i, keys[i*7919%n])
					if i%group == 0 {
						tree.Snapshot()
					}
				}
				b.ReportMetric(each, "B/member")
			})
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	tree := New(0)
	for _, key := range members(b, 1e5) {
		tree.Set(key, Value{Bytes: []byte("12345678")})
	}
	for b.Loop() {
		tree.Ascend("", func([]byte, Value) bool { return true })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/element")
}

package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/resp"
)

// BenchmarkElements is what commands cost that add an element to a collection
// of 200,000, or take one off it, in pipelines of 100.
func BenchmarkElements(b *testing.B) {
	for _, kind := range []struct{ add, take string }{
		{"SADD s member:%012[1]d", "SPOP s"},
		{"ZADD z %[2]d member:%012[1]d", "ZPOPMIN z"},
	} {
		rng := seed.Fixed(b, 1).Rand(0)
		store := openStore(b, firn.Options{Durability: firn.None})
		o := newOurs(b, New(store, Options{}))
		add := func(int) []byte {
			var input []byte
			for range 100 {
				text := fmt.Sprintf(kind.add, rng.IntN(1e8), rng.IntN(1e8))
				input = append(input, resp.AppendCommand(nil, SplitWords(b, text)...)...)
			}
			return input
		}
		pops := []byte(strings.Repeat(string(resp.AppendCommand(nil, SplitWords(b, kind.take)...)), 100))
		for i := range 2000 {
			o.exchange(b, add(i))
		}
		for _, op := range []struct {
			name  string
			input func(int) []byte
		}{{strings.Fields(kind.add)[0], add}, {strings.Fields(kind.take)[0], func(int) []byte { return pops }}} {
			b.Run("command="+op.name, func(b *testing.B) {
				inputs := make([][]byte, 500)
				for i := range inputs {
					inputs[i] = op.input(i)
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					o.exchange(b, inputs[i%len(inputs)])
					i++
				}
				b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "commands/s")
			})
		}
	}
}

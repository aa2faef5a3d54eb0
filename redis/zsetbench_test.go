package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// BenchmarkZSet is what commands on a sorted set cost by its size, in memory
// and not.
func BenchmarkZSet(b *testing.B) {
	for _, memory := range []int64{4 << 30, -1} {
		for _, n := range []int{1, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("memory=%d/members=%d", memory, n), func(b *testing.B) { benchmarkZSet(b, memory, n) })
		}
	}
}

func benchmarkZSet(b *testing.B, memory int64, n int) {
	o := newZSets(b, firn.Options{Memory: memory})
	o.addRange(b, "z", 0, n)
	if memory > 0 {
		o.ask(b, fmt.Sprintf("ZRANK z m%07d", n-1))
	}
	for _, command := range []string{
		"ZINCRBY z 1 m%[1]07d", "ZINCRBY new 1 m%[1]07d", "ZSCORE z m%[1]07d", "ZRANK z m%[1]07d", "ZRANGE z %[1]d %[1]d",
		"ZREVRANGE z 0 9 WITHSCORES", "ZRANGEBYSCORE z %[1]d +inf LIMIT 0 10", "ZCOUNT z %[1]d +inf",
	} {
		b.Run("command="+command, func(b *testing.B) {
			inputs := make([][]byte, 1000)
			for i := range inputs {
				text := command
				if strings.Contains(command, "%") {
					text = fmt.Sprintf(command, i*7919%n)
				}
				inputs[i] = resp.AppendCommand(nil, SplitWords(b, text)...)
			}
			i := 0
			for b.Loop() {
				o.exchange(b, inputs[i%len(inputs)])
				i++
			}
		})
	}
}

// BenchmarkZSetQueue is a sorted set that serves as a priority queue: what is
// taken out leaves tombstones behind.
func BenchmarkZSetQueue(b *testing.B) {
	for _, memory := range []int64{0, -1} {
		for _, pop := range []string{"ZPOPMIN q", "ZREM q m%07d", "ZREMRANGEBYSCORE q -inf %d"} {
			b.Run(fmt.Sprintf("memory=%d/pop=%s", memory, pop), func(b *testing.B) {
				const n = 100_000
				o := newZSets(b, firn.Options{Memory: memory})
				o.addRange(b, "q", 0, n)
				i := 0
				for b.Loop() {
					text := pop
					if strings.Contains(pop, "%") {
						text = fmt.Sprintf(pop, i%n)
					}
					o.exchange(b, resp.AppendCommand(nil, SplitWords(b, text)...))
					if i++; i%n == 0 {
						b.StopTimer()
						o.addRange(b, "q", 0, n)
						b.StartTimer()
					}
				}
			})
		}
	}
}

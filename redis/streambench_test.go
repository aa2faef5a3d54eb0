package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// BenchmarkStream measures stream commands in pipelines of 100, on a stream
// of so many entries.
func BenchmarkStream(b *testing.B) {
	for _, length := range []int{100, 20_000} {
		for _, command := range []string{
			"XADD s * f v",
			"XADD s MAXLEN ~ 1000 * f v",
			"XADD s MAXLEN 100 * f v",
			"XLEN s",
			"XRANGE s 50 60",
			"XREAD COUNT 10 STREAMS s 50",
			"XREADGROUP GROUP g c COUNT 1 STREAMS s >",
			"XREADGROUP GROUP g c COUNT 10 STREAMS s >",
			"XPENDING s g",
		} {
			b.Run(fmt.Sprintf("length=%d/command=%s", length, strings.ReplaceAll(command, " ", "_")), func(b *testing.B) {
				o := newOurs(b, New(openStore(b, firn.Options{Durability: firn.None}), Options{}))
				for i := range length {
					o.ask(b, fmt.Sprintf("XADD s %d-1 f v", i+1))
				}
				o.ask(b, "XGROUP CREATE s g 0")
				o.measure(b, command)
			})
		}
	}
}

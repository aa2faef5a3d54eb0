package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/resp"
)

// Hot commands allocate nothing but what the store keeps.

// hotReads are reads that must not allocate, once the store is warm.
var hotReads = []string{"GET a", "STRLEN a", "EXISTS a", "TTL a", "TYPE a", "HGET h f", "HLEN h", "HEXISTS h f", "GET nosuch"}

func TestHotReadsDoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	o := newPlain(t)
	o.ask(t, "SET a "+strings.Repeat("x", 64))
	o.ask(t, "HSET h f v")
	for _, command := range hotReads {
		input := resp.AppendCommand(nil, SplitWords(t, command)...)
		allocs := testing.AllocsPerRun(200, func() { o.exchange(t, input) })
		if allocs != 0 {
			t.Errorf("%s\n got %v allocations\nwant none", command, allocs)
		}
	}
}

// exchange is send without looking at the reply.
func (o *ours) exchange(t testing.TB, input []byte) {
	o.session.Fill(copy(o.session.Space(len(input)), input))
	o.pump(t)
	o.session.Sent(len(o.session.Output()))
}

func BenchmarkCommand(b *testing.B) {
	for _, command := range []string{
		"GET a", "SET a " + strings.Repeat("x", 64), "INCR n", "HGET h f", "HSET h f " + strings.Repeat("x", 64), "HGETALL h",
	} {
		b.Run("command="+strings.Fields(command)[0], func(b *testing.B) {
			store := openStore(b, firn.Options{Durability: firn.None})
			o := newOurs(b, New(store, Options{}))
			o.ask(b, "SET a v")
			o.ask(b, "HSET h f v g w")
			o.measure(b, command)
		})
	}
}

// measure runs a command in pipelines of 100: what is measured is the command,
// not the commit.
func (o *ours) measure(b *testing.B, command string) {
	one := resp.AppendCommand(nil, SplitWords(b, command)...)
	input := []byte(strings.Repeat(string(one), 100))
	b.ReportAllocs()
	for b.Loop() {
		o.exchange(b, input)
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "commands/s")
}

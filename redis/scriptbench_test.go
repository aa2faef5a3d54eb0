package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Scripts as they are common: a counter with an end, a read, a sliding window.
var benchScripts = []struct {
	name, command, source string
	args                  []string
}{
	{"counter", "EVALSHA", "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return n",
		[]string{"1", "counter", "60000"}},
	{"nothing", "EVALSHA", "return 1", []string{"1", "k"}},
	{"get", "EVALSHA_RO", "return redis.call('GET', KEYS[1])", []string{"1", "a"}},
	{"window", "EVALSHA", "redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ARGV[1]) local n = redis.call('ZCARD', KEYS[1]) " +
		"if n < tonumber(ARGV[3]) then redis.call('ZADD', KEYS[1], ARGV[2], ARGV[4]) redis.call('PEXPIRE', KEYS[1], 60000) return 1 end return 0",
		[]string{"1", "w", "0", "1", "10", "member"}},
}

func BenchmarkScript(b *testing.B) {
	for _, script := range benchScripts {
		b.Run("script="+script.name, func(b *testing.B) {
			store := openStore(b, firn.Options{Durability: firn.None})
			o := newOurs(b, New(store, Options{}))
			o.ask(b, "SET a v")
			loaded := o.send(b, resp.AppendCommand(nil, []byte("SCRIPT"), []byte("LOAD"), []byte(script.source)))
			sha := strings.Fields(string(loaded))[1]
			words := [][]byte{[]byte(script.command), []byte(sha)}
			for _, arg := range script.args {
				words = append(words, []byte(arg))
			}
			input := []byte(strings.Repeat(string(resp.AppendCommand(nil, words...)), 100))
			b.ReportAllocs()
			for b.Loop() {
				o.exchange(b, input)
			}
			b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}

package index

// What an entry costs in the tail: to insert, to find, to walk, to merge, and
// for as long as it is there.

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// benchKeys are the ids of n keys, as Redis's layer makes them, in random
// order.
func benchKeys(n int) []string {
	keys := make([]string, n)
	for i, k := range seed.Value(1).Rand(1).Perm(n) {
		keys[i] = fmt.Sprintf("\x15\x00\x02key:%012d\x00\x00", k)
	}
	return keys
}

// made is a key as a command has it: its bytes are at hand.
func made(dst []byte, n int) string {
	dst = append(dst[:0], "\x15\x00\x02key:000000000000\x00\x00"...)
	for at := 18; n > 0; at-- {
		dst[at] = byte('0' + n%10)
		n /= 10
	}
	return string(dst)
}

// fillBench inserts n entries, one in a transaction, drawn from keys.
func fillBench(t *Tail, keys []string, n int) {
	random := seed.Value(2).Rand(1)
	for i := range n {
		t.Insert([]schema.Entry{{Index: schema.ByID(1), TS: schema.Timestamp(i + 1), Key: keys[random.IntN(len(keys))]}})
	}
}

func BenchmarkInsert(b *testing.B) {
	var buf []byte
	for _, size := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", size), func(b *testing.B) {
			random, tail := seed.Value(2).Rand(1), NewTail(0)
			entries := make([]schema.Entry, 1)
			b.ReportAllocs()
			for i := range b.N {
				if i%500_000 == 0 {
					tail = NewTail(0)
				}
				entries[0] = schema.Entry{Index: schema.ByID(1), TS: schema.Timestamp(i + 1), Key: made(buf, random.IntN(size))}
				tail.Insert(entries)
			}
		})
	}
}

// BenchmarkInsertScored inserts what a member of a sorted set has: an entry by
// id and one by score, of many sets.
func BenchmarkInsertScored(b *testing.B) {
	for _, each := range []int{1, 1000} {
		b.Run(fmt.Sprintf("members=%d", each), func(b *testing.B) {
			random, tail := seed.Value(2).Rand(1), NewTail(0)
			entries := make([]schema.Entry, 2)
			b.ReportAllocs()
			for i := range b.N {
				if i%250_000 == 0 {
					tail = NewTail(0)
				}
				var key, id [34]byte
				copy(id[:], "\x15\x00\x00\x00\x00\x00\x00\x07\x02member:0000000000")
				binary.BigEndian.PutUint32(id[17:], random.Uint32())
				copy(key[:], id[:8])
				binary.BigEndian.PutUint32(key[8:], random.Uint32())
				copy(key[17:], id[9:])
				ts := schema.Timestamp(i/each + 1)
				entries[0] = schema.Entry{Index: schema.ByID(2), TS: ts, Key: string(id[:])}
				entries[1] = schema.Entry{Index: schema.Index(2, 1), TS: ts, Key: string(key[:]), ID: entries[0].Key}
				tail.Insert(entries)
			}
		})
	}
}

// BenchmarkFind asks a tail of a million entries for what it has and has not.
func BenchmarkFind(b *testing.B) {
	keys := benchKeys(1_000_000)
	tail := NewTail(0)
	fillBench(tail, keys[:500_000], 1_000_000)
	run := tail.Runs().Active
	for _, tt := range []struct {
		name string
		keys []string
	}{{"there", keys[:400_000]}, {"new", keys[500_000:]}} {
		b.Run(tt.name, func(b *testing.B) {
			random := seed.Value(3).Rand(1)
			b.ReportAllocs()
			for b.Loop() {
				run.At(schema.ByID(1), tt.keys[random.IntN(len(tt.keys))], schema.MaxTimestamp)
			}
		})
	}
}

func BenchmarkScanTail(b *testing.B) {
	keys := benchKeys(1_000_000)
	tail := NewTail(0)
	fillBench(tail, keys, 1_000_000)
	run, n := tail.Runs().Active, 0
	var page []schema.Entry
	b.ReportAllocs()
	for b.Loop() {
		kr := schema.KeyRange{Index: schema.ByID(1), From: fmt.Sprintf("\x15\x00\x02key:%012d", n%1_000_000)}
		page, _, _ = run.Scan(page[:0], kr, schema.MaxTimestamp, 100)
		n += 7919
	}
}

// nothing is a file that takes anything.
type nothing struct{ noRanges }

func (nothing) Merge([]schema.Entry) error     { return nil }
func (nothing) Remerge([]schema.Entry) error   { return nil }
func (nothing) SetGlobal(string, string) error { return nil }

// BenchmarkMergeSlices merges a tail of a million entries into nothing.
// Between slices something else uses the processor's cache.
func BenchmarkMergeSlices(b *testing.B) {
	const entries, slice = 1_000_000, 512
	for _, size := range []int{100_000, 1_000_000} {
		keys := benchKeys(size)
		b.Run(fmt.Sprintf("keys=%d", size), func(b *testing.B) {
			var merging time.Duration
			others := make([]byte, 4<<20)
			for range b.N {
				tail := NewTail(0)
				fillBench(tail, keys, entries)
				m := NewMerger(tail, nil)
				m.Start(Counts{})
				for m.Active() {
					for i := 0; i < len(others); i += 64 {
						others[i]++
					}
					begun := time.Now()
					if _, err := m.Write(nothing{}, slice); err != nil {
						b.Fatal(err)
					}
					m.Committed()
					merging += time.Since(begun)
				}
			}
			b.ReportMetric(float64(merging.Nanoseconds())/float64(b.N*entries), "ns/entry")
		})
	}
}

// BenchmarkFullTail says what a million entries take, and how long a
// collection is with nothing else there.
func BenchmarkFullTail(b *testing.B) {
	const entries = 1_000_000
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tail := NewTail(0)
		random := seed.Value(2).Rand(1)
		for i := range entries {
			id := fmt.Sprintf("\x15\x00\x02key:%012d\x00\x00", random.IntN(entries)) // no two share it
			tail.Insert([]schema.Entry{{Index: schema.ByID(1), TS: schema.Timestamp(i + 1), Key: id}})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		begun := time.Now()
		for range 10 {
			runtime.GC()
		}
		b.ReportMetric(float64(time.Since(begun).Microseconds())/10, "µs/collection")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/entries, "B/entry")
		active, _ := tail.Size()
		b.ReportMetric(float64(active.Bytes)/entries, "counted-B/entry")
		runtime.KeepAlive(tail)
	}
}

package index

import (
	"fmt"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// BenchmarkMergeCounts merges 200,000 entries into a file, in the slices that
// go along with groups, with fences and without: keys here and there in a range
// of a million, keys behind all others, and keys of many small ranges.
func BenchmarkMergeCounts(b *testing.B) {
	const before, entries = 1_000_000, 200_000
	tables := map[schema.TableID]*Table{1: {ID: 1, Name: "elements", Prefix: 1}}
	for _, keys := range []string{"random", "last", "small"} {
		random := seed.Value(7).Rand(1)
		key := map[string]func(i int) string{
			"random": func(int) string { return fenceKey(1, 2*random.IntN(before)+1) },
			"last":   func(i int) string { return fenceKey(1, 3*before+i) },
			"small":  func(i int) string { return fenceKey(2+i/10, i) },
		}[keys]
		for _, fenced := range []map[schema.TableID]*Table{nil, tables} {
			b.Run(fmt.Sprintf("keys=%s/fences=%t", keys, fenced != nil), func(b *testing.B) {
				var took time.Duration
				var pages int64
				for range b.N {
					e, err := schema.Open(b.TempDir()+"/bench.db", schema.Options{Sync: schema.SyncNormal})
					if err != nil {
						b.Fatal(err)
					}
					ts := schema.Timestamp(1)
					merge := func(n int, slice int, key func(int) string) {
						tail, seen := NewTail(0), map[string]bool{}
						for i := range n {
							if k := key(i); !seen[k] {
								seen[k], ts = true, ts+1
								tail.Insert([]schema.Entry{{Index: schema.ByID(1), Changes: true, TS: ts, Key: k}})
							}
						}
						m, a := NewMerger(tail, fenced), e.Appender()
						for m.Start(Counts{}); m.Active(); m.Committed() {
							if err := a.Begin(); err != nil {
								b.Fatal(err)
							}
							if _, err := m.Write(a, slice); err != nil {
								b.Fatal(err)
							}
							if err := a.Commit(); err != nil {
								b.Fatal(err)
							}
						}
					}
					merge(before, 16384, func(i int) string { return fenceKey(1, 2*i) })
					if _, err := e.Appender().Truncate(); err != nil {
						b.Fatal(err)
					}
					begun := time.Now()
					merge(entries, 512, key)
					took += time.Since(begun)
					n, err := e.Appender().WALPages()
					if err != nil {
						b.Fatal(err)
					}
					pages += n
					if err := e.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*entries), "ns/entry")
				b.ReportMetric(float64(pages)/float64(b.N), "pages")
			})
		}
	}
}

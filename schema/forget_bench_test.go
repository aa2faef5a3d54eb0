package schema

// What it costs to forget: µs per entry and rows per second, by how many keys
// share the history and by how many merges their entries came into the file.

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// forgetBatch is how much of the log one transaction forgets.
const forgetBatch = 4096

// benchHistory makes versions of keys that take turns, one ts each, in the
// order of time, and merges their entries in so many merges.
func benchHistory(b *testing.B, s *SQLite, keys, versions, merges int) []Entry {
	b.Helper()
	entries := make([]Entry, keys*versions)
	ids := make([]string, keys)
	for k := range ids {
		ids[k] = fmt.Sprintf("key:%020d", k)
	}
	for i := range entries {
		entries[i] = Entry{Index: ByID(1), TS: Timestamp(1 + i), Key: ids[i%keys]}
	}
	a := s.Appender()
	for part := range slices.Chunk(entries, len(entries)/merges) {
		must(b, a.Begin(), a.Merge(slices.SortedFunc(slices.Values(part), compareEntries)), a.Commit())
	}
	_, err := a.Truncate()
	must(b, err)
	return entries
}

func BenchmarkDeleteEntries(b *testing.B) {
	const versions = 1_000_000
	for _, bb := range []struct {
		keys, merges, batch int
		order               string
	}{
		{1000, 1, forgetBatch, "key"},
		{1000, 1, versions, "time"},
		{1000, 1, 16 * forgetBatch, "time"},
		{1000, 1, forgetBatch, "time"},
		{100_000, 1, forgetBatch, "key"},
		{100_000, 1, forgetBatch, "time"},
		{100_000, 10, forgetBatch, "key"},
		{100_000, 10, forgetBatch, "time"},
	} {
		b.Run(fmt.Sprintf("keys=%d/merges=%d/order=%s/batch=%d", bb.keys, bb.merges, bb.order, bb.batch), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				s := openTest(b, Options{Sync: SyncNormal})
				entries := benchHistory(b, s, bb.keys, versions/bb.keys, bb.merges)
				if bb.order == "key" {
					slices.SortFunc(entries, compareEntries)
				}
				b.StartTimer()
				a := s.Appender()
				for part := range slices.Chunk(entries, bb.batch) {
					must(b, a.Begin(), a.DeleteEntries(part), a.Commit())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*versions), "µs/entry")
		})
	}
}

func BenchmarkDeleteRows(b *testing.B) {
	const rows = 1_000_000
	for range b.N {
		b.StopTimer()
		s := openTest(b, Options{Sync: SyncNormal})
		a := s.Appender()
		all := benchRows(rows, 2)
		for part := range slices.Chunk(all, 10_000) {
			must(b, a.Begin(), a.Append(part), a.Commit())
		}
		_, err := a.Truncate()
		must(b, err)
		b.ReportAllocs()
		b.StartTimer()
		for part := range slices.Chunk(all, forgetBatch) {
			must(b, a.Begin(), a.DeleteRows(part), a.Commit())
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkVacuum gives back what forgetting nine tenths of a log has freed:
// the old rows, at the front of the file, or the new ones, at its end.
func BenchmarkVacuum(b *testing.B) {
	for _, bb := range []struct {
		rows, valueBytes, pages int
		front                   bool
	}{
		{1_000_000, 64, 1000, true},
		{1_000_000, 64, 1000, false},
		{100_000, 3900, 1000, true},
		{100_000, 3900, 100, true},
		{100_000, 3900, 1000, false},
	} {
		b.Run(fmt.Sprintf("rows=%d/value=%d/front=%t/pages=%d", bb.rows, bb.valueBytes, bb.front, bb.pages), func(b *testing.B) {
			var freed, walBytes int64
			var longest time.Duration
			for range b.N {
				b.StopTimer()
				s := openTest(b, Options{Sync: SyncNormal})
				a := s.Appender()
				all := benchRows(bb.rows, 2)
				for _, r := range all {
					r.Value = make([]byte, bb.valueBytes)
				}
				for part := range slices.Chunk(all, 1000) {
					must(b, a.Begin(), a.Append(part), a.Commit())
				}
				doomed := all[bb.rows/10:]
				if bb.front {
					doomed = all[:bb.rows/10*9]
				}
				must(b, a.Begin(), a.DeleteRows(doomed), a.Commit())
				_, err := a.Truncate()
				must(b, err)
				left, err := a.Vacuum(0)
				must(b, err)
				freed += left
				b.StartTimer()
				for left > 0 {
					start := time.Now()
					left, err = a.Vacuum(bb.pages)
					must(b, err)
					longest = max(longest, time.Since(start))
				}
				walBytes += s.WALBytes()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(freed), "µs/page")
			b.ReportMetric(float64(longest.Milliseconds()), "longest_ms")
			b.ReportMetric(float64(walBytes)/float64(freed), "wal_bytes/page")
			b.ReportMetric(float64(freed)/float64(b.N), "pages")
		})
	}
}

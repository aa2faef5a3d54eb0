package schema

// The figures that a user of the engine asks for: rows per second, and bytes
// of write-ahead log per row. BenchmarkBareInsert is the yardstick: the same
// rows, one prepared insert each.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// benchRows makes n rows with ids of 24 bytes and values of 64, each a
// transaction of its own: the writer commits many of them as one group.
func benchRows(n int, first Timestamp) []*Row {
	value := make([]byte, 64)
	random := seed.Value(first).Rand(0)
	rows := make([]*Row, n)
	for i := range rows {
		rows[i] = &Row{
			TS:    first + Timestamp(i),
			Prev:  1,
			Table: 1,
			ID:    fmt.Sprintf("key:%020d", random.IntN(1<<40)),
			Value: value,
		}
	}
	return rows
}

// checkpointBytes is the size of the log from which the benchmarks empty it,
// off the clock.
const checkpointBytes = 32 << 20

func BenchmarkAppend(b *testing.B) {
	for _, group := range []int{1, 8, 50, 500} {
		b.Run(fmt.Sprintf("rows=%d", group), func(b *testing.B) {
			s := openTest(b, Options{Sync: SyncNormal})
			benchWrite(b, s, group, s.Appender().Append)
		})
	}
}

// BenchmarkBareInsert is the limit that everything above is measured against.
func BenchmarkBareInsert(b *testing.B) {
	for _, group := range []int{50, 500} {
		b.Run(fmt.Sprintf("rows=%d", group), func(b *testing.B) {
			s := openTest(b, Options{Sync: SyncNormal})
			stmt, err := s.app.conn.Prepare(
				"INSERT INTO documents (id, ts, table_id, json_value, deleted, prev_ts) VALUES (?, ?, ?, ?, ?, ?)")
			must(b, err)
			table := []byte{1}
			benchWrite(b, s, group, func(rows []*Row) error {
				for _, r := range rows {
					stmt.BindBytes(1, bytesOf(r.ID))
					stmt.BindInt64(2, int64(r.TS))
					stmt.BindBytes(3, table)
					stmt.BindBytes(4, r.Value)
					stmt.BindBool(5, r.Deleted)
					stmt.BindInt64(6, int64(r.Prev))
					if err := run(stmt); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// benchWrite writes b.N transactions of group rows.
func benchWrite(b *testing.B, s *SQLite, group int, write func([]*Row) error) {
	a := s.Appender()
	const batch = 1000
	var rows []*Row
	var walBytes int64
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%batch == 0 {
			b.StopTimer()
			if s.WALBytes() > checkpointBytes {
				walBytes += s.WALBytes()
				_, err := a.Truncate()
				must(b, err)
			}
			rows = benchRows(batch*group, Timestamp(2+i*group))
			b.StartTimer()
		}
		must(b, a.Begin(), write(rows[i%batch*group:][:group]), a.Commit())
	}
	b.StopTimer()
	n := float64(b.N * group)
	b.ReportMetric(n/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(walBytes+s.WALBytes())/n, "wal_bytes/row")
}

// BenchmarkMerge merges runs of new versions of 100,000 keys, sorted.
func BenchmarkMerge(b *testing.B) {
	for _, run := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("entries=%d", run), func(b *testing.B) {
			s := openTest(b, Options{Sync: SyncNormal})
			a := s.Appender()
			var walBytes int64
			random := seed.Value(1).Rand(0)
			for i := range b.N {
				b.StopTimer()
				walBytes += s.WALBytes()
				_, err := a.Truncate()
				must(b, err)
				entries := make([]Entry, run)
				for j := range entries {
					entries[j] = Entry{Index: ByID(1), TS: Timestamp(1 + i*run + j), Key: fmt.Sprintf("key:%020d", random.IntN(100_000))}
				}
				slices.SortFunc(entries, func(x, y Entry) int { return compareEntries(x, y) })
				b.StartTimer()
				must(b, a.Begin(), a.Merge(entries), a.Commit())
			}
			n := float64(b.N * run)
			b.ReportMetric(n/b.Elapsed().Seconds(), "entries/s")
			b.ReportMetric(float64(walBytes+s.WALBytes())/n, "wal_bytes/entry")
		})
	}
}

// benchStore has keys documents of 64 bytes with versions each.
func benchStore(b *testing.B, keys, versions int) *SQLite {
	s := openTest(b, Options{Sync: SyncNormal})
	a := s.Appender()
	var entries []Entry
	ts := Timestamp(0)
	for v := range versions {
		var rows []*Row
		for k := range keys {
			ts++
			row := &Row{TS: ts, Table: 1, ID: fmt.Sprintf("key:%020d", k), Value: make([]byte, 64)}
			if v > 0 {
				row.Prev = ts - Timestamp(keys)
			}
			rows = append(rows, row)
			entries = append(entries, Entry{Index: ByID(1), TS: ts, Key: row.ID})
		}
		must(b, a.Begin(), a.Append(rows), a.Commit())
	}
	slices.SortFunc(entries, compareEntries)
	must(b, a.Begin(), a.Merge(entries), a.Commit())
	_, err := a.Truncate()
	must(b, err)
	return s
}

func BenchmarkGet(b *testing.B) {
	const keys, versions = 10_000, 10
	s := benchStore(b, keys, versions)
	ids := make([]string, keys)
	for i := range ids {
		ids[i] = fmt.Sprintf("key:%020d", i)
	}
	for _, tt := range []struct {
		name string
		at   Timestamp
		keys int
		held bool
	}{
		{"at=newest/keys=100/transaction=held", MaxTimestamp, 100, true},
		{"at=newest/keys=10000/transaction=held", MaxTimestamp, keys, true},
		{"at=newest/keys=10000/transaction=own", MaxTimestamp, keys, false},
		{"at=half/keys=10000/transaction=held", keys * versions / 2, keys, true},
		{"at=none/keys=10000/transaction=held", 0, keys, true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			r := openSession(b, s)
			if tt.held {
				must(b, r.Begin())
				defer r.End()
			}
			random := seed.Value(1).Rand(0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Get(1, ids[random.IntN(tt.keys)], tt.at); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, versions := range []int{1, 4, 100} {
		s := benchStore(b, 1000, versions)
		r := openSession(b, s)
		must(b, r.Begin())
		for _, reverse := range []bool{false, true} {
			b.Run(fmt.Sprintf("versions=%d/limit=100/reverse=%t", versions, reverse), func(b *testing.B) {
				var entries []Entry
				b.ReportAllocs()
				for b.Loop() {
					var err error
					entries, _, _, err = r.Scan(entries[:0], KeyRange{Index: ByID(1), Reverse: reverse}, MaxTimestamp, 100)
					if err != nil || len(entries) != 100 {
						b.Fatal(len(entries), err)
					}
				}
				b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
			})
		}
		must(b, r.End())
	}
}

func BenchmarkLog(b *testing.B) {
	s := benchStore(b, 10_000, 1)
	r := openSession(b, s)
	var rows []*Row
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if rows, err = r.Log(rows[:0], Cursor{}, MaxTimestamp, 1000); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

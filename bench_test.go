package firn

// The figures that a user of the library asks for: transactions per second by
// durability and callers, reads per second from memory, from the file and in
// the past, and how long a store takes to open after a crash.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
)

// benchValue is 128 bytes, about a small JSON document.
var benchValue = make([]byte, 128)

func benchID(n int) []byte { return fmt.Appendf(nil, "document %08d", n) }

func openBench(b *testing.B, o Options) (*Store, *Table) {
	b.Helper()
	o.Tables = []TableSpec{{Name: "documents"}}
	s := openAt(b, filepath.Join(b.TempDir(), "bench.db"), o)
	return s, s.Table("documents")
}

// load writes documents in transactions of a thousand.
func load(b *testing.B, s *Store, t *Table, documents int) Timestamp {
	b.Helper()
	var last Timestamp
	for n := 0; n < documents; n += 1000 {
		ts, err := s.Update(b.Context(), func(tx *Tx) error {
			for i := n; i < min(n+1000, documents); i++ {
				if err := tx.Put(t, benchID(i), benchValue); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		last = ts
	}
	return last
}

// BenchmarkUpdate writes one document of 128 bytes in each transaction.
func BenchmarkUpdate(b *testing.B) {
	for _, d := range []struct {
		name       string
		durability Durability
	}{{"always", Always}, {"everysec", EverySecond}, {"no", None}} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("callers=%d/durability=%s", callers, d.name), func(b *testing.B) {
				s, documents := openBench(b, Options{Durability: d.durability})
				update := func(rng *rand.Rand) error {
					_, err := s.Update(context.Background(), func(tx *Tx) error {
						return tx.Put(documents, benchID(rng.IntN(100_000)), benchValue)
					})
					return err
				}
				b.ReportAllocs()
				b.ResetTimer()
				runCallers(b, callers, update)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transactions/s")
			})
		}
	}
}

// BenchmarkEdit reads one document of many and writes it, in transactions of a
// thousand: with two look-ups, and with one.
func BenchmarkEdit(b *testing.B) {
	const size, each = 100_000, 1000
	for _, by := range []string{"get+put", "draft"} {
		b.Run(fmt.Sprintf("documents=%d/by=%s", size, by), func(b *testing.B) {
			s, documents := openBench(b, Options{Durability: None})
			load(b, s, documents, size)
			ids := make([][]byte, size)
			for n := range ids {
				ids[n] = benchID(n)
			}
			rng := seed.Value(1).Rand(1)
			write := func(tx *Tx) error {
				id := ids[rng.IntN(size)]
				if by == "draft" {
					d, err := tx.Edit(documents, id)
					if err != nil {
						return err
					}
					return d.Put(d.Old().Value)
				}
				doc, err := tx.Get(documents, id)
				if err != nil {
					return err
				}
				return tx.Put(documents, id, doc.Value)
			}
			var running time.Duration // without the commit
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += each {
				_, err := s.Update(b.Context(), func(tx *Tx) error {
					begun := time.Now()
					defer func() { running += time.Since(begun) }()
					for range min(each, b.N-n) {
						if err := write(tx); err != nil {
							return err
						}
					}
					return nil
				})
				checked(b, err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			b.ReportMetric(float64(running.Nanoseconds())/float64(b.N), "run-ns/write")
		})
	}
}

// runCallers calls fn b.N times in all, from a number of goroutines.
func runCallers(b *testing.B, callers int, fn func(*rand.Rand) error) {
	failed := make(chan error, callers) // one from each
	for i := range callers {
		n := b.N / callers
		if i < b.N%callers {
			n++
		}
		go func() {
			rng := seed.Value(1).Rand(uint64(i))
			var err error
			for range n {
				err = errors.Join(err, fn(rng))
			}
			failed <- err
		}()
	}
	for range callers {
		if err := <-failed; err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkGet reads one document of 10,000, each of which has two versions:
// the newer from memory or from the file, the older from the file.
func BenchmarkGet(b *testing.B) {
	const size = 10_000
	for _, at := range []string{"now", "past"} {
		for _, head := range []string{"hot", "cold"} {
			b.Run(fmt.Sprintf("at=%s/head=%s", at, head), func(b *testing.B) {
				o := Options{Durability: None}
				if head == "cold" {
					o.Memory = -1
				}
				s, documents := openBench(b, o)
				past := load(b, s, documents, size)
				load(b, s, documents, size)
				rng := seed.Value(1).Rand(1)
				get := func(snap *Snapshot) error {
					_, err := snap.Get(documents, benchID(rng.IntN(size)))
					return err
				}
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if at == "past" {
						err = s.At(past, get)
					} else {
						err = s.View(get)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
			})
		}
	}
}

// BenchmarkScan walks a table of 10,000 documents, of which every one has been
// replaced a number of times: how long the history is must not matter.
func BenchmarkScan(b *testing.B) {
	const size = 10_000
	for _, versions := range []int{1, 10} {
		b.Run(fmt.Sprintf("documents=%d/versions=%d", size, versions), func(b *testing.B) {
			s, documents := openBench(b, Options{Durability: None})
			for range versions {
				load(b, s, documents, size)
			}
			b.ReportAllocs()
			for b.Loop() {
				err := s.View(func(snap *Snapshot) error {
					n := 0
					for _, err := range snap.Scan(Range{Index: documents.ByID()}) {
						if err != nil {
							return err
						}
						n++
					}
					if n != size {
						return fmt.Errorf("got %d documents, want %d", n, size)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "documents/s")
		})
	}
}

// BenchmarkOpen opens a store that has crashed with a tail to replay.
func BenchmarkOpen(b *testing.B) {
	for _, tail := range []int{0, 1000, 50_000} {
		b.Run(fmt.Sprintf("tail=%d", tail), func(b *testing.B) {
			s, documents := openBench(b, Options{Durability: None})
			load(b, s, documents, tail)
			crashed := filepath.Join(b.TempDir(), "crashed.db") // before the store idles and merges
			checked(b, duplicate(s.Stats().Path, crashed))
			checked(b, duplicate(s.Stats().Path+"-wal", crashed+"-wal"))
			path := filepath.Join(b.TempDir(), "again.db")
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				checked(b, duplicate(crashed, path))
				checked(b, duplicate(crashed+"-wal", path+"-wal"))
				b.StartTimer()
				again, err := Open(path, s.opts)
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				if err := again.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/open")
		})
	}
}

func checked(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkView opens a snapshot of the present and reads nothing.
func BenchmarkView(b *testing.B) {
	s := openNew(b, Options{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.View(func(*Snapshot) error { return nil }); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkCountVersions finds the newest and the oldest of 200,000 versions of
// a document: whoever numbers versions knows then how many there are.
func BenchmarkCountVersions(b *testing.B) {
	const versions, batch = 200_000, 10_000
	s, documents := openBench(b, Options{Durability: None, TailEntries: 10_000}) // in memory and in the file
	done := make(chan updated, 1)
	for n := 0; n < versions; n += batch {
		put := func(_ int, tx *Tx) error { return tx.Put(documents, benchID(1), benchValue) }
		checked(b, s.Submit(&calls{n: batch, transact: put, done: done}))
		checked(b, (<-done).err)
	}
	count := func(r Reader) error {
		newest, err := r.Last(documents, benchID(1))
		for oldest, failed := range r.Versions(documents, benchID(1), VersionRange{Limit: 1}) {
			if err = errors.Join(err, failed); err == nil && (oldest.Prev != 0 || newest.Prev == 0) {
				return fmt.Errorf("got %v and %v for the oldest and the newest", oldest, newest)
			}
		}
		return err
	}
	b.Run("versions=200000/in=snapshot", func(b *testing.B) {
		for b.Loop() {
			checked(b, s.View(func(snap *Snapshot) error { return count(snap) }))
		}
	})
	b.Run("versions=200000/in=transaction", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Update(b.Context(), func(tx *Tx) error { return count(tx) })
			checked(b, err)
		}
	})
}

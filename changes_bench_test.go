package firn

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/journal"
)

// BenchmarkFollow follows commits of one row of 64 bytes, from memory and from
// the file.
func BenchmarkFollow(b *testing.B) {
	const commits = 50_000
	for _, rows := range []int{1, 10} {
		for _, source := range []string{"ring", "log"} {
			b.Run(fmt.Sprintf("from=%s/rows=%d", source, rows), func(b *testing.B) {
				bytes := int64(1 << 30)
				if source == "log" {
					bytes = -1
				}
				s := openNew(b, Options{FollowBytes: bytes})
				began := s.Bounds().Newest
				keep := s.Journal().Follow(began)
				defer keep.Close()
				notes := s.Table("notes")
				batch := &many{n: commits, run: func(i int, tx *Tx) error {
					for r := range rows {
						if err := tx.Put(notes, fmt.Appendf(nil, "user:%d", i*rows+r), make([]byte, 64)); err != nil {
							return err
						}
					}
					return nil
				}, done: make(chan error, 1)}
				if err := s.Submit(batch); err != nil {
					b.Fatal(err)
				}
				if err := <-batch.done; err != nil {
					b.Fatal(err)
				}
				newest := s.Bounds().Newest
				b.ReportAllocs()
				b.ResetTimer()
				read := 0
				for b.Loop() {
					for c, err := range s.Changes(b.Context(), s.Token(began), journal.Filter{}) {
						if err != nil {
							b.Fatal(err)
						}
						read += len(c.Changes)
						if c.TS >= newest {
							break
						}
					}
				}
				b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// many is a batch of equal transactions.
type many struct {
	n    int
	run  func(i int, tx *Tx) error
	done chan error
}

func (m *many) Len() int                     { return m.n }
func (m *many) Transact(i int, tx *Tx) error { return m.run(i, tx) }
func (m *many) Done(_ Timestamp, err error)  { m.done <- err }

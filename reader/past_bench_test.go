package reader

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// BenchmarkPastRank asks for ranks in a range of a million keys at moments of
// the past, since when so many random keys have come or gone.
func BenchmarkPastRank(b *testing.B) {
	const members = 1_000_000
	g := newRig(b, 1<<20)
	g.merger = index.NewMerger(g.tail, map[schema.TableID]*index.Table{things.ID: things})
	write := func(n int, change func(tx, int) error) {
		for from := 0; from < n; from += 10_000 {
			g.must(func(x tx) error {
				for i := from; i < min(from+10_000, n); i++ {
					if err := change(x, i); err != nil {
						return err
					}
				}
				return nil
			})
		}
		app := g.engine.Appender()
		g.merger.Start(g.head.Counts())
		for g.merger.Active() {
			if err := app.Begin(); err != nil {
				b.Fatal(err)
			}
			if _, err := g.merger.Write(app, 16384); err != nil {
				b.Fatal(err)
			}
			if err := app.Commit(); err != nil {
				b.Fatal(err)
			}
			g.merger.Committed()
		}
	}
	write(members, func(x tx, i int) error { return x.put(things, thing("large", 2*i), "v") })
	then := g.now
	last := 0
	for _, changed := range []int{0, 1000, 10_000, 100_000} {
		write(changed-last, func(x tx, i int) error {
			return x.put(things, thing("large", (last+i)*7919%members*2+1), "v")
		})
		last = changed
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("changed=%d/again=%t", changed, again), func(b *testing.B) {
				for i := range b.N {
					if !again {
						g.head.counted = countedRanges{}
					}
					v := g.at(then)
					n, err := v.CountRange(things, schema.KeyRange{Index: schema.ByID(1), From: group("large"), To: string(thing("large", 1_000_000+2*(i%1000)))}, 0)
					if err != nil || n != 500_000+i%1000 {
						b.Fatal(n, err)
					}
					v.Close()
				}
			})
		}
	}
}

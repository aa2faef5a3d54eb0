package reader

// The figures behind a range read: elements per second from each place that
// they may be in.

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// BenchmarkScan reads a range of 1,000 documents of 64 bytes.
func BenchmarkScan(b *testing.B) {
	const size = 1000
	for _, tt := range []struct {
		source string
		budget int64
		merge  func(g *rig)
	}{
		{"head", 64 << 20, func(g *rig) {}},
		{"tail", 0, func(g *rig) {}},
		{"file", 0, func(g *rig) { g.merge(-1) }},
		{"both", 0, func(g *rig) { g.merge(-1); fillGroup(g, size, 2) }},
	} {
		b.Run(fmt.Sprintf("source=%s/elements=%d", tt.source, size), func(b *testing.B) {
			g := newRig(b, tt.budget)
			fillGroup(g, size, 1)
			tt.merge(g)
			if _, err := g.view().Ordered(things, schema.ByID(things.ID), group("g")); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				v := new(View)
				v.Reset(g.head, false)
				n := 0
				for _, err := range v.Scan(things, whole("g"), 0) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				v.Close()
				if n != size {
					b.Fatalf("got %d elements, want %d", n, size)
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "elements/s")
		})
	}
}

// BenchmarkMerge walks index entries alone, of which the tail has every
// step-th again: what merging costs without the documents.
func BenchmarkMerge(b *testing.B) {
	const size = 10_000
	for _, step := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("keys=%d/in_tail=%d", size, size/step), func(b *testing.B) {
			g := newRig(b, 0)
			fillGroup(g, size, 1)
			g.merge(-1)
			fillGroup(g, size, step)
			v := g.view()
			b.ReportAllocs()
			for b.Loop() {
				m := v.sources(whole("g"), maxChunk)
				n := 0
				for {
					_, ok, err := m.next()
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
					n++
				}
				if n != size {
					b.Fatalf("got %d keys, want %d", n, size)
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}

// fillGroup writes every step-th member of a group.
func fillGroup(g *rig, size, step int) {
	g.t.Helper()
	value := string(make([]byte, 64))
	g.must(func(x tx) error {
		for n := 0; n < size; n += step {
			if err := x.put(things, thing("g", n), value); err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkVersionsOfALongHistory finds the oldest and the newest of 200,000
// versions of a document, and one that is 1,000 versions back.
func BenchmarkVersionsOfALongHistory(b *testing.B) {
	const versions = 200_000
	id := thing("g", 1)
	for _, place := range []string{"tail", "file", "both"} {
		g := newRig(b, 0)
		for n := 0; n < versions; n += 1000 {
			if n == versions/2 && place == "both" {
				g.merge(-1)
			}
			var all []func(tx) error
			for range 1000 {
				all = append(all, func(x tx) error { return x.put(plain, id, "v") })
			}
			g.must(all...)
		}
		if place == "file" {
			g.merge(-1)
		}
		for name, read := range map[string]func(v *View) error{
			"oldest": func(v *View) (err error) { return one(v, id, VersionRange{Limit: 1}) },
			"newest": func(v *View) (err error) { return one(v, id, VersionRange{Limit: 1, Newest: true}) },
			"back": func(v *View) (err error) {
				_, n, err := v.Back(plain, string(id), v.at, 1000)
				if n != 1000 {
					return fmt.Errorf("got %d versions", n)
				}
				return err
			},
		} {
			b.Run(fmt.Sprintf("in=%s/version=%s", place, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					v := new(View)
					v.Reset(g.head, false)
					if err := read(v); err != nil {
						b.Fatal(err)
					}
					v.Close()
				}
			})
		}
	}
}

func one(v *View, id []byte, r VersionRange) error {
	for _, err := range v.Versions(plain, string(id), r) {
		return err
	}
	return ErrNotFound
}

// BenchmarkDocuments reads and replaces random documents of the head, and says
// what memory one takes that has 16 bytes of id and 64 of value.
func BenchmarkDocuments(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		d := newDocs(1 << 40)
		row := func(i int) *schema.Row {
			return &schema.Row{Table: 1, TS: 2, Prev: 1, ID: fmt.Sprintf("%016d", i), Value: make([]byte, 64)}
		}
		ids := make([]string, n)
		for i := range n {
			ids[i] = row(i).ID
			d.put(d.hash(1, ids[i]), row(i))
		}
		held := d.places.Held() + d.slots.Held() + d.heads.Held()
		rng := seed.Fresh(b).Rand(1)
		for _, op := range []string{"get", "fresh", "replace"} {
			b.Run(fmt.Sprintf("documents=%d/op=%s", n, op), func(b *testing.B) {
				b.ReportAllocs()
				into, next := new(schema.Row), row(0)
				for b.Loop() {
					id := ids[rng.IntN(n)]
					hash := d.hash(1, id)
					switch op {
					case "get":
						d.row(d.slotOf(hash, 1, id), into)
					case "fresh":
						d.row(d.slotOf(hash, 1, id), nil)
					case "replace":
						next.ID = id
						d.put(hash, next)
					}
				}
				b.ReportMetric(float64(held)/float64(n), "B/document")
			})
		}
		d.release()
	}
}

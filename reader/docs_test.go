package reader

// The rule: the documents of the head are those of a map, as many of them as
// fit, whatever their sizes and hashes are.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/internal/slab"
	"github.com/firndb/firn/schema"
)

// TestTheNewestDocumentIsNotTheFirstToGo: what was just read in is read again
// soon, and must outlive what nobody asked for in a round of the clock.
func TestTheNewestDocumentIsNotTheFirstToGo(t *testing.T) {
	d := newDocs(1 << 20)
	row := func(i int) *schema.Row {
		return &schema.Row{Table: 1, TS: 1, ID: fmt.Sprintf("%06d", i), Value: []byte("value")}
	}
	const old, fresh = 1000, 100
	for i := range old {
		d.put(d.hash(1, row(i).ID), row(i))
	}
	budget := d.bytes()
	for i := range fresh {
		d.fill(row(old + i))
		d.shrink(budget)
	}
	kept := 0
	for i := range fresh {
		if id := row(old + i).ID; d.slotOf(d.hash(1, id), 1, id) != 0 {
			kept++
		}
	}
	if kept < fresh {
		t.Errorf("documents read in last: %d of %d are still there, want all", kept, fresh)
	}
	if d.bytes() > budget {
		t.Errorf("bytes: got %d, want at most %d", d.bytes(), budget)
	}
}

// docsModel is docs beside a map of what was put.
type docsModel struct {
	t    *testing.T
	rng  *rand.Rand
	docs docs
	rows map[string]*schema.Row // the newest of each document, by table and id
	now  schema.Timestamp
}

// row is a version of a random document.
func (m *docsModel) row() *schema.Row {
	rng := m.rng
	m.now += 1 + schema.Timestamp(rng.IntN(3))
	if rng.IntN(1000) == 0 {
		m.now += maxBack // the versions before this are longer ago than an entry's six bytes can say
	}
	row := &schema.Row{Table: schema.TableID(1 + rng.IntN(3)), TS: m.now, ID: fmt.Sprint("id ", rng.IntN(800))}
	if rng.IntN(50) == 0 {
		row.ID += string(make([]byte, rng.IntN(2*slab.MaxBytes)))
	}
	if old := m.rows[docKey(row)]; old != nil {
		row.Prev = old.TS
	}
	row.Deleted, row.JSON = rng.IntN(10) == 0, rng.IntN(10) == 0
	if rng.IntN(5) == 0 {
		row.Author = rng.Int64()
	}
	size := 1 << rng.IntN(9)
	if rng.IntN(100) == 0 {
		size = 3 * slab.MaxBytes
	}
	if rng.IntN(20) > 0 {
		row.Value = bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(size))
	}
	return row
}

func docKey(row *schema.Row) string { return fmt.Sprint(row.Table, "/", row.ID) }

func sameRow(a, b *schema.Row) bool {
	return a.TS == b.TS && a.Prev == b.Prev && a.Table == b.Table && a.Deleted == b.Deleted && a.JSON == b.JSON &&
		a.Author == b.Author && a.ID == b.ID && bytes.Equal(a.Value, b.Value) && (a.Value == nil) == (b.Value == nil)
}

// check compares everything, and is how many documents are there.
func (m *docsModel) check() (there int) {
	m.t.Helper()
	into := new(schema.Row)
	want := int64(0)
	for key, row := range m.rows {
		at := m.docs.slotOf(m.docs.hash(row.Table, row.ID), row.Table, row.ID)
		if at == 0 {
			if m.docs.isComplete(row.Table) {
				m.t.Fatalf("%.40q is not there, and its table is complete", key)
			}
			continue
		}
		there++
		want += docBytes(row)
		fresh := m.docs.row(at, nil)
		if got := m.docs.row(at, into); !sameRow(got, row) || !sameRow(fresh, row) || m.docs.ts(at) != row.TS {
			m.t.Fatalf("%.40q: got %.200v and %.200v, want %.200v", key, *got, *fresh, *row)
		}
	}
	if there != m.docs.number {
		m.t.Fatalf("documents: got %d, want the %d that are there", m.docs.number, there)
	}
	if got := m.docs.bytes(); got != want {
		m.t.Fatalf("bytes: got %d, want %d", got, want)
	}
	return there
}

// TestDocumentsAreThoseOfAMap runs with hashes that are all different, and
// with some that are all alike.
func TestDocumentsAreThoseOfAMap(t *testing.T) {
	for _, weak := range []uint32{0, ^uint32(3), ^uint32(0)} {
		for _, budget := range []int64{0, 20 << 10, 200 << 10, 10 << 20} {
			t.Run(fmt.Sprintf("weak=%x/budget=%d", weak, budget), func(t *testing.T) {
				seed := seed.Fresh(t)
				m := &docsModel{t: t, rng: seed.Rand(1), docs: newDocs(budget), rows: map[string]*schema.Row{}, now: maxBack}
				defer m.docs.release()
				m.docs.weak = weak
				m.docs.setComplete(1, true)
				m.docs.setComplete(2, true)
				most := 0
				for n := range race.Lighter(6000, 2000) {
					m.step()
					m.docs.shrink(budget)
					if got := m.docs.bytes(); got > budget {
						t.Fatalf("bytes: got %d, want at most %d", got, budget)
					}
					if n%100 == 0 {
						most = max(most, m.check())
					}
				}
				if budget == 0 && most > 0 || budget > 0 && most == 0 {
					t.Errorf("documents kept with a budget of %d: got up to %d", budget, most)
				}
			})
		}
	}
}

func (m *docsModel) step() {
	row := m.row()
	hash := m.docs.hash(row.Table, row.ID)
	switch m.rng.IntN(20) {
	case 0: // it is too large
		m.docs.forget(hash, row)
		m.rows[docKey(row)] = row
	case 1: // a reader is late
		if old := m.rows[docKey(row)]; old != nil {
			m.docs.fill(&schema.Row{Table: row.Table, ID: row.ID, TS: old.TS, Prev: old.Prev, Value: old.Value,
				Deleted: old.Deleted, JSON: old.JSON, Author: old.Author})
			late := *old
			late.TS, late.Prev, late.Value = old.TS-1, 0, []byte("late")
			m.docs.fill(&late)
		}
	default:
		m.docs.put(hash, row)
		m.rows[docKey(row)] = row
	}
}

// TestShiftingSizesGiveMemoryBack: documents grow and shrink all together, so
// that what one size has left cannot be used by the next.
func TestShiftingSizesGiveMemoryBack(t *testing.T) {
	const budget, documents = 4 << 20, 20_000
	d := newDocs(budget)
	defer d.release()
	for round, size := range []int{64, 200, 20, 500, 100, 900, 64} {
		for i := range documents {
			row := &schema.Row{Table: 1, TS: schema.Timestamp(round + 1), ID: fmt.Sprintf("%06d", i), Value: make([]byte, size)}
			d.put(d.hash(1, row.ID), row)
			d.shrink(budget)
			if held := d.places.Held(); held > budget+budget/4 {
				t.Fatalf("values of %d bytes: got %d bytes held, want at most a quarter more than %d", size, held, budget)
			}
		}
	}
}

// TestTouchReachesTheEntries: of documents that are there, and of nothing else.
func TestTouchReachesTheEntries(t *testing.T) {
	d := newDocs(1 << 20)
	defer d.release()
	small := &schema.Row{Table: 1, ID: "small", TS: 0x0101, Value: []byte("v")}
	large := &schema.Row{Table: 1, ID: "large", TS: 1, Value: make([]byte, 2*slab.MaxBytes)}
	for _, row := range []*schema.Row{small, large} {
		d.put(d.hash(1, row.ID), row)
	}
	if d.touch([]uint32{d.hash(1, "small")}) == 0 {
		t.Error("of a small document: got nothing, want a part of its entry")
	}
	if d.touch([]uint32{d.hash(1, "large")})+d.touch([]uint32{d.hash(1, "none")}) != 0 {
		t.Error("of what has no entry: got something, want nothing")
	}
}

package schematest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// testPacked merges, merges again what a crash has torn, and forgets, at
// random, and compares every way of reading with a plain list.
func testPacked(t *testing.T, open Open) {
	seed := seed.Fresh(t)
	rnd := seed.Rand(0)
	e, _ := open(t)
	model := &entryModel{}
	var now schema.Timestamp
	for range 60 {
		fresh := model.newEntries(rnd, &now)
		switch rnd.IntN(5) {
		case 0: // a merge that ended early, and all of it again in other pieces
			torn := fresh[:rnd.IntN(len(fresh)+1)]
			merge(t, e, torn, 1+rnd.IntN(100))
			remerge(t, e, fresh[:len(fresh)/2])
			remerge(t, e, fresh[len(fresh)/2:])
		case 1:
			doomed := model.drawDoomed(rnd)
			a := e.Appender()
			must(t, a.Begin(), a.DeleteEntries(doomed), a.DeleteEntries(doomed), a.Commit())
			model.remove(doomed)
			merge(t, e, fresh, 1+rnd.IntN(200))
		case 2:
			doomed := model.draw(rnd, 3)
			a := e.Appender()
			must(t, a.Begin(), a.Forget(doomed), a.Commit())
			model.forget(doomed)
			merge(t, e, fresh, 1+rnd.IntN(200))
		default:
			merge(t, e, fresh, 1+rnd.IntN(200))
		}
		model.add(fresh)
	}
	s := session(t, e)
	whole, err := s.Entries(nil, schema.Entry{}, len(model.entries)+10)
	must(t, err)
	wantEntries(t, "all entries", whole, model.entries)
	for range 300 {
		model.compare(t, s, rnd, now)
	}
}

// merge writes entries in pieces, each in a transaction of its own.
func merge(t *testing.T, e schema.Engine, entries []schema.Entry, piece int) {
	t.Helper()
	for part := range slices.Chunk(entries, piece) {
		write(t, e, nil, part)
	}
}

// entryModel is all entries, in order.
type entryModel struct{ entries []schema.Entry }

var packedKeys = []string{"", "a", "ab", "b", "c"}

// newEntries makes entries of few keys, newer than all before, in order.
func (m *entryModel) newEntries(rnd *rand.Rand, now *schema.Timestamp) []schema.Entry {
	var fresh []schema.Entry
	for range 1 + rnd.IntN(300) {
		*now += schema.Timestamp(1 + rnd.Int64N(1<<rnd.IntN(40)))
		e := schema.Entry{Index: schema.Index(1, 1), TS: *now, Key: packedKeys[rnd.IntN(len(packedKeys))], Deleted: rnd.IntN(3) == 0, ID: "one"}
		switch rnd.IntN(20) {
		case 0:
			e.ID = "two" // the key moves to another document
		case 1, 2, 3:
			e.Index, e.ID, e.Key = schema.ByID(1), "", "d"
		}
		fresh = append(fresh, e)
	}
	slices.SortFunc(fresh, compareEntries)
	return fresh
}

func compareEntries(a, b schema.Entry) int {
	if a.Index != b.Index {
		return int(a.Index) - int(b.Index)
	}
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return int(a.TS - b.TS)
}

func (m *entryModel) add(entries []schema.Entry) {
	m.entries = append(m.entries, entries...)
	slices.SortFunc(m.entries, compareEntries)
}

// remove goes by index, key and ts.
func (m *entryModel) remove(doomed []schema.Entry) {
	m.entries = slices.DeleteFunc(m.entries, func(e schema.Entry) bool {
		return slices.ContainsFunc(doomed, func(d schema.Entry) bool { return compareEntries(d, e) == 0 })
	})
}

func (m *entryModel) forget(doomed []schema.Entry) {
	m.entries = slices.DeleteFunc(m.entries, func(e schema.Entry) bool {
		return slices.ContainsFunc(doomed, func(d schema.Entry) bool {
			return d.Index == e.Index && d.Key == e.Key && d.ID == e.ID && e.TS <= d.TS
		})
	})
}

// drawDoomed draws single entries, a stretch of the history of some key, with
// gaps or without, and what is not there, in any order or in theirs.
func (m *entryModel) drawDoomed(rnd *rand.Rand) []schema.Entry {
	doomed := m.draw(rnd, 20)
	if len(m.entries) == 0 {
		return doomed
	}
	from := rnd.IntN(len(m.entries))
	for _, e := range m.entries[from:min(from+rnd.IntN(400), len(m.entries))] {
		switch rnd.IntN(20) {
		case 0: // a gap
		case 1:
			doomed = append(doomed, e, schema.Entry{Index: e.Index, Key: e.Key, TS: e.TS + 1, ID: "any"})
		default:
			doomed = append(doomed, e)
		}
	}
	if rnd.IntN(2) == 0 {
		slices.SortFunc(doomed, compareEntries)
	}
	return doomed
}

func (m *entryModel) draw(rnd *rand.Rand, n int) (drawn []schema.Entry) {
	for range min(n, len(m.entries)) {
		drawn = append(drawn, m.entries[rnd.IntN(len(m.entries))])
	}
	return drawn
}

// compare reads at random and compares with the model.
func (m *entryModel) compare(t *testing.T, s schema.Session, rnd *rand.Rand, now schema.Timestamp) {
	t.Helper()
	asked := m.entries[rnd.IntN(len(m.entries))]
	from, to := rnd.Int64N(int64(now)), int64(asked.TS)+rnd.Int64N(3)-1
	if rnd.IntN(2) == 0 {
		from = int64(m.entries[rnd.IntN(len(m.entries))].TS) - 1
	}
	var between []schema.Entry
	var newest schema.Entry
	for _, e := range m.entries {
		if e.Index != asked.Index || e.Key != asked.Key || int64(e.TS) > to {
			continue
		}
		newest = e
		if int64(e.TS) > from {
			between = append(between, e)
		}
	}
	what := fmt.Sprintf("%d/%q in (%d, %d]", asked.Index, asked.Key, from, to)
	got, ok, err := s.Entry(asked.Index, asked.Key, schema.Timestamp(to))
	must(t, err)
	if ok != (newest.TS > 0) || ok && got != newest {
		t.Fatalf("newest entry of %s: got %v, %t, want %v", what, got, ok, newest)
	}
	limit := rnd.IntN(100)
	want := between
	if limit > 0 {
		want = between[:min(limit, len(between))]
	}
	list, err := s.Versions(nil, asked.Index, asked.Key, schema.Timestamp(from), schema.Timestamp(to), false, limit)
	must(t, err)
	wantEntries(t, "versions of "+what, list, want)
	slices.Reverse(between)
	want = between
	if limit > 0 {
		want = between[:min(limit, len(between))]
	}
	list, err = s.Versions(nil, asked.Index, asked.Key, schema.Timestamp(from), schema.Timestamp(to), true, limit)
	must(t, err)
	wantEntries(t, "versions backwards of "+what, list, want)
	m.compareScan(t, s, asked.Index, schema.Timestamp(to))
	page, err := s.Entries(nil, asked, 7)
	must(t, err)
	at, _ := slices.BinarySearchFunc(m.entries, asked, compareEntries)
	wantEntries(t, "entries behind "+what, page, m.entries[at+1:min(at+8, len(m.entries))])
}

// compareScan scans an index at a moment in both directions.
func (m *entryModel) compareScan(t *testing.T, s schema.Session, x schema.IndexID, at schema.Timestamp) {
	t.Helper()
	newest := map[string]schema.Entry{}
	for _, e := range m.entries {
		if e.Index == x && e.TS <= at {
			newest[e.Key] = e
		}
	}
	var live []schema.Entry
	for _, e := range newest {
		if !e.Deleted {
			live = append(live, e)
		}
	}
	slices.SortFunc(live, compareEntries)
	for _, reverse := range []bool{false, true} {
		wantEntries(t, fmt.Sprintf("scan at %d, reverse %t", at, reverse), scanAll(t, s, schema.KeyRange{Index: x, Reverse: reverse}, at, 3), live)
		slices.Reverse(live)
	}
}

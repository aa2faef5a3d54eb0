package index

// Fences are what a recount of the file finds, whatever was merged, interrupted,
// undone and replayed before; and with the tail's changes they tell how many
// keys lead somewhere at any moment.

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// fenceRig is a store whose ranges grow and shrink: the index by id of table 3,
// and a declared one of table 4, where documents give keys to each other.
type fenceRig struct {
	*testing.T
	random *rand.Rand
	engine schema.Engine
	s      schema.Session
	tables map[schema.TableID]*Table
	tail   *Tail
	merger *Merger
	d      Deriver

	ts     schema.Timestamp
	newest map[document]*schema.Row
	owner  map[string]string // of a score: no two documents have the same
	first  int               // where the ranges of table 3 grow
	last   int
	was    map[schema.IndexID]map[string][]schema.Entry // every entry by key, in the order of time
	old    bool                                         // an earlier version merges, which knows no fences
	seen   struct{ fences, split, joined, uncounted, counted, interrupted int }
}

func newFenceRig(t *testing.T) *fenceRig {
	g := &fenceRig{T: t, random: seeded(t), newest: map[document]*schema.Row{}, owner: map[string]string{}, was: map[schema.IndexID]map[string][]schema.Entry{}, ts: 100, old: true, last: 4000}
	g.engine, g.s = openSession(t)
	byValue := func(id string, value []byte, add func([]byte)) { add(value) }
	g.tables = map[schema.TableID]*Table{
		3: {ID: 3, Name: "elements", Prefix: 1},
		4: {ID: 4, Name: "scores", Prefix: 1, Indexes: []Spec{{Name: "score", Prefix: 1, Keys: byValue}}},
	}
	g.open()
	return g
}

// open replays what is not merged, as a store that is opened does.
func (g *fenceRig) open() {
	merged, err := ReadMerged(g.s)
	if err != nil {
		g.Fatal(err)
	}
	g.tail = NewTail(merged.Watermark)
	g.tail.Resume(merged.Merging)
	r := Replayer{Tables: g.tables, Session: g.s, Tail: g.tail}
	if _, err := r.Run(merged.Watermark); err != nil {
		g.Fatal(err)
	}
	g.merger = NewMerger(g.tail, g.tables)
	if g.old {
		g.merger = NewMerger(g.tail, nil)
	}
	g.merger.walk = 50
}

func fenceKey(r, n int) string {
	return string(tuple.AppendInt(tuple.AppendInt(nil, int64(r)), int64(n)))
}

// commit writes one transaction of changes: ids of a table, and their values; a
// nil value deletes.
func (g *fenceRig) commit(t schema.TableID, values map[string][]byte) {
	g.Helper()
	g.ts += schema.Timestamp(1 + g.random.IntN(3))
	var rows []*schema.Row
	var entries []schema.Entry
	for id, value := range values {
		old := g.newest[document{t, id}]
		if value == nil && (old == nil || old.Deleted) {
			continue
		}
		row := &schema.Row{TS: g.ts, Table: t, ID: id, Value: value, Deleted: value == nil}
		if old != nil {
			row.Prev = old.TS
		}
		entries = g.d.Derive(entries, g.tables[t], old, row)
		rows = append(rows, row)
		g.newest[document{t, id}] = row
	}
	for _, row := range rows {
		if t == 4 && row.Prev != 0 {
			maps.DeleteFunc(g.owner, func(_, owner string) bool { return owner == row.ID })
		}
	}
	for _, row := range rows {
		if t == 4 && !row.Deleted {
			g.owner[string(row.Value)] = row.ID
		}
	}
	if len(rows) == 0 {
		return
	}
	inTransaction(g.T, g.engine, func(a schema.Appender) error { return a.Append(rows) })
	g.tail.Insert(entries)
	for _, e := range entries {
		of := g.was[e.Index]
		if of == nil {
			of = map[string][]schema.Entry{}
			g.was[e.Index] = of
		}
		if n := len(of[e.Key]); n > 0 && of[e.Key][n-1].TS == e.TS {
			if !e.Deleted { // from one document to another
				of[e.Key][n-1] = e
			}
			continue
		}
		of[e.Key] = append(of[e.Key], e)
	}
}

// write commits one transaction of a kind that is drawn.
func (g *fenceRig) write() {
	r, values := g.random.IntN(3), map[string][]byte{}
	kind := g.random.IntN(6)
	if g.old {
		kind = 3 * g.random.IntN(2)
	}
	switch kind {
	case 0: // many in order, as a list grows
		from := g.random.IntN(3000)
		switch g.random.IntN(3) { // behind or before all that there are
		case 0:
			from, g.last = g.last, g.last+700
		case 1:
			from, g.first = g.first-700, g.first-700
		}
		for n := range g.random.IntN(700) {
			values[fenceKey(r, from+n)] = []byte{}
		}
		g.commit(3, values)
	case 1: // a stretch goes
		from := g.random.IntN(3000)
		for n := range g.random.IntN(1800) {
			values[fenceKey(r, from+n)] = nil
		}
		g.commit(3, values)
	case 2: // here and there
		for range g.random.IntN(60) {
			values[fenceKey(r, g.random.IntN(4000))] = [][]byte{nil, {}, {1}}[g.random.IntN(3)]
		}
		g.commit(3, values)
	case 3: // scores
		for range g.random.IntN(500) {
			n := g.random.IntN(1500)
			score := fenceKey(r, n+2000*g.random.IntN(3))
			if owner, taken := g.owner[score]; !taken || owner == fenceKey(r, n) {
				values[fenceKey(r, n)] = []byte(score)
			}
		}
		g.commit(4, values)
	case 4:
		for range g.random.IntN(300) {
			values[fenceKey(r, g.random.IntN(1500))] = nil
		}
		g.commit(4, values)
	default: // two give their keys to each other
		a, b := fenceKey(r, g.random.IntN(1500)), fenceKey(r, g.random.IntN(1500))
		x, y := g.newest[document{4, a}], g.newest[document{4, b}]
		if a != b && x != nil && y != nil && !x.Deleted && !y.Deleted {
			g.commit(4, map[string][]byte{a: y.Value, b: x.Value})
		}
	}
}

// merge writes a slice, which may fail, or be the last that a process wrote.
func (g *fenceRig) merge() {
	if !g.merger.Active() && !g.merger.Start(nil) {
		return
	}
	a := g.engine.Appender()
	n := 1 + g.random.IntN([]int{10, 400, 3000, 3000}[g.random.IntN(4)])
	if err := a.Begin(); err != nil {
		g.Fatal(err)
	}
	if _, err := g.merger.Write(a, n); err != nil {
		g.Fatal(err)
	}
	if g.random.IntN(6) == 0 { // the disk is full
		if err := a.Rollback(); err != nil {
			g.Fatal(err)
		}
		return
	}
	if err := a.Commit(); err != nil {
		g.Fatal(err)
	}
	if g.random.IntN(12) == 0 { // and then the process is killed
		if g.merger.Active() {
			g.seen.interrupted++
		}
		g.open()
		return
	}
	g.merger.Committed()
}

// upgrade kills the earlier version in the middle of a merge, which leaves no
// note of that.
func (g *fenceRig) upgrade() {
	for range 20 {
		g.write()
	}
	if g.merger.Active() || g.merger.Start(nil) {
		inTransaction(g.T, g.engine, func(a schema.Appender) error {
			_, err := g.merger.Write(a, g.tail.Runs().Frozen.Len()/2)
			return err
		})
		g.seen.interrupted++
	}
	g.old = false
	g.open()
}

// all are the fences of an index.
func (g *fenceRig) all(x schema.IndexID) []schema.Fence {
	fences, err := g.s.Fences(nil, schema.KeyRange{Index: x}, "", 0)
	if err != nil {
		g.Fatal(err)
	}
	return fences
}

// recount holds the fences against the entries of the file.
func (g *fenceRig) recount(x schema.IndexID) {
	g.Helper()
	fences := g.all(x)
	g.seen.fences += len(fences)
	entries, err := g.s.Entries(nil, schema.Entry{Index: x}, 1<<30)
	if err != nil {
		g.Fatal(err)
	}
	for i, f := range fences {
		n, _ := tuple.PrefixLen(f.Key, 1)
		prefix := f.Key[:n]
		if i == 0 || !strings.HasPrefix(fences[i-1].Key, prefix) {
			if f.Key != prefix {
				g.Fatalf("index %d: the first fence of a range is %q, want its prefix", x, f.Key)
			}
		}
		live, changed := int64(0), schema.Timestamp(0)
		for j, e := range entries {
			if e.Index != x || !strings.HasPrefix(e.Key, prefix) || e.Key < f.Key {
				continue
			}
			if i+1 < len(fences) && e.Key >= fences[i+1].Key {
				break
			}
			first := j == 0 || entries[j-1].Key != e.Key || entries[j-1].Index != x
			if first && !e.Deleted || !first && entries[j-1].Deleted != e.Deleted {
				changed = max(changed, e.TS)
			}
			if !e.Deleted && (j+1 == len(entries) || entries[j+1].Key != e.Key) {
				live++
			}
		}
		switch {
		case f.Live == schema.Uncounted:
			g.seen.uncounted++
		case f.Live != live:
			g.Fatalf("index %d: the fence at %q says %d at %d, there are %d", x, f.Key, f.Live, f.TS, live)
		case f.TS < changed:
			g.Fatalf("index %d: the fence at %q is of %d, a key has changed at %d", x, f.Key, f.TS, changed)
		}
	}
}

// liveAt is how many keys from from to to lead somewhere at a moment.
func (g *fenceRig) liveAt(x schema.IndexID, from, to string, at schema.Timestamp) (live int64) {
	for key, versions := range g.was[x] {
		if key < from || key >= to {
			continue
		}
		i, _ := slices.BinarySearchFunc(versions, at+1, func(e schema.Entry, ts schema.Timestamp) int { return int(e.TS - ts) })
		if i > 0 && !versions[i-1].Deleted {
			live++
		}
	}
	return live
}

// changedBy is when a key from from to to last began or ceased to lead somewhere
// up to a moment.
func (g *fenceRig) changedBy(x schema.IndexID, from, to string, at schema.Timestamp) (changed schema.Timestamp) {
	for key, versions := range g.was[x] {
		if key < from || key >= to {
			continue
		}
		dead := true
		for _, e := range versions {
			if e.TS <= at && e.Deleted != dead {
				changed = max(changed, e.TS)
			}
			dead = e.Deleted
		}
	}
	return changed
}

// ask holds what FencesAt says against what was written.
func (g *fenceRig) ask(runs Runs, x schema.IndexID, at schema.Timestamp) {
	g.Helper()
	kr := PrefixRange(x, string(tuple.AppendInt(nil, int64(g.random.IntN(3)))))
	if err := g.s.Begin(); err != nil {
		g.Fatal(err)
	}
	defer g.s.End()
	fences, err := FencesAt(nil, g.s, runs, kr, at)
	if err != nil {
		g.Fatal(err)
	}
	for i, f := range fences {
		to := kr.To
		if i+1 < len(fences) {
			to = fences[i+1].Key
		}
		if f.Live == schema.Uncounted {
			continue
		}
		g.seen.counted++
		if changed := g.changedBy(x, f.Key, to, at); f.TS < changed {
			g.Fatalf("index %d at %d: the interval at %q has not changed since %d, want %d", x, at, f.Key, f.TS, changed)
		}
		if want := g.liveAt(x, f.Key, to, at); f.Live != want {
			g.Fatalf("index %d at %d: the interval at %q has %d, want %d (of %d intervals)", x, at, f.Key, f.Live, want, len(fences))
		}
	}
}

func TestFencesAreWhatARecountFinds(t *testing.T) {
	g := newFenceRig(t)
	steps := race.Lighter(1000, 400)
	indexes := []schema.IndexID{schema.ByID(3), schema.ByID(4), schema.Index(4, 1)}
	fences := map[schema.IndexID]int{}
	for step := range steps {
		if g.old && step > steps/8 {
			g.upgrade()
		}
		runs, now := g.tail.Runs(), g.ts
		x := indexes[g.random.IntN(len(indexes))]
		if step%3 == 0 {
			g.write()
		} else {
			g.merge()
			g.recount(x)
		}
		at := now
		if step%2 == 0 {
			at = 100 + schema.Timestamp(g.random.Int64N(int64(now-100)+1))
		}
		g.ask(runs, x, at) // with runs of before the merge
		g.ask(g.tail.Runs(), x, at)
		n := len(g.all(x))
		if n > fences[x] {
			g.seen.split++
		} else if n < fences[x] {
			g.seen.joined++
		}
		fences[x] = n
	}
	if s := g.seen; s.fences == 0 || s.split == 0 || s.joined == 0 || s.uncounted == 0 || s.counted == 0 || s.interrupted == 0 {
		t.Errorf("not everything has happened: %+v", g.seen)
	}
}

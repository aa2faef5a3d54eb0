package index

// What a replay of the log derives is what was derived when it was written,
// wherever the watermark stands and however often it merges on the way.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// lived is a history as it was derived when it happened.
type lived struct {
	entries []schema.Entry
	counts  []Counts // after the n-th commit
	commits []schema.Timestamp
}

// live writes a random history of table into the log, and nothing else.
func live(t *testing.T, random *rand.Rand, e schema.Engine, table *Table, commits int) lived {
	t.Helper()
	var h lived
	var d Deriver
	newest, counts := map[string]*schema.Row{}, Counts{}
	vocabulary := []string{"red", "green", "blue", "cyan"}
	for n := range commits {
		ts := schema.Timestamp(100 + 10*n)
		changed := map[string]*schema.Row{}
		for range 1 + random.IntN(5) {
			id := string(tuple.AppendInt(tuple.AppendInt(nil, int64(random.IntN(3))), int64(random.IntN(5))))
			next := &schema.Row{TS: ts, Table: table.ID, ID: id, Deleted: random.IntN(3) == 0}
			if !next.Deleted {
				next.Value = fmt.Appendf(nil, "%s %s", vocabulary[random.IntN(4)], id)
			}
			if old := newest[id]; old != nil {
				next.Prev = old.TS
			}
			changed[id] = next
		}
		var rows []*schema.Row
		for id, next := range changed {
			h.entries = d.Derive(h.entries, table, newest[id], next)
			table.count(counts, newest[id] != nil && !newest[id].Deleted, next)
			newest[id] = next
			rows = append(rows, next)
		}
		inTransaction(t, e, func(a schema.Appender) error { return a.Append(rows) })
		h.counts = append(h.counts, counts.clone())
		h.commits = append(h.commits, ts)
	}
	slices.SortFunc(h.entries, compare)
	return h
}

// ownKeys finds a document by its first word and its id, so that keys are
// unique.
func ownKeys(id string, value []byte, add func([]byte)) { add(append(slices.Clip(value[:3]), id...)) }

func replayTable() *Table {
	return &Table{ID: 3, Name: "notes", Prefix: 1, Counted: true, Indexes: []Spec{{Name: "own", Keys: ownKeys}}}
}

func TestReplayEqualsLife(t *testing.T) {
	random := seeded(t)
	e, s := openSession(t)
	table := replayTable()
	h := live(t, random, e, table, 600)
	for range 10 {
		n := random.IntN(len(h.commits))
		watermark := h.commits[n]
		tail, counts := NewTail(watermark), h.counts[n].clone()
		shown := 0
		r := Replayer{Tables: map[schema.TableID]*Table{3: table}, Session: s, Tail: tail, Counts: counts, Row: func(*schema.Visit) error { shown++; return nil }}
		last, err := r.Run(watermark)
		if err != nil || last != h.commits[len(h.commits)-1] {
			t.Fatalf("replay behind %d: got %d, %v, want %d", watermark, last, err, h.commits[len(h.commits)-1])
		}
		var want []schema.Entry
		rows := 0
		for _, entry := range h.entries {
			if entry.TS > watermark {
				want = append(want, entry)
				if entry.Index.Number() == 0 {
					rows++
				}
			}
		}
		got := tail.Runs().Active.all()
		if !slices.Equal(got, want) {
			t.Errorf("entries behind %d: got %d, want the %d of the history", watermark, len(got), len(want))
		}
		if want := h.counts[len(h.counts)-1]; !sameCounts(counts, want) {
			t.Errorf("counts behind %d:\n got %v\nwant %v", watermark, counts, want)
		}
		if shown != rows {
			t.Errorf("rows shown behind %d: got %d, want %d", watermark, shown, rows)
		}
	}
}

// TestReplayMergesOnTheWay rebuilds an index in small steps; each leaves the
// file as if the log had ended there.
func TestReplayMergesOnTheWay(t *testing.T) {
	random := seeded(t)
	e, s := openSession(t)
	table := replayTable()
	h := live(t, random, e, table, 300)
	tail, counts := NewTail(0), Counts{}
	merges := 0
	merge := func(upTo schema.Timestamp) error {
		m := NewMerger(tail, nil)
		if random.IntN(5) > 0 || !m.Start(counts) {
			return nil
		}
		merges++
		for m.Active() {
			inTransaction(t, e, func(a schema.Appender) error { _, err := m.Write(a, 7); return err })
			m.Committed()
		}
		at := slices.Index(h.commits, upTo)
		now, err := e.Session() // the replay's own is in a read transaction
		if err != nil {
			return err
		}
		defer now.Close()
		stored, err := ReadCounts(now)
		if watermark, _ := ReadWatermark(now); watermark != upTo || err != nil || !sameCounts(stored, h.counts[at]) {
			t.Errorf("merged up to %d: got watermark %d and counts %v, %v, want %v", upTo, watermark, stored, err, h.counts[at])
		}
		return nil
	}
	r := Replayer{Tables: map[schema.TableID]*Table{3: table}, Session: s, Tail: tail, Counts: counts, Full: merge}
	if _, err := r.Run(0); err != nil {
		t.Fatal(err)
	}
	got, err := s.Entries(nil, schema.Entry{}, len(h.entries)+1)
	if err != nil || merges == 0 {
		t.Fatalf("entries in the file: got %v after %d merges, want no error after some", err, merges)
	}
	got = append(got, tail.Runs().Active.all()...)
	slices.SortFunc(got, compare)
	if !slices.EqualFunc(got, h.entries, stored) {
		t.Errorf("entries: got %d in the file and the tail, want the %d of the history", len(got), len(h.entries))
	}
}

// stored says whether an entry of the file, or one of the tail, is what was
// derived: the file does not keep Changes.
func stored(got, derived schema.Entry) bool {
	got.Changes = derived.Changes
	return got == derived
}

func TestReplayRefusesWhatItCannotDerive(t *testing.T) {
	e, s := openSession(t)
	inTransaction(t, e, func(a schema.Appender) error {
		return a.Append([]*schema.Row{{TS: 1, Table: 9, ID: "x", Value: []byte{}}})
	})
	r := Replayer{Tables: map[schema.TableID]*Table{3: replayTable()}, Session: s, Tail: NewTail(0)}
	if _, err := r.Run(0); !errors.Is(err, ErrDeclaration) {
		t.Errorf("replay of an undeclared table: got %v, want ErrDeclaration", err)
	}
	stop := errors.New("stop")
	r = Replayer{Tables: map[schema.TableID]*Table{9: {ID: 9}}, Session: s, Tail: NewTail(0), Full: func(schema.Timestamp) error { return stop }}
	if _, err := r.Run(0); !errors.Is(err, stop) {
		t.Errorf("replay whose merge fails: got %v, want its error", err)
	}
}

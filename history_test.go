package firn

// The rule: what History, Changed, Diff and Revert say follows from the
// versions alone, wherever these are; and what cannot be known is an error.

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/tuple"
)

// pastModel is every version of every note that was written: its value, or ""
// for a tombstone.
type pastModel struct {
	commits []Timestamp
	at      map[Timestamp]map[string]string
}

// state is what there was at a moment.
func (m *pastModel) state(ts Timestamp) map[string]string {
	state := map[string]string{}
	for _, c := range m.commits {
		if c > ts {
			break
		}
		maps.Copy(state, m.at[c])
	}
	maps.DeleteFunc(state, func(_, value string) bool { return value == "" })
	return state
}

// changed is what Changed is to find.
func (m *pastModel) changed(from, to Timestamp) (all []string) {
	for i, c := range m.commits {
		if c <= from || c > to {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(m.at[c])) {
			again := slices.ContainsFunc(m.commits[i+1:], func(later Timestamp) bool {
				_, ok := m.at[later][id]
				return ok && later <= to
			})
			if !again {
				all = append(all, fmt.Sprintf("%s@%d=%s", id, c, m.at[c][id]))
			}
		}
	}
	return all
}

// diff is what Diff is to find.
func (m *pastModel) diff(prefix string, from, to Timestamp) (all []string) {
	before, after := m.state(from), m.state(to)
	ids := maps.Clone(before)
	maps.Copy(ids, after)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if strings.HasPrefix(id, prefix) && before[id] != after[id] {
			all = append(all, fmt.Sprintf("%s: %s -> %s", id, before[id], after[id]))
		}
	}
	return all
}

// fillPast writes random notes, with a fixed seed, and a few rows of another
// table between them.
func fillPast(t *testing.T, s *Store, m *pastModel, rng *rand.Rand, commits int) {
	t.Helper()
	notes := s.Table("notes")
	for range commits {
		wrote := map[string]string{}
		ts, err := s.Update(t.Context(), func(tx *Tx) error {
			if err := tx.Put(s.Table("things"), thingID(0, rng.IntN(5)), []byte("red:1")); err != nil {
				return err
			}
			for range rng.IntN(3) + 1 {
				id := fmt.Sprintf("%c%d", 'a'+rune(rng.IntN(3)), rng.IntN(6))
				value := fmt.Sprint(rng.IntN(3))
				if _, err := tx.Get(notes, []byte(id)); err == nil && rng.IntN(4) == 0 {
					wrote[id] = ""
					if err := tx.Delete(notes, []byte(id), nil); err != nil {
						return err
					}
					continue
				}
				wrote[id] = value
				if err := tx.Put(notes, []byte(id), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.commits = append(m.commits, ts)
		m.at[ts] = wrote
	}
}

// showDoc is a document's value; "" if there is none.
func showDoc(doc *Document) string {
	if doc == nil || doc.Deleted {
		return ""
	}
	return string(doc.Value)
}

func TestThePastFollowsFromTheVersions(t *testing.T) {
	for name, o := range map[string]Options{
		"hot": {}, "cold": {Memory: -1}, "merged": {TailEntries: 1}, "both": {Memory: -1, TailEntries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			seed := seed.Fresh(t)
			rng := seed.Rand(0)
			s, m := openNew(t, o), &pastModel{at: map[Timestamp]map[string]string{}}
			fillPast(t, s, m, rng, 3*changedPage/2)
			for range 60 {
				// In the middle of one transaction and between two, in any order.
				from := m.commits[rng.IntN(len(m.commits))] - Timestamp(rng.IntN(2))
				to := m.commits[rng.IntN(len(m.commits))]
				checkPast(t, s, m, max(from, s.Bounds().Oldest), to)
			}
			checkReverts(t, s, m, rng)
		})
	}
}

// checkPast holds what the store says of an interval against the model.
func checkPast(t *testing.T, s *Store, m *pastModel, from, to Timestamp) {
	t.Helper()
	notes := s.Table("notes")
	var got []string
	err := s.Changed(notes, nil, from, to, func(doc *Document) error {
		got = append(got, fmt.Sprintf("%s@%d=%s", doc.ID, doc.TS, showDoc(doc)))
		return nil
	})
	if want := m.changed(from, to); err != nil || !slices.Equal(got, want) {
		t.Fatalf("changed in (%d, %d]:\n got %q, %v\nwant %q", from, to, got, err, want)
	}
	for _, prefix := range []string{"", "b", "c3"} {
		got = nil
		err := s.Diff(notes, []byte(prefix), from, to, func(before, after *Document) error {
			doc := before
			if doc == nil {
				doc = after
			}
			got = append(got, fmt.Sprintf("%s: %s -> %s", doc.ID, showDoc(before), showDoc(after)))
			return nil
		})
		if want := m.diff(prefix, from, to); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q between %d and %d:\n got %q, %v\nwant %q", prefix, from, to, got, err, want)
		}
	}
}

// checkReverts goes back to some moments, and sees that only what differs was
// written.
func checkReverts(t *testing.T, s *Store, m *pastModel, rng *rand.Rand) {
	t.Helper()
	notes := s.Table("notes")
	for range 10 {
		then := m.commits[rng.IntN(len(m.commits))]
		for _, prefix := range []string{"b", "a3", ""} {
			now := s.Bounds().Newest
			want, rows := m.diff(prefix, now, then), s.Stats().Rows
			ts, err := s.Update(t.Context(), func(tx *Tx) error {
				if err := tx.Put(s.Table("things"), thingID(1, 1), []byte("red:1")); err != nil {
					return err
				}
				return tx.Revert(notes, []byte(prefix), then)
			})
			if err != nil {
				t.Fatal(err)
			}
			wrote := map[string]string{}
			for _, line := range want {
				id, change, _ := strings.Cut(line, ": ")
				_, wrote[id], _ = strings.Cut(change, " -> ")
			}
			m.commits, m.at[ts] = append(m.commits, ts), wrote
			if got := s.Stats().Rows - rows; got != int64(len(want))+1 {
				t.Errorf("reverting %q to %d: got %d rows, want %d", prefix, then, got, len(want)+1)
			}
			if left := m.diff(prefix, then, ts); len(left) > 0 {
				t.Fatalf("the test's model is wrong: %q", left)
			}
			checkPast(t, s, m, now, ts)
			checkPast(t, s, m, then, ts)
		}
	}
}

func TestHistoryOfADocument(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	first := put(t, s, notes, "a", "1")
	second := put(t, s, notes, "a", "2")
	third := put(t, s, notes, "a", "3")
	for _, tt := range []struct {
		r    VersionRange
		want string
	}{
		{VersionRange{}, "1 2 3"},
		{VersionRange{Newest: true}, "3 2 1"},
		{VersionRange{Newest: true, Limit: 2}, "3 2"},
		{VersionRange{From: second}, "2 3"},
		{VersionRange{To: second}, "1 2"},
		{VersionRange{From: first + 1, To: third - 1}, "2"},
	} {
		var got []string
		for doc, err := range s.History(notes, []byte("a"), tt.r) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(doc.Value))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.r, got, tt.want)
		}
	}
	for doc := range s.History(notes, []byte("a"), VersionRange{}) {
		if string(doc.Value) != "1" {
			t.Errorf("after leaving the loop: got %s", doc.Value)
		}
		break
	}
}

// TestWhatCannotBeKnownIsAnError asks about moments that are gone, and others
// that have not come.
func TestWhatCannotBeKnownIsAnError(t *testing.T) {
	s := openNew(t, Options{})
	notes, none := s.Table("notes"), s.Table("nothing")
	put(t, s, notes, "a", "1")
	oldest, newest := s.Bounds().Oldest, s.Bounds().Newest
	future := newest + Timestamp(time.Hour.Microseconds())
	revert := func(table *Table, to Timestamp) error {
		ts, err := s.Update(t.Context(), func(tx *Tx) error { return tx.Revert(table, []byte("a"), to) })
		if ts != 0 {
			t.Errorf("Revert to %d wrote at %d, want nothing", to, ts)
		}
		return err
	}
	walk := func(table *Table, from, to Timestamp) error {
		return first(s.History(table, []byte("b"), VersionRange{From: from, To: to}))
	}
	seen := func(*Document) error { return nil }
	both := func(before, after *Document) error { return nil }
	for _, tt := range []struct {
		what string
		err  error
		want error
	}{
		{"History from before", walk(notes, oldest-1, 0), ErrCompacted},
		{"History to before", walk(notes, 0, oldest-1), ErrCompacted},
		{"History to the future", walk(notes, 0, future), ErrFuture},
		{"History of no table", walk(none, 0, 0), ErrTable},
		{"History from the horizon", walk(notes, oldest, newest), nil},
		{"Changed from before", s.Changed(notes, nil, oldest-1, newest, seen), ErrCompacted},
		{"Changed to the future", s.Changed(notes, nil, oldest, future, seen), ErrFuture},
		{"Changed in no table", s.Changed(none, nil, oldest, newest, seen), ErrTable},
		{"Changed from the horizon", s.Changed(notes, nil, oldest, newest, seen), nil},
		{"Changed backwards", s.Changed(notes, nil, newest, oldest, seen), nil},
		{"Diff from before", s.Diff(notes, nil, oldest-1, newest, both), ErrCompacted},
		{"Diff to before", s.Diff(notes, nil, newest, oldest-1, both), ErrCompacted},
		{"Diff to the future", s.Diff(notes, nil, oldest, future, both), ErrFuture},
		{"Diff of no table", s.Diff(none, nil, oldest, newest, both), ErrTable},
		{"Revert to before", revert(notes, oldest-1), ErrCompacted},
		{"Revert to the future", revert(notes, future), ErrFuture},
		{"Revert of no table", revert(none, oldest), ErrTable},
		{"Revert to now", revert(notes, newest), nil},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.what, tt.err, tt.want)
		}
	}
	enough := errors.New("enough")
	if err := s.Changed(notes, nil, oldest, newest, func(*Document) error { return enough }); err != enough {
		t.Errorf("Changed: got %v, want the function's error", err)
	}
	if err := s.Diff(notes, nil, oldest, newest, func(_, _ *Document) error { return enough }); err != enough {
		t.Errorf("Diff: got %v, want the function's error", err)
	}
}

// TestChangedMayBeUsedToWrite: the walk ends although each document is written
// again while it goes on.
func TestChangedMayBeUsedToWrite(t *testing.T) {
	s := openNew(t, Options{})
	notes, from := s.Table("notes"), s.Bounds().Oldest
	var last Timestamp
	for i := range 10 {
		last = put(t, s, notes, fmt.Sprint(i), "old")
	}
	n := 0
	err := s.Changed(notes, nil, from, last, func(doc *Document) error {
		n++
		_, err := s.Update(t.Context(), func(tx *Tx) error { return tx.Put(notes, []byte(doc.ID), []byte("new")) })
		return err
	})
	if err != nil || n != 10 {
		t.Errorf("got %d documents, %v, want 10", n, err)
	}
}

// TestTombstonesOfWhatCameAgain has a document that ended and came again while
// its range was in memory: then the head has it in the range's newest edition
// alone, and must not say of an older one that it never was.
func TestTombstonesOfWhatCameAgain(t *testing.T) {
	s := openNew(t, Options{Tables: []TableSpec{{Name: "things", Prefix: 1, Counted: true}}})
	things, id := s.Table("things"), tuple.AppendInt(tuple.AppendInt(nil, 1), 7)
	put(t, s, things, string(id), "first")
	if err := s.View(func(snap *Snapshot) error {
		_, err := snap.Ordered(things.ByID(), tuple.AppendInt(nil, 1))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	put(t, s, things, string(tuple.AppendInt(tuple.AppendInt(nil, 1), 8)), "beside it")
	ended, err := s.Update(t.Context(), func(tx *Tx) error { return tx.Delete(things, id, []byte("gone")) })
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, things, string(id), "second")
	if err := s.At(ended, func(snap *Snapshot) error {
		doc, err := snap.Last(things, id)
		if err != nil || !doc.Deleted || doc.TS != ended {
			t.Errorf("at its end: got %v, %v, want the tombstone of %d", doc, err, ended)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

package firn

// Who follows few documents gets the same whether they are found in the log or
// by the index, wherever their versions are, and does not read what all others
// did.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
)

// pages follows a filter page by page to the newest commit.
func pages(t *testing.T, s *Store, after Timestamp, f journal.Filter) (got []string, pages int) {
	t.Helper()
	for more := true; more; pages++ {
		p, err := s.Journal().Page(after, &f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Commits {
			got = append(got, showCommit(c))
		}
		if p.More && p.TS <= after {
			t.Fatalf("a page behind %d ends at %d, and there is more", after, p.TS)
		}
		after, more = p.TS, p.More
	}
	return got, pages
}

// busy writes random notes among many others.
func busy(t *testing.T, s *Store, v seed.Value, stream uint64, commits int) {
	t.Helper()
	rng := v.Rand(stream)
	for i := range commits {
		if _, err := s.Update(t.Context(), func(tx *Tx) error {
			for range 20 {
				if err := tx.Put(s.Table("notes"), fmt.Appendf(nil, "other:%d", rng.IntN(1000)), fmt.Append(nil, i)); err != nil {
					return err
				}
			}
			id := fmt.Appendf(nil, "mine:%d", rng.IntN(12))
			switch rng.IntN(40) {
			case 0:
				return tx.Delete(s.Table("notes"), id, nil)
			case 1, 2:
				return tx.Put(s.Table("notes"), id, fmt.Append(nil, i))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFewDocumentsAreFoundByTheIndex(t *testing.T) {
	v := seed.Fresh(t)
	s := openNew(t, Options{FollowBytes: -1, TailEntries: 3000, Memory: -1})
	began := s.Bounds().Newest
	few := journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("mine:1"), []byte("mine:3"), []byte("mine:"), []byte("mine:7")}, MaxRows: 100, MaxCommits: 7}
	all := few
	all.Prefixes, all.Keep = nil, func(_ string, doc *schema.Row) bool { return strings.HasPrefix(doc.ID, "mine:") }
	kept := few
	kept.Keep = func(_ string, doc *schema.Row) bool { return doc.ID != "mine:3" }
	for round := range 3 {
		busy(t, s, v, uint64(round), 300)
		for _, after := range []Timestamp{began, (began + s.Bounds().Newest) / 2, s.Bounds().Newest - 1} {
			got, byIndex := pages(t, s, after, few)
			want, byLog := pages(t, s, after, all)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, behind %d: got %d commits, want %d:\n got %q\nwant %q", round, after, len(got), len(want), got, want)
			}
			if after == began && byIndex > byLog/4 {
				t.Errorf("round %d: got %d pages by the index, and %d by the log", round, byIndex, byLog)
			}
			got, _ = pages(t, s, after, kept)
			want = slices.DeleteFunc(want, func(c string) bool { return strings.Contains(c, "/mine:3=") || strings.Contains(c, "/mine:3 ") })
			if !slices.Equal(got, want) {
				t.Errorf("round %d, with Keep: got %q, want %q", round, got, want)
			}
		}
		if round == 1 { // the tail is read again
			o := s.opts
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openAt(t, s.engine.Path(), o)
		}
	}
	if s.tail.Watermark() <= began {
		t.Error("nothing was merged into the file: the test proves less than it says")
	}
}

// TestManyDocumentsAreFoundInTheLog asks for a prefix with more than are looked
// up one by one.
func TestManyDocumentsAreFoundInTheLog(t *testing.T) {
	s := openNew(t, Options{FollowBytes: -1})
	began := s.Bounds().Newest
	if _, err := s.Update(t.Context(), func(tx *Tx) error {
		for i := range 3000 {
			if err := tx.Put(s.Table("notes"), fmt.Appendf(nil, "many:%d", i), nil); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	after := s.Bounds().Newest
	busy(t, s, seed.Fixed(t, 1), 1, 50)
	f := journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("many:")}, MaxRows: 100}
	if got, n := pages(t, s, after, f); len(got) != 0 || n < 10 {
		t.Errorf("behind them: got %d commits and %d pages, want none, and a page for each hundred rows", len(got), n)
	}
	if got, _ := pages(t, s, began, f); len(got) != 1 || strings.Count(got[0], "many:") != 3000 {
		t.Errorf("all: got %d commits, want one of 3,000 documents", len(got))
	}
}

// TestABusyDocumentHidesNoOther follows many documents, one of which was written
// more often than is gathered of each at once.
func TestABusyDocumentHidesNoOther(t *testing.T) {
	s := openNew(t, Options{FollowBytes: -1})
	began := s.Bounds().Newest
	for i := range 600 {
		if _, err := s.Update(t.Context(), func(tx *Tx) error {
			for n := range 150 {
				if err := tx.Put(s.Table("notes"), fmt.Appendf(nil, "other:%d", n), nil); err != nil {
					return err
				}
			}
			id := fmt.Appendf(nil, "few:%d", i)
			if i%3 > 0 {
				id = []byte("few:busy")
			}
			return tx.Put(s.Table("notes"), id, fmt.Append(nil, i))
		}); err != nil {
			t.Fatal(err)
		}
	}
	few := journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("few:")}, MaxRows: 10_000}
	all := few
	all.Prefixes, all.Keep = nil, func(_ string, doc *schema.Row) bool { return strings.HasPrefix(doc.ID, "few:") }
	got, n := pages(t, s, began, few)
	if want, _ := pages(t, s, began, all); !slices.Equal(got, want) || len(got) != 600 || n > 6 {
		t.Errorf("got %d commits in %d pages, want %d in few:\n got %q\nwant %q", len(got), n, len(want), got, want)
	}
}

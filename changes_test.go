package firn

// Who follows gets every commit once, in order and whole, from memory or from
// the file, and is told when that cannot be.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
)

// showCommit is a commit as "ts table/id=value table/id gone".
func showCommit(c journal.Commit) string {
	var b strings.Builder
	fmt.Fprint(&b, c.TS)
	for _, change := range c.Changes {
		if change.Doc.TS != c.TS {
			fmt.Fprintf(&b, " [a change of %d]", change.Doc.TS)
		}
		if change.Doc.Deleted {
			fmt.Fprintf(&b, " %s/%s gone", change.Table, change.Doc.ID)
		} else {
			fmt.Fprintf(&b, " %s/%s=%s", change.Table, change.Doc.ID, change.Doc.Value)
		}
	}
	return b.String()
}

// logged is the log behind a moment as commits are shown.
func committed(t *testing.T, s *Store, after Timestamp) []string {
	t.Helper()
	var all []journal.Commit
	if err := s.Log(after+1, 0, func(table string, doc *Document) error {
		if len(all) == 0 || all[len(all)-1].TS != doc.TS {
			all = append(all, journal.Commit{TS: doc.TS})
		}
		last := &all[len(all)-1]
		last.Changes = append(last.Changes, journal.Change{Table: table, Doc: doc})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, c := range all {
		shown = append(shown, showCommit(c))
	}
	return shown
}

// follow gathers commits until a moment is passed.
func follow(t *testing.T, s *Store, from string, f journal.Filter, to Timestamp) (got []string) {
	t.Helper()
	for c, err := range s.Changes(t.Context(), from, f) {
		if err != nil {
			t.Fatalf("follow from %s: %v", from, err)
		}
		if !c.Bookmark() {
			got = append(got, showCommit(c))
		}
		if c.TS >= to {
			break
		}
	}
	return got
}

// TestFeedIsTheLog follows random traffic with rings of several sizes, from
// memory and from the file, and goes on from random tokens.
func TestFeedIsTheLog(t *testing.T) {
	for _, ring := range []int64{-1, 1, 2000, 1 << 20} {
		t.Run(fmt.Sprintf("ring=%d", ring), func(t *testing.T) {
			drawn := seed.Fresh(t)
			rng, hopping := drawn.Rand(1), drawn.Rand(2)
			s := openNew(t, Options{FollowBytes: ring})
			began := s.Bounds().Newest
			keep := s.Journal().Follow(began) // the ring is filled though nobody reads
			defer keep.Close()
			done := make(chan []string)
			last := Timestamp(0)
			var until atomic.Int64
			until.Store(int64(schema.MaxTimestamp))
			go func() {
				var got []string
				token := s.Token(began)
				for hops := hopping.IntN(10) + 1; ; hops = hopping.IntN(10) + 1 {
					for c, err := range s.Changes(t.Context(), token, journal.Filter{MaxRows: 7, MaxCommits: 3}) {
						if err != nil {
							t.Error(err)
							done <- nil
							return
						}
						got, token = append(got, showCommit(c)), c.Token
						if hops--; hops == 0 || int64(c.TS) >= until.Load() {
							break
						}
					}
					if ts, _ := s.Moment(token); int64(ts) >= until.Load() {
						done <- got
						return
					}
				}
			}()
			for i := range 400 {
				ts, err := s.Update(t.Context(), func(tx *Tx) error {
					err := tx.Put(s.Table("things"), thingID(0, i%5), []byte("red:1"))
					for n := range rng.IntN(4) {
						err = errors.Join(err, tx.Put(s.Table("notes"), fmt.Appendf(nil, "%d", n), fmt.Append(nil, i)))
					}
					return errors.Join(err, tx.Delete(s.Table("notes"), fmt.Appendf(nil, "%d", rng.IntN(4)), nil))
				})
				if err != nil {
					t.Fatal(err)
				}
				last = ts
				if i == 398 {
					until.Store(int64(last) + 1)
				}
			}
			if got, want := <-done, committed(t, s, began); !slices.Equal(got, want) {
				t.Errorf("got %d commits, want %d:\n got %q\nwant %q", len(got), len(want), got, want)
			}
			if got, want := follow(t, s, s.Token(began), journal.Filter{}, last), committed(t, s, began); !slices.Equal(got, want) {
				t.Errorf("all again: got %d commits, want %d", len(got), len(want))
			}
		})
	}
}

func TestPageEndsWhereItsBoundsSay(t *testing.T) {
	for _, ring := range []int64{-1, 0} {
		s := openNew(t, Options{FollowBytes: ring})
		began := s.Bounds().Newest
		f := s.Journal().Follow(began)
		defer f.Close()
		notes := s.Table("notes")
		for i := range 20 {
			put(t, s, notes, fmt.Sprint(i%10), "12345678")
		}
		newest := s.Bounds().Newest
		only := func(id string) func(string, *schema.Row) bool {
			return func(_ string, doc *schema.Row) bool { return doc.ID == id }
		}
		for _, tt := range []struct {
			name    string
			filter  journal.Filter
			commits []int // of the pages
		}{
			{"no bound", journal.Filter{}, []int{20}},
			{"commits", journal.Filter{MaxCommits: 8}, []int{8, 8, 4}},
			{"rows", journal.Filter{MaxRows: 8, Keep: only("9")}, []int{0, 1, 1}},
			{"bytes", journal.Filter{MaxBytes: 9 * 8}, []int{8, 8, 4}},
			{"another table", journal.Filter{Tables: []string{"things"}}, []int{0}},
			{"prefix", journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("3"), []byte("77")}}, []int{2}},
		} {
			after := began
			for i, want := range tt.commits {
				p, err := s.Journal().Page(after, &tt.filter)
				if err != nil {
					t.Fatal(err)
				}
				if last := i == len(tt.commits)-1; len(p.Commits) != want || p.More == last || p.TS <= after || (p.TS == newest) != last {
					t.Errorf("ring %d, %s, page %d: got %d commits, more %t, at %d; want %d, and that it ends at %d", ring, tt.name, i, len(p.Commits), p.More, p.TS, want, newest)
				}
				if p.Token != s.Token(p.TS) {
					t.Errorf("%s: got the token %s, want that of %d", tt.name, p.Token, p.TS)
				}
				after = p.TS
			}
			if p, err := s.Journal().Page(after, &tt.filter); err != nil || len(p.Commits) > 0 || p.TS != after || p.More {
				t.Errorf("%s, behind the last page: got %v, %v", tt.name, p, err)
			}
		}
	}
}

func TestNobodyFollowsFromWhereTheyCannot(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	old := put(t, s, notes, "a", "1")
	put(t, s, notes, "a", "2")
	newest := put(t, s, notes, "a", "3")
	if _, err := s.Prune(t.Context(), newest-1); err != nil {
		t.Fatal(err)
	}
	foreign := journal.Token{Incarnation: strings.Repeat("ab", 16), TS: newest}.String()
	for _, tt := range []struct {
		from   string
		filter journal.Filter
		want   error
	}{
		{s.Token(old), journal.Filter{}, ErrCompacted},
		{s.Token(old), journal.Filter{Tables: []string{"notes"}}, ErrCompacted},
		{foreign, journal.Filter{}, ErrForked},
		{s.Token(newest + Timestamp(time.Hour.Microseconds())), journal.Filter{}, ErrFuture},
		{"soon", journal.Filter{}, ErrMoment},
		{"", journal.Filter{Tables: []string{"none"}}, journal.ErrFilter},
		{"", journal.Filter{Prefixes: [][]byte{[]byte("a")}}, journal.ErrFilter},
	} {
		n := 0
		for c, err := range s.Changes(t.Context(), tt.from, tt.filter) {
			if n++; !errors.Is(err, tt.want) || len(c.Changes) > 0 {
				t.Errorf("from %s: got %v, %v, want %v", tt.from, c, err, tt.want)
			}
		}
		if n != 1 {
			t.Errorf("from %s: got %d times, want the error alone", tt.from, n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Changes(ctx, "", journal.Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: got %v", err)
		}
	}
}

// TestFeedEndsWithTheStore closes it while somebody waits.
func TestFeedEndsWithTheStore(t *testing.T) {
	s := openNew(t, Options{})
	ended := make(chan error)
	go func() {
		for _, err := range s.Changes(t.Context(), "$", journal.Filter{}) {
			ended <- err
		}
	}()
	for s.Journal().Stats().Followers == 0 {
		runtime.Gosched()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := s.Journal().Page(0, &journal.Filter{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a page: got %v, want ErrClosed", err)
	}
}

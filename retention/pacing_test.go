package retention

// The rule: a slice ends soon when somebody wants the writer, and what takes
// long is cut into pieces.

import (
	"cmp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func TestSlicesEndWhenTheWriterIsWanted(t *testing.T) {
	wanted := false
	c := NewCompactor(CompactorOptions{Wanted: func() bool { return wanted }})
	for _, tt := range []struct {
		took   time.Duration
		wanted bool
		want   bool
	}{
		{busySlice - 1, true, false},
		{busySlice, false, false},
		{busySlice, true, true},
		{quietSlice - 1, false, false},
		{quietSlice, false, true},
	} {
		wanted = tt.wanted
		if got := c.over(tt.took); got != tt.want {
			t.Errorf("over after %s, wanted %t: got %t, want %t", tt.took, tt.wanted, got, tt.want)
		}
	}
}

func TestCompactorRestsWhileThereAreCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commits := int64(7)
		c := NewCompactor(CompactorOptions{Commits: func() int64 { return commits }})
		w := c.newPass(t.Context(), Policy{})
		for _, tt := range []struct {
			name    string
			commits int64
			after   time.Duration
			want    time.Duration // of rest
		}{
			{"a commit", 8, 0, leaveReading * time.Millisecond},
			{"none for a moment", 8, time.Millisecond, leaveReading * time.Millisecond},
			{"none for longer", 8, busyFor, 0},
			{"another", 9, 0, leaveReading * time.Millisecond},
		} {
			time.Sleep(tt.after)
			commits = tt.commits
			began := time.Now()
			if err := w.breathe(began.Add(-time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(began); got != tt.want {
				t.Errorf("%s: got a rest of %s, want %s", tt.name, got, tt.want)
			}
		}
	})
}

func TestSortingInPiecesSorts(t *testing.T) {
	random := seed.Fresh(t).Rand(0)
	for range 300 {
		r := passInPieces(t, 1+random.IntN(9))
		rows := make([]version, random.IntN(60))
		for i := range rows {
			rows[i] = version{table: 1, ts: schema.Timestamp(random.IntN(20)), id: string(rune('a' + random.IntN(4)))}
		}
		compare := func(a, b *version) int { return cmp.Compare(a.ts, b.ts) }
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b version) int { return cmp.Or(compare(&a, &b), cmp.Compare(a.id, b.id)) })
		got, err := r.sort(rows, compare)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(got, func(a, b version) int { return compare(&a, &b) }) {
			t.Fatalf("%d in pieces of %d: not sorted: %v", len(want), r.c.sizes.sortPiece, got)
		}
		slices.SortFunc(got, func(a, b version) int { return cmp.Or(compare(&a, &b), cmp.Compare(a.id, b.id)) })
		if !slices.Equal(got, want) {
			t.Fatalf("%d in pieces of %d: got %v, want %v", len(want), r.c.sizes.sortPiece, got, want)
		}
	}
}

// passInPieces is a pass without commits beside it that sorts pieces of a size.
func passInPieces(t *testing.T, piece int) *pass {
	c := NewCompactor(CompactorOptions{Commits: func() int64 { return 0 }})
	c.sizes.sortPiece = piece
	return c.newPass(t.Context(), Policy{})
}

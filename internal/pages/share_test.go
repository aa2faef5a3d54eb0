package pages

import (
	"fmt"
	"testing"
)

// Leaves that begin as copies of one share its cells. What one adds is behind
// what the others see, and none of them gets room that another one has.

func TestForksThatShareCellsDoNotSeeEachOther(t *testing.T) {
	base := New(0)
	for i := range 40 {
		base.Set(fmt.Sprintf("k%02d", i), Value{Bytes: []byte("base")})
	}
	origin := base.Snapshot()
	forks := [...]*Tree{origin.Fork(), origin.Fork(), origin.Fork()}
	for i := range 200 {
		for n, fork := range forks {
			fork.Set(fmt.Sprintf("k%02d.%03d", i%40, i), Value{Bytes: fmt.Appendf(nil, "fork %d, %d", n, i)})
			fork.Set(fmt.Sprintf("k%02d", i%40), Value{Bytes: fmt.Appendf(nil, "over %d", n)})
		}
	}
	for n, fork := range forks {
		account(t, fork)
		for i := range 200 {
			for key, want := range map[string]string{
				fmt.Sprintf("k%02d.%03d", i%40, i): fmt.Sprintf("fork %d, %d", n, i),
				fmt.Sprintf("k%02d", i%40):         fmt.Sprintf("over %d", n),
			} {
				if v, ok, _ := fork.Get(key); !ok || string(v.Bytes) != want {
					t.Fatalf("fork %d, %q\n got %q\nwant %q", n, key, v.Bytes, want)
				}
			}
		}
	}
	for i := range 40 {
		if v, ok, _ := origin.Get(fmt.Sprintf("k%02d", i)); !ok || string(v.Bytes) != "base" {
			t.Fatalf("the origin's k%02d\n got %q\nwant \"base\"", i, v.Bytes)
		}
	}
}

// A change of a leaf that others see copies its index and not its cells.
func TestChangesCopyAQuarterOfALeaf(t *testing.T) {
	tree := New(0)
	for i := range 80 {
		tree.Set(fmt.Sprintf("member:%06d", i*7919%80), Value{Bytes: []byte("12345678")})
	}
	tree.Snapshot()
	tree.Set("member:000007", Value{Bytes: []byte("87654321")}) // perhaps in a larger piece
	shared := 0
	for i := range 20 {
		before := &tree.root.leaf.cells[0]
		tree.Snapshot()
		tree.Set(fmt.Sprintf("member:%06d", i), Value{Bytes: []byte("abcdefgh")})
		if before == &tree.root.leaf.cells[0] {
			shared++
		}
	}
	if shared < 15 {
		t.Errorf("cells were copied by %d of 20 changes, want at most 5", 20-shared)
	}
}

// What is known of an absent leaf's counts makes it two.
func TestAbsentLeavesAreCut(t *testing.T) {
	s := &subject{t: t, tree: New(0), m: &model{values: map[string]string{}}}
	for i := range 60 {
		s.set(fmt.Sprintf("k%03d", i), "v")
	}
	s.tree.EvictAt("")
	for _, key := range []string{"k000", "k010", "k055"} { // few would be on one side
		s.tree.Cut(key, s.m.rank(key))
	}
	for i := range 140 {
		s.set(fmt.Sprintf("k%03d", 60+i), "v")
	}
	if gap := s.tree.AbsentAt("k100"); gap == nil || gap.Count != 200 {
		t.Fatalf("before: got %+v, want a gap of 200", gap)
	}
	s.tree.Cut("k080", 80)
	low, high := s.tree.AbsentAt("k079"), s.tree.AbsentAt("k080")
	if low.Count != 80 || low.To != "k080" || high.Count != 120 || high.From != "k080" || high.Before != 80 {
		t.Fatalf("behind: got %+v and %+v", low, high)
	}
	s.fill(s.tree, high)
	s.checkAll(s.tree, "k080")
	account(t, s.tree)
}

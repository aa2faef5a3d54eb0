package journal

// The rule: a tree of intervals finds exactly those that hold a key, whatever
// was added and removed, and stays flat.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

func TestATreeOfIntervalsFindsThoseThatHoldAKey(t *testing.T) {
	r := seed.Fresh(t).Rand(1)
	key := func() string { return fmt.Sprintf("%02d", r.IntN(40)) }
	var tree spans
	var all []*spanNode
	for i := range 20_000 {
		if len(all) > 0 && r.IntN(5) < 2 {
			at := r.IntN(len(all))
			tree.remove(all[at])
			all = slices.Delete(all, at, at+1)
		} else {
			n := &spanNode{span: span{from: key(), to: key()}, serial: uint64(i)}
			if r.IntN(8) == 0 {
				n.to = ""
			}
			if r.IntN(8) == 0 {
				n.from = ""
			}
			tree.add(n)
			all = append(all, n)
		}
		if i%16 != 0 {
			continue
		}
		at := key()
		found := map[*spanNode]bool{}
		tree.holding(at, func(n *spanNode) {
			if found[n] {
				t.Fatalf("%v was found twice", n.span)
			}
			found[n] = true
		})
		for _, n := range all {
			if want := n.from <= at && (n.to == "" || at < n.to); found[n] != want {
				t.Fatalf("step %d: interval %q to %q, key %q: got %v, want %v", i, n.from, n.to, at, found[n], want)
			}
		}
	}
	visited := 0
	tree.each(func(*spanNode) { visited++ })
	if visited != len(all) {
		t.Errorf("got %d nodes, want %d", visited, len(all))
	}
}

func TestATreeOfIntervalsStaysFlat(t *testing.T) {
	var tree spans
	const n = 100_000
	for i := range uint64(n) {
		key := fmt.Sprintf("%08d", i) // in order: the worst for a tree without balance
		tree.add(&spanNode{span: span{from: key, to: key + "~"}, serial: i})
	}
	var depth func(n *spanNode) int
	depth = func(n *spanNode) int {
		if n == nil {
			return 0
		}
		return 1 + max(depth(n.left), depth(n.right))
	}
	if got := depth(tree.root); got > 60 {
		t.Errorf("got a depth of %d for %d nodes, want at most 60", got, n)
	}
}

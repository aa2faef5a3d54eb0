// Package pages keeps an ordered map of byte keys to small values in pages
// that hold no pointers.
//
// A [Tree] is a B-tree whose leaves are two pieces of bytes, which the garbage
// collector does not look into, and whose branches know how many entries are
// below each child: an entry's rank, and the entry of a rank, are one descent.
// A snapshot costs nothing: what it shares is copied before it is changed, once
// per snapshot, but for the cells of a leaf, which are only added to. What
// nothing leads to any more is freed by the collector, so that no reader has to
// say when it is done.
//
// A leaf may be absent: its count stays, and its entries are read from
// elsewhere when they are asked for. An operation that needs an absent leaf
// returns a [Gap] that names it; [Tree.Install] puts its entries there. So a
// map that does not fit in memory can still be counted. [Tree.Evict] makes
// leaves absent that were not used of late.
//
// The package starts no goroutine and takes no lock. A tree has one writer;
// its snapshots have any number of readers, beside the writer.
package pages

import (
	"errors"
	"sync/atomic"
)

// ErrCount means that the entries that were to be installed are not as many as
// the tree has counted.
var ErrCount = errors.New("pages: wrong number of entries")

// Sizes, unless a test says otherwise. Random changes copy a leaf's index each, so a leaf is small; a branch is read
// for each descent and copied once for each snapshot.
const (
	PageBytes = 4096 // a leaf is split when it would be larger
	fanout    = 64   // most children of a branch over such leaves
)

// What nodes cost beside what they hold, with the rounding of allocations.
const (
	leafOverhead   = 128
	branchOverhead = 96
	childBytes     = 48
	sliceBytes     = 24
)

// Value is what stands under a key. Both parts alias the tree: they do not
// change in a snapshot, and are valid until the next change elsewhere.
type Value struct {
	Bytes []byte

	// Blob is bytes that the tree leads to and does not hold: large ones, that
	// copying a leaf must not copy. Nobody writes them.
	Blob []byte
}

// clone is a copy that no page is needed for.
func (v Value) clone() Value {
	return Value{append(make([]byte, 0, len(v.Bytes)), v.Bytes...), v.Blob}
}

// Tree is an ordered map. The zero Tree is empty and ready. It must not be
// copied but by Snapshot and Fork.
//
// Invariants:
//
//   - A node is changed only by the tree that made it, and only until that
//     tree's next snapshot: while the node's gen is the tree's.
//   - All leaves are at the same depth, absent ones included.
//   - A child's count is the number of entries below it. No child of a branch
//     has a count of 0.
//   - The keys below a child are at or after its separator and before the next
//     child's; the first child takes what is before its separator, too.
type Tree struct {
	root  child
	gen   uint64
	bytes int64 // of all nodes that are here
	pages int   // leaves that are here
	page  int   // bytes of the largest leaf
	limit int   // most children of a branch
	delta int   // entries that the change under way adds
	stamp int64
	key   []byte
}

// generations numbers trees and their snapshots, so that no two trees take a
// node for theirs.
var generations atomic.Uint64

// child is a subtree: a branch, a leaf, or a leaf that is absent.
type child struct {
	sep   string
	kids  *branch
	leaf  *leaf
	count int
	stamp int64 // of the newest change of a leaf, or of what a branch covers
}

// absent says that the child stands for a leaf that is elsewhere.
func (c *child) absent() bool { return c.kids == nil && c.leaf == nil && c.count > 0 }

// Len is the number of entries.
func (t *Tree) Len() int { return t.root.count }

// Bytes is the memory that the tree takes, with its index. What a tree shares
// with its snapshots counts in each.
func (t *Tree) Bytes() int64 { return t.bytes }

// Pages is the number of leaves that are in memory.
func (t *Tree) Pages() int { return t.pages }

// Stamp makes the changes from now on of a moment. A gap tells the last one of
// its leaf.
func (t *Tree) Stamp(at int64) { t.stamp = at }

// Whole says that no leaf is absent.
func (t *Tree) Whole() bool { return whole(&t.root) }

func whole(c *child) bool {
	if c.kids == nil {
		return !c.absent()
	}
	for i := range c.kids.kids {
		if !whole(&c.kids.kids[i]) {
			return false
		}
	}
	return true
}

// Snapshot is the tree as it is now. It must not be changed.
func (t *Tree) Snapshot() *Tree {
	t.gen = 0
	return &Tree{root: t.root, bytes: t.bytes, pages: t.pages, page: t.page, limit: t.limit}
}

// Fork is a tree of its own that begins as a snapshot. Any number may be made
// of one snapshot at the same time.
func (t *Tree) Fork() *Tree {
	return &Tree{root: t.root, bytes: t.bytes, pages: t.pages, page: t.page, limit: t.limit}
}

// begin makes the tree ready for a change.
func (t *Tree) begin() {
	if t.gen == 0 {
		t.gen = generations.Add(1)
	}
	if t.page == 0 {
		t.page = PageBytes
	}
	if t.limit == 0 {
		t.limit = limitOf(t.page)
	}
}

// limitOf is the fanout that goes with leaves of a size: small ones, which
// tests ask for, make a tree deep.
func limitOf(page int) int { return max(4, fanout*page/PageBytes) }

// New is an empty tree with leaves of a size; 0 is PageBytes.
func New(page int) *Tree { return &Tree{page: page} }

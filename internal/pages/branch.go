package pages

import "encoding/binary"

// branch is the children of a node, and where their keys begin: as many bytes
// as all separators share, and of each the eight behind those as a number. So a
// key's child is found in one small piece of memory, and a separator is looked
// at only where another one, or the key, has the same eight bytes.
//
// Every change of which children there are, or of a separator, ends with index.
type branch struct {
	gen    uint64
	kids   []child
	heads  []uint64 // of the separators, but for the first child's, which nothing is before
	shared string   // what all of those begin with
	seps   int      // bytes of all separators
}

// index makes the heads those of the children.
func (b *branch) index() {
	b.shared = ""
	if len(b.kids) > 1 {
		first := b.kids[1].sep
		b.shared = first[:shared(first, b.kids[len(b.kids)-1].sep)]
	}
	if cap(b.heads) < len(b.kids) {
		b.heads = make([]uint64, 0, cap(b.kids))
	}
	b.heads = b.heads[:len(b.kids)]
	b.seps = 0
	for i := range b.kids {
		sep := b.kids[i].sep
		b.seps += len(sep)
		if i > 0 {
			b.heads[i] = head8(sep[len(b.shared):])
		}
	}
}

// newBranch is a branch of a tree over children, which it takes over.
func newBranch(gen uint64, kids []child) *branch {
	b := &branch{gen: gen, kids: kids}
	b.index()
	return b
}

// head8 is the first eight bytes of a key as a number, zeros behind a shorter one.
func head8(key string) uint64 {
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// find is the child that a key belongs to.
func (b *branch) find(key string) int {
	if len(b.kids) < 2 {
		return 0
	}
	if len(key) < len(b.shared) || key[:len(b.shared)] != b.shared {
		if key < b.shared {
			return 0
		}
		return len(b.kids) - 1
	}
	rest := key[len(b.shared):]
	head := head8(rest)
	low, high := 1, len(b.kids)
	for low < high {
		middle := int(uint(low+high) >> 1)
		at := b.heads[middle]
		if at < head || at == head && b.kids[middle].sep[len(b.shared):] <= rest {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low - 1
}

// ownBranch makes the child's branch one that may be changed.
func (t *Tree) ownBranch(c *child) *branch {
	if c.kids.gen != t.gen {
		old := c.kids
		room := min(len(old.kids)+2, t.limit+1)
		b := &branch{gen: t.gen, shared: old.shared, seps: old.seps}
		b.kids = append(make([]child, 0, room), old.kids...)
		b.heads = append(make([]uint64, 0, room), old.heads...)
		t.bytes -= branchBytes(old)
		c.kids = b
		t.bytes += branchBytes(b)
	}
	return c.kids
}

// branchBytes is what a branch takes, without what is below it. A separator is
// counted where it stands.
func branchBytes(b *branch) int64 {
	return int64(branchOverhead + cap(b.kids)*childBytes + cap(b.heads)*8 + b.seps)
}

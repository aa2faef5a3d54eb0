package pages

// fewAbsent: absent leaves of fewer entries than this are joined with their
// neighbours, up to manyAbsent.
const (
	fewAbsent  = 32
	manyAbsent = 256
)

// join puts the i-th child together with a neighbour if both have little.
func (t *Tree) join(b *branch, i int) {
	if !b.kids[i].low(t) {
		return
	}
	for _, j := range [...]int{i, i - 1} {
		if j >= 0 && j+1 < len(b.kids) && b.kids[j].joinable(t, &b.kids[j+1]) {
			t.joinNext(b, j)
			return
		}
	}
}

// low says that a child has so little that it should be joined.
func (c *child) low(t *Tree) bool {
	switch {
	case c.kids != nil:
		return len(c.kids.kids) < t.limit/4
	case c.leaf != nil:
		return c.leaf.fill() < t.page/4
	}
	return c.count < fewAbsent
}

// joinable says that two neighbours would fit in one with room to spare.
func (a *child) joinable(t *Tree, b *child) bool {
	switch {
	case a.kids != nil:
		return len(a.kids.kids)+len(b.kids.kids) <= t.limit*3/4
	case a.leaf != nil && b.leaf != nil:
		return a.leaf.whole()+b.leaf.whole() <= t.page*3/4
	}
	return a.absent() && b.absent() && a.count+b.count <= manyAbsent
}

// whole is what a leaf's entries would take without a prefix.
func (l *leaf) whole() int { return l.fill() + int(l.n)*int(l.prefix) }

// joinNext puts a child and the next together.
func (t *Tree) joinNext(b *branch, i int) {
	left, right := &b.kids[i], &b.kids[i+1]
	switch {
	case left.kids != nil:
		into := t.ownBranch(left)
		before := branchBytes(into)
		at := len(into.kids)
		into.kids = insert(into.kids, at, right.kids.kids)
		into.kids[at].sep = right.sep // it took what is before its own
		into.index()
		t.bytes += branchBytes(into) - before
	case left.leaf != nil:
		t.joinLeaves(left, right.leaf)
	}
	left.count += right.count
	left.stamp = max(left.stamp, right.stamp)
	t.removeKid(b, i+1)
}

// joinLeaves appends the entries of a leaf to the one before it.
func (t *Tree) joinLeaves(c *child, next *leaf) {
	l := t.ownLeaf(c)
	t.bytes -= l.bytes()
	for i := range int(next.n) {
		t.key = next.appendKey(t.key[:0], i)
		l.insert(int(l.n), string(t.key), next.value(i))
	}
	t.bytes += l.bytes()
}

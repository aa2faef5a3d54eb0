package pages

// change is what is done to the leaf that a key belongs to.
type change struct {
	kind    kind
	key     string
	v       Value
	by      int     // adjusting: so many entries more
	count   int     // then, how many the leaf has; cutting: how many are before the key
	entries []child // installing: the leaves that take its place

	found bool  // setting, deleting: the key was there
	old   Value // then, what stood there, in memory that does not change
	gap   bool  // the leaf is absent, nothing is done
}

type kind uint8

const (
	setting kind = iota
	deleting
	adjusting
	installing
	cutting
)

// side says whether a child is the first of all at its depth, and the last:
// what grows at an end fills its pages.
type side struct{ first, last bool }

func (s side) into(b *branch, i int) side {
	return side{s.first && i == 0, s.last && i == len(b.kids)-1}
}

// Set puts a value under a key; had says that there was one before, old, which
// stays as it is. If the leaf is absent nothing is done, and ok is false.
func (t *Tree) Set(key string, v Value) (old Value, had, ok bool) {
	ch := change{kind: setting, key: key, v: v}
	t.apply(&ch)
	return ch.old, ch.found, !ch.gap
}

// Delete takes a key out; had says that it was there, and led to old, which
// stays as it is. If the leaf is absent nothing is done, and ok is false.
func (t *Tree) Delete(key string) (old Value, had, ok bool) {
	ch := change{kind: deleting, key: key}
	t.apply(&ch)
	return ch.old, ch.found, !ch.gap
}

// Adjust counts n entries more in the leaf of a key, which is absent: entries
// that came, or, with n below 0, went. It returns how many the leaf has now; if
// it is here, or would have less than none, nothing is done, and ok is false.
func (t *Tree) Adjust(key string, n int) (count int, ok bool) {
	ch := change{kind: adjusting, key: key, by: n}
	t.apply(&ch)
	return ch.count, !ch.gap
}

// Cut counts the absent leaf of a key in two: n entries before the key, and the
// others from it on. It does nothing where that leaves few in one of them.
func (t *Tree) Cut(key string, n int) {
	if gap := t.AbsentAt(key); gap != nil && key > gap.From && n >= fewAbsent && gap.Count-n >= fewAbsent {
		t.apply(&change{kind: cutting, key: key, count: n})
	}
}

// Install puts the entries of an absent leaf in its place. key is any key of
// it, and its entries are those of from, which is whole; if they are not as
// many as were counted it returns ErrCount, and the leaf stays absent.
func (t *Tree) Install(key string, from *Tree) error {
	gap := t.AbsentAt(key)
	if gap == nil {
		return nil
	}
	if from.Len() != gap.Count {
		return ErrCount
	}
	leaves := appendLeaves(nil, &from.root)
	for i := range leaves {
		leaves[i].stamp = gap.Stamp
		t.pages++
		t.bytes += leaves[i].leaf.bytes()
	}
	t.apply(&change{kind: installing, key: key, entries: leaves})
	return nil
}

// appendLeaves appends the leaves below a child.
func appendLeaves(dst []child, c *child) []child {
	if c.kids == nil {
		return append(dst, *c)
	}
	for i := range c.kids.kids {
		dst = appendLeaves(dst, &c.kids.kids[i])
	}
	return dst
}

func (t *Tree) apply(ch *change) {
	t.begin()
	t.delta = 0
	more := t.edit(&t.root, ch, side{true, true})
	for len(more) > 0 {
		t.root.sep = ""
		b := newBranch(t.gen, append([]child{t.root}, more...))
		t.root = child{kids: b, count: countOf(b.kids)}
		t.bytes += branchBytes(b)
		more = t.split(&t.root, side{true, true})
	}
	for t.root.kids != nil && len(t.root.kids.kids) <= 1 {
		t.bytes -= branchBytes(t.root.kids)
		if len(t.root.kids.kids) == 0 {
			t.root = child{}
			break
		}
		t.root = t.root.kids.kids[0]
		t.root.sep = ""
	}
	if t.root.count == 0 && t.root.leaf != nil {
		t.drop(&t.root)
		t.root = child{}
	}
}

func countOf(kids []child) (n int) {
	for i := range kids {
		n += kids[i].count
	}
	return n
}

// edit changes a subtree, and is the children that come behind it if it was
// split.
func (t *Tree) edit(c *child, ch *change, s side) (more []child) {
	if c.kids == nil {
		return t.editLeaf(c, ch, s)
	}
	b := t.ownBranch(c)
	i := b.find(ch.key)
	more = t.edit(&b.kids[i], ch, s.into(b, i))
	c.count += t.delta
	switch {
	case len(more) > 0:
		before := branchBytes(b)
		b.kids = insert(b.kids, i+1, more)
		b.index()
		t.bytes += branchBytes(b) - before
		return t.split(c, s)
	case b.kids[i].count == 0:
		t.removeKid(b, i)
	case t.delta < 0:
		t.join(b, i)
	}
	return nil
}

// insert is slices.Insert with little room to spare.
func insert(kids []child, at int, more []child) []child {
	if len(kids)+len(more) > cap(kids) {
		grown := make([]child, len(kids), len(kids)+len(more)+len(kids)/8)
		copy(grown, kids)
		kids = grown
	}
	kids = kids[:len(kids)+len(more)]
	copy(kids[at+len(more):], kids[at:])
	copy(kids[at:], more)
	return kids
}

// split cuts a branch that has too many children.
func (t *Tree) split(c *child, s side) (more []child) {
	b := c.kids
	n := len(b.kids)
	if n <= t.limit {
		return nil
	}
	parts := (n + t.limit - 1) / t.limit
	size := (n + parts - 1) / parts
	cut := size
	switch {
	case parts > 2:
	case s.last:
		cut, size = t.limit, t.limit
	case s.first:
		cut, size = n-t.limit, t.limit
	}
	t.bytes -= branchBytes(b)
	rest := b.kids[cut:]
	for len(rest) > 0 {
		some := rest[:min(size, len(rest))]
		rest = rest[len(some):]
		kids := append(make([]child, 0, len(some)+2), some...)
		part := child{sep: kids[0].sep, kids: newBranch(t.gen, kids), count: countOf(kids), stamp: c.stamp}
		t.bytes += branchBytes(part.kids)
		more = append(more, part)
	}
	clear(b.kids[cut:])
	b.kids = b.kids[:cut]
	b.index()
	c.count = countOf(b.kids)
	t.bytes += branchBytes(b)
	return more
}

// removeKid takes a child out that has nothing below it. A neighbour has its
// keys from now on, so that has changed.
func (t *Tree) removeKid(b *branch, i int) {
	t.drop(&b.kids[i])
	t.bytes -= branchBytes(b)
	copy(b.kids[i:], b.kids[i+1:])
	b.kids[len(b.kids)-1] = child{}
	b.kids = b.kids[:len(b.kids)-1]
	b.index()
	if len(b.kids) > 0 {
		b.kids[max(i-1, 0)].stamp = t.stamp
	}
	t.bytes += branchBytes(b)
}

// drop takes a child's own memory off the account.
func (t *Tree) drop(c *child) {
	switch {
	case c.leaf != nil:
		t.bytes -= c.leaf.bytes()
		t.pages--
	case c.kids != nil:
		t.bytes -= branchBytes(c.kids)
	}
}

// editLeaf changes a leaf.
func (t *Tree) editLeaf(c *child, ch *change, s side) (more []child) {
	t.delta = 0
	switch {
	case c.absent():
		return t.editAbsent(c, ch)
	case ch.kind == setting:
		return t.set(c, ch, s)
	case ch.kind != deleting:
		ch.gap = true
	case c.leaf != nil:
		i, found := c.leaf.search(ch.key)
		if ch.found = found; found {
			ch.old = c.leaf.value(i)
			l := t.ownLeaf(c)
			t.bytes -= l.bytes()
			l.remove(i)
			t.bytes += l.bytes()
			c.count, c.stamp, t.delta = c.count-1, t.stamp, -1
			t.thin(l)
		}
	}
	return nil
}

func (t *Tree) editAbsent(c *child, ch *change) (more []child) {
	switch {
	case ch.kind == installing:
		ch.entries[0].sep = c.sep
		*c = ch.entries[0]
		return ch.entries[1:]
	case ch.kind == cutting:
		more = []child{{sep: ch.key, count: c.count - ch.count, stamp: c.stamp}}
		c.count = ch.count
		return more
	case ch.kind == adjusting && c.count+ch.by >= 0:
		c.count, c.stamp, t.delta = c.count+ch.by, t.stamp, ch.by
		ch.count = c.count
	default:
		ch.gap = true
	}
	return nil
}

// ownLeaf makes the child's leaf one that may be changed.
func (t *Tree) ownLeaf(c *child) *leaf {
	if c.leaf.gen != t.gen {
		t.bytes -= c.leaf.bytes()
		c.leaf = c.leaf.clone(t.gen)
		t.bytes += c.leaf.bytes()
	}
	return c.leaf
}

// thin gives memory back when a leaf uses too little of it.
func (t *Tree) thin(l *leaf) {
	if l.n > 0 && int(l.dead)*4 > len(l.cells) && cap(l.cells) > leastPage*2 {
		t.bytes -= l.bytes()
		l.rebuild(0, int(l.n), l.commonPrefix(0, int(l.n)), 0)
		t.bytes += l.bytes()
	}
}

// set puts an entry into a leaf that is here.
func (t *Tree) set(c *child, ch *change, s side) (more []child) {
	if c.leaf == nil { // the tree is empty
		c.leaf = &leaf{gen: t.gen}
		t.pages++
		t.bytes += c.leaf.bytes()
	}
	i, found := c.leaf.search(ch.key)
	ch.found = found
	need := c.leaf.need(ch.key, ch.v)
	if found {
		if ch.old = c.leaf.value(i); c.leaf.gen == t.gen && c.leaf.inPlace(i, ch.key, ch.v) {
			ch.old = ch.old.clone()
		}
		need = c.leaf.cellBytes(ch.key, ch.v) - c.leaf.cell(i).size
	}
	if c.leaf.n > 0 && c.leaf.fill()+need > t.page && (!found || c.leaf.n > 1) {
		return t.splitLeaf(c, ch, i, s)
	}
	c.stamp = t.stamp
	l := t.ownLeaf(c)
	t.bytes -= l.bytes()
	l.touch()
	if found {
		l.replace(i, ch.key, ch.v)
	} else {
		l.insert(i, ch.key, ch.v)
		c.count, t.delta = c.count+1, 1
	}
	t.bytes += l.bytes()
	return nil
}

// splitLeaf puts an entry into a leaf that has no room for it.
func (t *Tree) splitLeaf(c *child, ch *change, i int, s side) (more []child) {
	old := c.leaf
	n := int(old.n)
	cut := old.middle()
	switch {
	case ch.found:
	case n == 1:
		cut = i
	case i == n && s.last:
		cut = n
	case i == 0 && s.first:
		cut = 0
	}
	t.bytes -= old.bytes()
	left, right := old.part(t.gen, 0, cut), old.part(t.gen, cut, n)
	if i < cut || i == cut && cut == 0 {
		ch.put(left, i)
	} else {
		ch.put(right, i-cut)
	}
	t.pages++
	t.bytes += left.bytes() + right.bytes()
	if !ch.found {
		t.delta = 1
	}
	first := string(right.appendKey(nil, 0))
	last := string(left.appendKey(nil, int(left.n)-1))
	*c = child{sep: c.sep, leaf: left, count: int(left.n), stamp: t.stamp}
	return []child{{sep: Separator(last, first), leaf: right, count: int(right.n), stamp: t.stamp}}
}

// Separator is the shortest key that is after a and not after b, which is
// greater.
func Separator(a, b string) string { return string([]byte(b[:shared(a, b)+1])) }

// middle is where to cut a leaf of more than one entry in two.
func (l *leaf) middle() int {
	half, n := (l.fill()-int(l.prefix))/2, 0
	for i := range int(l.n) - 1 {
		n += slotBytes + l.cell(i).size
		if n >= half {
			return i + 1
		}
	}
	return int(l.n) - 1
}

// part is a leaf with some of the entries of another.
func (l *leaf) part(gen uint64, from, to int) *leaf {
	p := &leaf{gen: gen}
	p.used.Store(true)
	if from == to {
		return p
	}
	spare := 0
	if to-from < int(l.n) { // else it is full, and what comes goes beside it
		spare = spareOf(len(l.cells) / 2)
	}
	p.index, p.cells, p.blobs, p.n, p.prefix = l.index, l.cells, l.blobs, l.n, l.prefix
	p.rebuild(from, to, max(int(l.prefix), l.commonPrefix(from, to)), spare)
	return p
}

// put sets an entry at the place that it has in a part.
func (ch *change) put(l *leaf, i int) {
	if ch.found {
		l.replace(i, ch.key, ch.v)
		return
	}
	l.insert(i, ch.key, ch.v)
}

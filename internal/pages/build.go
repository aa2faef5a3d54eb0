package pages

// Builder makes leaves, or a tree, of entries in order. The zero Builder is
// ready.
type Builder struct {
	// Page is the size of a leaf; 0 is PageBytes.
	Page int

	done []child
	leaf *leaf
	last []byte // the key before, if the next entry begins a leaf
	cut  string // where the next leaf begins, if that was said
	n    int

	bytes int64 // of the leaves that are complete, and what leads to all
}

// buildShare: a leaf is filled up to this part of its size in sixteenths, so
// that the first random changes do not split it.
const buildShare = 14

// Add appends an entry, whose key comes after all others.
func (b *Builder) Add(key string, v Value) {
	if b.Page == 0 {
		b.Page = PageBytes
	}
	if b.leaf != nil && b.leaf.fill()+b.leaf.need(key, v) > b.Page*buildShare/16 {
		b.finish()
	}
	if b.leaf == nil {
		b.leaf = &leaf{}
		sep := b.cut
		if sep == "" && len(b.done) > 0 {
			sep = Separator(string(b.last), key)
		}
		b.begin(child{sep: sep, leaf: b.leaf})
	}
	b.leaf.insert(int(b.leaf.n), key, v)
	b.n++
}

func (b *Builder) begin(c child) {
	b.done = append(b.done, c)
	b.bytes += childBytes + int64(len(c.sep))
	b.cut = ""
}

// Cut says that the next leaf begins at a key, behind all that was added.
func (b *Builder) Cut(key string) {
	b.finish()
	b.cut = key
}

// Absent appends a leaf of n entries that is absent, from where the last Cut
// was; another Cut follows before the next entry. stamp is what a Gap tells.
func (b *Builder) Absent(n int, stamp int64) {
	b.begin(child{sep: b.cut, count: n, stamp: stamp})
	b.n += n
}

// finish ends the leaf that is being filled.
func (b *Builder) finish() {
	if b.leaf == nil {
		return
	}
	l := b.leaf
	b.last = l.appendKey(b.last[:0], int(l.n)-1)
	l.rebuild(0, int(l.n), l.commonPrefix(0, int(l.n)), 0)
	b.done[len(b.done)-1].count = int(l.n)
	b.bytes += l.bytes()
	b.leaf = nil
}

// Len is the number of entries.
func (b *Builder) Len() int { return b.n }

// Thin makes all leaves absent that are complete: what does not fit in memory
// is counted only.
func (b *Builder) Thin() {
	for i := range b.done {
		if l := b.done[i].leaf; l != nil && l != b.leaf {
			b.bytes -= l.bytes()
			b.done[i].leaf = nil
		}
	}
}

// Bytes is what the leaves take.
func (b *Builder) Bytes() int64 {
	if b.leaf != nil {
		return b.bytes + b.leaf.bytes()
	}
	return b.bytes
}

// leaves is all entries as leaves. The builder is of no use any more.
func (b *Builder) leaves() []child {
	b.finish()
	return b.done
}

// Tree is all entries as a tree. The builder is of no use any more.
func (b *Builder) Tree() *Tree {
	t := New(b.Page)
	t.begin()
	kids := b.leaves()
	for i := range kids {
		if l := kids[i].leaf; l != nil {
			l.gen = t.gen
			t.pages++
			t.bytes += l.bytes()
		}
	}
	for len(kids) > 1 {
		kids = t.above(kids)
	}
	if len(kids) == 1 {
		t.root = kids[0]
	}
	return t
}

// above is branches over children.
func (t *Tree) above(kids []child) []child {
	parts := (len(kids) + t.limit - 1) / t.limit
	size := (len(kids) + parts - 1) / parts
	var up []child
	for len(kids) > 0 {
		some := kids[:min(size, len(kids))]
		kids = kids[len(some):]
		b := newBranch(t.gen, append([]child(nil), some...))
		t.bytes += branchBytes(b)
		up = append(up, child{sep: some[0].sep, kids: b, count: countOf(some)})
	}
	return up
}

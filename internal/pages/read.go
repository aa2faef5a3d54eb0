package pages

// Gap is a leaf that is absent: the entries from From up to To, where "" is
// open. Before is the number of entries before it, and Stamp of the newest change
// in it.
type Gap struct {
	From, To      string
	Count, Before int
	Stamp         int64
}

// edges is where a child's keys may be, and how many entries come before them.
type edges struct {
	from, to string
	before   int
	stamp    int64
}

// into is the edges of the i-th child.
func (e edges) into(b *branch, i int) edges {
	if i > 0 {
		e.from = b.kids[i].sep
	}
	if i+1 < len(b.kids) {
		e.to = b.kids[i+1].sep
	}
	for j := range b.kids[:i] {
		e.before += b.kids[j].count
	}
	e.stamp = max(e.stamp, b.kids[i].stamp)
	return e
}

func (e edges) gap(c *child) *Gap {
	return &Gap{e.from, e.to, c.count, e.before, max(e.stamp, c.stamp)}
}

// touch notes that a leaf is in use.
func (l *leaf) touch() {
	if !l.used.Load() {
		l.used.Store(true)
	}
}

// Get is what stands under a key. It returns a gap if the leaf is absent.
func (t *Tree) Get(key string) (v Value, ok bool, gap *Gap) {
	c := &t.root
	for c.kids != nil {
		c = &c.kids.kids[c.kids.find(key)]
	}
	if c.leaf == nil {
		if c.count > 0 {
			gap = t.gapAt(key)
		}
		return v, false, gap
	}
	c.leaf.touch()
	i, ok := c.leaf.search(key)
	if !ok {
		return v, false, nil
	}
	return c.leaf.value(i), true, nil
}

// gapAt is the leaf of a key, which is absent.
func (t *Tree) gapAt(key string) *Gap {
	c, e := &t.root, edges{}
	for c.kids != nil {
		i := c.kids.find(key)
		e, c = e.into(c.kids, i), &c.kids.kids[i]
	}
	return e.gap(c)
}

// AbsentAt is the leaf that a key belongs to, if that is absent, and nil if it
// is here.
func (t *Tree) AbsentAt(key string) *Gap {
	c := &t.root
	for c.kids != nil {
		c = &c.kids.kids[c.kids.find(key)]
	}
	if !c.absent() {
		return nil
	}
	return t.gapAt(key)
}

// Rank is how many keys come before key, and whether key itself is there.
func (t *Tree) Rank(key string) (rank int, found bool, gap *Gap) {
	c := &t.root
	for c.kids != nil {
		i := c.kids.find(key)
		for j := range c.kids.kids[:i] {
			rank += c.kids.kids[j].count
		}
		c = &c.kids.kids[i]
	}
	if c.leaf == nil {
		if c.count > 0 {
			gap = t.gapAt(key)
		}
		return rank, false, gap
	}
	c.leaf.touch()
	i, found := c.leaf.search(key)
	return rank + i, found, nil
}

// At is the entry of a rank, which must be below Len.
func (t *Tree) At(rank int) (key []byte, v Value, gap *Gap) {
	c, left := &t.root, rank
	for c.kids != nil {
		kids, i := c.kids.kids, 0
		for left >= kids[i].count {
			left -= kids[i].count
			i++
		}
		c = &kids[i]
	}
	if c.leaf == nil {
		return nil, v, t.gapOf(rank)
	}
	c.leaf.touch()
	return c.leaf.appendKey(nil, left), c.leaf.value(left), nil
}

// gapOf is the leaf of a rank, which is absent.
func (t *Tree) gapOf(rank int) *Gap {
	c, e := &t.root, edges{}
	for left := rank; c.kids != nil; {
		i := 0
		for left >= c.kids.kids[i].count {
			left -= c.kids.kids[i].count
			i++
		}
		e, c = e.into(c.kids, i), &c.kids.kids[i]
	}
	return e.gap(c)
}

// Ascend visits the entries with keys at or after from until visit says
// false, or a leaf is absent, which it returns. The key is valid during the
// visit.
func (t *Tree) Ascend(from string, visit func(key []byte, v Value) bool) *Gap {
	w := walk{visit: visit}
	w.up(&t.root, edges{}, from)
	return w.gap
}

// Bound is where a walk down begins.
type Bound struct {
	Key  string
	Kind BoundKind
}

// BoundKind says what of a Bound the walk visits.
type BoundKind uint8

const (
	Last       BoundKind = iota // all: it begins at the end
	AtOrBefore                  // keys at or before Key
	Before                      // keys before Key
)

// Descend visits the entries within a bound, the greatest first, until visit
// says false, or a leaf is absent, which it returns.
func (t *Tree) Descend(from Bound, visit func(key []byte, v Value) bool) *Gap {
	w := walk{visit: visit}
	w.down(&t.root, edges{}, from)
	return w.gap
}

type walk struct {
	visit func([]byte, Value) bool
	key   []byte
	gap   *Gap
}

// up walks a subtree; false ends the walk.
func (w *walk) up(c *child, e edges, from string) bool {
	switch {
	case c.kids != nil:
		first := 0
		if from != "" {
			first = c.kids.find(from)
		}
		for i := first; i < len(c.kids.kids); i++ {
			k := &c.kids.kids[i]
			sub := e
			if k.absent() || k.kids != nil {
				sub = e.into(c.kids, i)
			}
			if !w.up(k, sub, from) {
				return false
			}
			from = ""
		}
		return true
	case c.leaf != nil:
		return w.upLeaf(c.leaf, from)
	case c.count > 0:
		w.gap = e.gap(c)
		return false
	}
	return true
}

func (w *walk) upLeaf(l *leaf, from string) bool {
	l.touch()
	first := 0
	if from != "" {
		first, _ = l.search(from)
	}
	prefix := append(w.key[:0], l.index[:l.prefix]...)
	for i := first; i < int(l.n); i++ {
		key, v := l.entry(prefix, i)
		if !w.visit(key, v) {
			return false
		}
		prefix = key[:l.prefix]
	}
	w.key = prefix
	return true
}

func (w *walk) down(c *child, e edges, from Bound) bool {
	switch {
	case c.kids != nil:
		return w.downKids(c.kids, e, from)
	case c.leaf != nil:
		return w.downLeaf(c.leaf, from)
	case c.count > 0:
		w.gap = e.gap(c)
		return false
	}
	return true
}

func (w *walk) downKids(b *branch, e edges, from Bound) bool {
	first := len(b.kids) - 1
	if from.Kind != Last {
		first = b.find(from.Key)
		if from.Kind == Before && first > 0 && b.kids[first].sep == from.Key {
			first--
			from.Kind = Last
		}
	}
	for i := first; i >= 0; i-- {
		k := &b.kids[i]
		sub := e
		if k.absent() || k.kids != nil {
			sub = e.into(b, i)
		}
		if !w.down(k, sub, from) {
			return false
		}
		from.Kind = Last
	}
	return true
}

func (w *walk) downLeaf(l *leaf, from Bound) bool {
	l.touch()
	i := int(l.n) - 1
	if from.Kind != Last {
		at, found := l.search(from.Key)
		if i = at; !found || from.Kind == Before {
			i--
		}
	}
	prefix := append(w.key[:0], l.index[:l.prefix]...)
	for ; i >= 0; i-- {
		key, v := l.entry(prefix, i)
		if !w.visit(key, v) {
			return false
		}
		prefix = key[:l.prefix]
	}
	w.key = prefix
	return true
}

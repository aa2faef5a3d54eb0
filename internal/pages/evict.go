package pages

// Evict makes leaves absent, in key order from the one of hand on, until bytes
// are freed or it has been round once: those that were not used since it came
// by last. It returns where to go on, and whether it came to the end; gone, if
// it is not nil, is told a key of each leaf.
//
// What was evicted can only be read again from elsewhere: the caller says so
// by calling it.
func (t *Tree) Evict(hand string, bytes int64, gone func(key string)) (next string, end bool) {
	t.begin()
	goal := t.bytes - bytes
	for t.bytes > goal {
		l, to := t.leafAt(hand)
		if l != nil {
			if l.used.Load() {
				l.used.Store(false)
			} else {
				t.EvictAt(hand)
				if gone != nil {
					gone(hand)
				}
			}
		}
		if hand = to; to == "" {
			return "", true
		}
	}
	return hand, false
}

// leafAt is the leaf of a key, nil if it is absent, and where the next begins;
// "" if there is none.
func (t *Tree) leafAt(key string) (l *leaf, to string) {
	c := &t.root
	for c.kids != nil {
		i := c.kids.find(key)
		if i+1 < len(c.kids.kids) {
			to = c.kids.kids[i+1].sep
		}
		c = &c.kids.kids[i]
	}
	return c.leaf, to
}

// EvictAt makes the leaf of a key absent.
func (t *Tree) EvictAt(key string) {
	t.begin()
	c := &t.root
	for c.kids != nil {
		b := t.ownBranch(c)
		c = &b.kids[b.find(key)]
	}
	if c.leaf != nil {
		t.drop(c)
		c.leaf = nil
	}
}

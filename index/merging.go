package index

import (
	"cmp"
	"strings"

	"github.com/firndb/firn/schema"
)

// merging takes records off several sorted parts in order, or in reverse. It
// is a loser tree: node i holds the part that lost the match there, node 0 the
// winner of all, so that the next record costs log₂ of the number of parts
// comparisons.
type merging struct {
	slab    *slab
	reverse bool
	heads   []head
	nodes   []int // of the heads' numbers; heads are the leaves
	touched byte  // a use for what touch reads
}

// head is what is left of a part, and what comes next of it.
type head struct {
	left  part
	index schema.IndexID
	key   string
	ts    schema.Timestamp

	cold  int // how many of left have a key that was not touched
	ahead int // how many were touched last
}

// maxAhead is how many keys of a part are touched at once. With 4 a record
// took 135 ns and not 113, with 16 and 32 no less.
const maxAhead = 8

// newMerging starts to merge parts.
func newMerging(s *slab, parts []part, reverse bool) *merging {
	m := &merging{slab: s, reverse: reverse, heads: make([]head, len(parts)), nodes: make([]int, len(parts))}
	for i, p := range parts {
		m.nodes[i] = -1
		m.heads[i].left, m.heads[i].cold = p, len(p)
		m.look(&m.heads[i])
	}
	for i := range m.heads {
		m.play(i)
	}
	return m
}

// look notes what comes next of a part.
func (m *merging) look(h *head) {
	if len(h.left) == 0 {
		h.key = ""
		return
	}
	if len(h.left) <= h.cold {
		m.touch(h)
	}
	r := &h.left[0]
	if m.reverse {
		r = &h.left[len(h.left)-1]
	}
	h.index, h.key, h.ts = r.index, m.slab.keyOf(r), r.ts
}

// touch reads a byte of each of the next keys: few at first, for who takes only
// a few. The keys of a part lie where they came, so nearly each is a cache miss.
// Here they are waited for together, in comparisons one after another.
func (m *merging) touch(h *head) {
	h.ahead = min(max(2*h.ahead, 1), maxAhead, len(h.left))
	h.cold = len(h.left) - h.ahead
	if m.reverse {
		m.touched += m.slab.touch(h.left[h.cold:])
	} else {
		m.touched += m.slab.touch(h.left[:h.ahead])
	}
}

// play lets a part go up from its leaf. While the tree is built the first to
// come to a node waits there.
func (m *merging) play(winner int) {
	for node := (winner + len(m.heads)) / 2; node > 0; node /= 2 {
		other := m.nodes[node]
		if other < 0 {
			m.nodes[node] = winner
			return
		}
		if m.before(&m.heads[other], &m.heads[winner]) {
			m.nodes[node], winner = winner, other
		}
	}
	m.nodes[0] = winner
}

// before says whether a comes before b; a part that is used up is the last.
func (m *merging) before(a, b *head) bool {
	if len(a.left) == 0 || len(b.left) == 0 {
		return len(a.left) > 0
	}
	c := cmp.Compare(a.index, b.index)
	if c == 0 {
		c = strings.Compare(a.key, b.key)
	}
	if c == 0 {
		c = cmp.Compare(a.ts, b.ts)
	}
	return c < 0 != m.reverse
}

// top is the part whose record comes next, nil if none is left.
func (m *merging) top() *head {
	if len(m.heads) == 0 {
		return nil
	}
	if h := &m.heads[m.nodes[0]]; len(h.left) > 0 {
		return h
	}
	return nil
}

// keep leaves of the top no more than left.
func (m *merging) keep(left part) {
	winner := m.nodes[0]
	m.heads[winner].left = left
	m.look(&m.heads[winner])
	m.play(winner)
}

// slice appends the next n entries in order, or what is left of them.
func (m *merging) slice(dst []schema.Entry, n int) []schema.Entry {
	for ; n > 0; n-- {
		h := m.top()
		if h == nil {
			break
		}
		dst = append(dst, m.slab.entry(&h.left[0]))
		m.keep(h.left[1:])
	}
	return dst
}

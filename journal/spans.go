package journal

import "strings"

// spanNode is one watch's interest in an interval, and a node of a treap: in
// the order of from, and of serial among equal ones, with the priorities of a
// heap, which follow from the serial.
type spanNode struct {
	span
	of          *watch
	serial      uint64
	left, right *spanNode
	sibling     *spanNode // of the watch

	// most is the greatest to of the nodes from here down, "" if one is open:
	// what lies at or behind it is in none of them.
	most string
}

// spans are intervals, of which those that hold a key are found in a logarithm
// of their number, and what they are.
type spans struct{ root *spanNode }

func (s *spans) add(n *spanNode) {
	n.left, n.right = nil, nil
	below, above := splitSpans(s.root, n)
	s.root = mergeSpans(mergeSpans(below, n.update()), above)
}

func (s *spans) remove(n *spanNode) { s.root = withoutSpan(s.root, n) }

// holding visits the nodes whose intervals hold a key.
func (s *spans) holding(key string, visit func(*spanNode)) { spansHolding(s.root, key, visit) }

func spansHolding(n *spanNode, key string, visit func(*spanNode)) {
	for n != nil && (n.most == "" || key < n.most) {
		spansHolding(n.left, key, visit)
		if n.from > key {
			return
		}
		if n.to == "" || key < n.to {
			visit(n)
		}
		n = n.right
	}
}

// before is the order of the nodes.
func (n *spanNode) before(other *spanNode) bool {
	if c := strings.Compare(n.from, other.from); c != 0 {
		return c < 0
	}
	return n.serial < other.serial
}

// priority is as good as random: the finalizer of splitmix64.
func (n *spanNode) priority() uint64 {
	x := n.serial * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return x ^ x>>27
}

// update makes most right, after the children have changed.
func (n *spanNode) update() *spanNode {
	n.most = n.to
	for _, child := range [...]*spanNode{n.left, n.right} {
		if child != nil && n.most != "" && (child.most == "" || child.most > n.most) {
			n.most = child.most
		}
	}
	return n
}

// splitSpans divides a tree into what is before a node and what is behind it.
func splitSpans(t, at *spanNode) (below, above *spanNode) {
	if t == nil {
		return nil, nil
	}
	if t.before(at) {
		t.right, above = splitSpans(t.right, at)
		return t.update(), above
	}
	below, t.left = splitSpans(t.left, at)
	return below, t.update()
}

// mergeSpans is one tree of two, of which all of the first is before the second.
func mergeSpans(below, above *spanNode) *spanNode {
	switch {
	case below == nil:
		return above
	case above == nil:
		return below
	case below.priority() > above.priority():
		below.right = mergeSpans(below.right, above)
		return below.update()
	}
	above.left = mergeSpans(below, above.left)
	return above.update()
}

// withoutSpan is a tree that no longer has a node, which was in it.
func withoutSpan(t, n *spanNode) *spanNode {
	switch {
	case t == n:
		return mergeSpans(n.left, n.right)
	case n.before(t):
		t.left = withoutSpan(t.left, n)
	default:
		t.right = withoutSpan(t.right, n)
	}
	return t.update()
}

// each visits all nodes.
func (s *spans) each(visit func(*spanNode)) { eachSpan(s.root, visit) }

func eachSpan(n *spanNode, visit func(*spanNode)) {
	for ; n != nil; n = n.right {
		eachSpan(n.left, visit)
		visit(n)
	}
}

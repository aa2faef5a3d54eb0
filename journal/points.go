package journal

import "github.com/firndb/firn/schema"

// pointNode is one watch's interest in one document. Those of a document are
// in a list, and so are those of a watch.
type pointNode struct {
	point
	of         *watch
	prev, next *pointNode // of the document
	sibling    *pointNode // of the watch
}

// points is who reads which document.
type points map[uint64]*pointNode

func (ps points) add(n *pointNode) {
	if n.next = ps[n.hash]; n.next != nil {
		n.next.prev = n
	}
	ps[n.hash] = n
}

func (ps points) remove(n *pointNode) {
	if n.next != nil {
		n.next.prev = n.prev
	}
	switch {
	case n.prev != nil:
		n.prev.next = n.next
	case n.next != nil:
		ps[n.hash] = n.next
	default:
		delete(ps, n.hash)
	}
}

// prints are the fingerprints of one version, each made when it is first asked
// for.
type prints struct {
	aspects []Aspect
	row     *schema.Row
	made    []uint64
	known   []bool
}

func (p *prints) reset(aspects []Aspect, row *schema.Row) {
	p.aspects, p.row = aspects, row
	p.made, p.known = p.made[:0], p.known[:0]
	for range aspects {
		p.made, p.known = append(p.made, 0), append(p.known, false)
	}
}

func (p *prints) of(aspect uint8) uint64 {
	if !p.known[aspect-1] {
		p.made[aspect-1], p.known[aspect-1] = printOf(p.aspects, aspect, p.row), true
	}
	return p.made[aspect-1]
}

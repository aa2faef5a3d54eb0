package redis

import (
	"bytes"
	"slices"

	"github.com/firndb/firn/resp"
)

// Commands that look for items by what they are: LINSERT, LREM, LPOS; and
// LTRIM.

func lInsert(c *Call) error {
	after := is(c.Args[1], "AFTER")
	if !after && !is(c.Args[1], "BEFORE") {
		return errSyntax
	}
	s, q, err := openItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.live {
		c.Reply.Int(0)
		return nil
	}
	p, err := findPlace(c, &q, c.Args[2], after)
	if err != nil {
		return err
	}
	if !p.found {
		c.Reply.Int(-1)
		return nil
	}
	if err := insertAt(c, &q, &p, own(c.Args[3])); err != nil {
		return err
	}
	c.Reply.Int(q.length)
	c.notify(eventList, "linsert", c.Args[0])
	return writeList(c.View, &s, &q)
}

// place is where an item is to be inserted.
type place struct {
	found          bool
	atStart, atEnd bool  // there is nothing before it, or behind it
	before, behind int64 // the positions of its neighbours
}

// findPlace looks for the place before or after the first item that equals
// pivot.
func findPlace(c *Call, q *sequence, pivot []byte, after bool) (place, error) {
	p := place{atStart: true, atEnd: true}
	for it, err := range q.items(c.View, 0, q.length, false) {
		if err != nil {
			return p, err
		}
		passed := p.found
		p.found = passed || bytes.Equal(it.value, pivot)
		if passed || p.found && !after {
			p.behind, p.atEnd = it.position, false
			return p, nil
		}
		p.before, p.atStart = it.position, false
	}
	return p, nil
}

// insertAt inserts or pushes a value, which is kept.
func insertAt(c *Call, q *sequence, p *place, value []byte) error {
	if !p.atStart && !p.atEnd {
		return q.insert(c.View, p.before, p.behind, value)
	}
	if err := q.reserve(c.View, 1, p.atEnd); err != nil {
		return err
	}
	return q.push(c.View, value, p.atEnd)
}

func lRem(c *Call) error {
	count, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return errNotInteger
	}
	s, q, err := openItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.live {
		c.Reply.Int(0)
		return nil
	}
	positions, first, last, err := findEqual(c, &q, c.Args[2], count)
	if err != nil {
		return err
	}
	n := int64(len(positions))
	c.Reply.Int(n)
	switch n {
	case 0:
		return nil
	case q.length:
		q.shrink(n)
	default:
		if err := q.cut(c.View, positions, first, last); err != nil {
			return err
		}
	}
	c.notify(eventList, "lrem", c.Args[0])
	return writeList(c.View, &s, &q)
}

// findEqual finds up to count items that equal value, from the end if count
// is negative, and all of them if it is 0. It returns their positions, in
// order, and the ends of what there is beside them.
func findEqual(c *Call, q *sequence, value []byte, count int64) (positions []int64, first, last int64, err error) {
	backwards, most := count < 0, count
	if backwards {
		most = max(-count, 0) // the smallest integer is all of them, as in Redis
	}
	var near, far int64
	others := false
	for it, err := range q.items(c.View, 0, q.length, backwards) {
		if err != nil {
			return nil, 0, 0, err
		}
		full := most > 0 && int64(len(positions)) == most
		if full && others {
			far = q.end(!backwards)
			break
		}
		if !full && bytes.Equal(it.value, value) {
			positions = append(positions, it.position)
			continue
		}
		if !others {
			near, others = it.position, true
		}
		far = it.position
	}
	if backwards {
		slices.Reverse(positions)
		return positions, far, near, nil
	}
	return positions, near, far, nil
}

func lTrim(c *Call) error {
	start, end, err := parseBounds(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	s, q, err := openItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Simple("OK")
	if !s.live {
		return nil
	}
	switch rank, n := ranksOf(start, end, q.length); n {
	case q.length:
		c.notify(eventList, "ltrim", c.Args[0])
		return nil
	case 0:
		q.shrink(q.length)
	default:
		if err := q.trimItems(c.View, rank, n); err != nil {
			return err
		}
	}
	c.notify(eventList, "ltrim", c.Args[0])
	return writeList(c.View, &s, &q)
}

// posOptions are the options of LPOS.
type posOptions struct {
	rank   int64 // the first match that counts, from 1; negative from the end
	count  int64 // how many are asked for, 0 for all; negative without COUNT
	length int64 // how many items to look at, 0 for all
}

func parsePosOptions(args [][]byte) (o posOptions, err error) {
	o = posOptions{rank: 1, count: -1}
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return o, errSyntax
		}
		to, refused := &o.rank, errPosRank
		switch {
		case is(args[0], "RANK"):
		case is(args[0], "COUNT"):
			to, refused = &o.count, resp.Error("ERR COUNT can't be negative")
		case is(args[0], "MAXLEN"):
			to, refused = &o.length, resp.Error("ERR MAXLEN can't be negative")
		default:
			return o, errSyntax
		}
		n, ok := resp.ParseInt(args[1])
		switch {
		case to == &o.rank && !ok:
			return o, errNotInteger
		case to == &o.rank && n == 0, to != &o.rank && (!ok || n < 0):
			return o, refused
		}
		*to = n
	}
	return o, nil
}

const errPosRank = resp.Error("ERR RANK can't be zero: use 1 to start from the first match, " +
	"2 from the second ... or use negative to start from the end of the list")

func lPos(c *Call) error {
	o, err := parsePosOptions(c.Args[2:])
	if err != nil {
		return err
	}
	q, _, err := findList(c)
	if err != nil {
		return err
	}
	found, err := findIndexes(c, &q, c.Args[1], &o)
	switch {
	case err != nil:
		return err
	case o.count < 0 && len(found) == 0:
		c.Reply.Null()
		return nil
	case o.count < 0:
		c.Reply.Int(found[0])
		return nil
	}
	c.Reply.Array(len(found))
	for _, index := range found {
		c.Reply.Int(index)
	}
	return nil
}

// findIndexes is the indexes of the items that LPOS asks for, in the order in
// which it comes by them.
func findIndexes(c *Call, q *sequence, value []byte, o *posOptions) (found []int64, err error) {
	backwards, skip, most := o.rank < 0, o.rank-1, max(o.count, -o.count) // without COUNT, 1
	if backwards {
		skip = max(-o.rank, 1) - 1 // the smallest integer counts as -1, as in Redis
	}
	n := q.length
	if o.length > 0 {
		n = min(n, o.length)
	}
	index := int64(-1)
	for it, err := range q.items(c.View, 0, n, backwards) {
		if err != nil {
			return nil, err
		}
		index++
		if !bytes.Equal(it.value, value) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if backwards {
			found = append(found, q.length-1-index)
		} else {
			found = append(found, index)
		}
		if int64(len(found)) == most {
			break
		}
	}
	return found, nil
}

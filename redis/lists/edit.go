package lists

import (
	"bytes"
	"slices"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Commands that look for items by what they are: LINSERT, LREM, LPOS; and
// LTRIM.

func lInsert(c *command.Call) error {
	after := command.Is(c.Args[1], "AFTER")
	if !after && !command.Is(c.Args[1], "BEFORE") {
		return command.ErrSyntax
	}
	s, q, err := keyspace.OpenItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.Live {
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
	if err := insertAt(c, &q, &p, keyspace.Own(c.Args[3])); err != nil {
		return err
	}
	c.Reply.Int(q.Length)
	c.Notify(keyspace.EventList, "linsert", c.Args[0])
	return keyspace.WriteList(c.View, &s, &q)
}

// place is where an item is to be inserted.
type place struct {
	found          bool
	atStart, atEnd bool  // there is nothing before it, or behind it
	before, behind int64 // the positions of its neighbours
}

// findPlace looks for the place before or after the first item that equals
// pivot.
func findPlace(c *command.Call, q *keyspace.Sequence, pivot []byte, after bool) (place, error) {
	p := place{atStart: true, atEnd: true}
	for it, err := range q.Lent(c.View, 0, q.Length, false) {
		if err != nil {
			return p, err
		}
		passed := p.found
		p.found = passed || bytes.Equal(it.Value, pivot)
		if passed || p.found && !after {
			p.behind, p.atEnd = it.Position, false
			return p, nil
		}
		p.before, p.atStart = it.Position, false
	}
	return p, nil
}

// insertAt inserts or pushes a value, which is kept.
func insertAt(c *command.Call, q *keyspace.Sequence, p *place, value []byte) error {
	if !p.atStart && !p.atEnd {
		return q.Insert(c.View, p.before, p.behind, value)
	}
	if err := q.Reserve(c.View, 1, p.atEnd); err != nil {
		return err
	}
	return q.Push(c.View, value, p.atEnd)
}

func lRem(c *command.Call) error {
	count, ok := resp.ParseInt(c.Args[1])
	if !ok {
		return command.ErrNotInteger
	}
	s, q, err := keyspace.OpenItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.Live {
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
	case q.Length:
		q.Shrink(n)
	default:
		if err := q.Cut(c.View, positions, first, last); err != nil {
			return err
		}
	}
	c.Notify(keyspace.EventList, "lrem", c.Args[0])
	return keyspace.WriteList(c.View, &s, &q)
}

// findEqual finds up to count items that equal value, from the end if count
// is negative, and all of them if it is 0. It returns their positions, in
// order, and the ends of what there is beside them.
func findEqual(c *command.Call, q *keyspace.Sequence, value []byte, count int64) (positions []int64, first, last int64, err error) {
	backwards, most := count < 0, count
	if backwards {
		most = max(-count, 0) // the smallest integer is all of them, as in Redis
	}
	var near, far int64
	others := false
	for it, err := range q.Lent(c.View, 0, q.Length, backwards) {
		if err != nil {
			return nil, 0, 0, err
		}
		full := most > 0 && int64(len(positions)) == most
		if full && others {
			far = q.End(!backwards)
			break
		}
		if !full && bytes.Equal(it.Value, value) {
			positions = append(positions, it.Position)
			continue
		}
		if !others {
			near, others = it.Position, true
		}
		far = it.Position
	}
	if backwards {
		slices.Reverse(positions)
		return positions, far, near, nil
	}
	return positions, near, far, nil
}

func lTrim(c *command.Call) error {
	start, end, err := command.ParseBounds(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	s, q, err := keyspace.OpenItems(c.View, c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Simple("OK")
	if !s.Live {
		return nil
	}
	switch rank, n := keyspace.RanksOf(start, end, q.Length); n {
	case q.Length:
		c.Notify(keyspace.EventList, "ltrim", c.Args[0])
		return nil
	case 0:
		q.Shrink(q.Length)
	default:
		if err := q.TrimItems(c.View, rank, n); err != nil {
			return err
		}
	}
	c.Notify(keyspace.EventList, "ltrim", c.Args[0])
	return keyspace.WriteList(c.View, &s, &q)
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
			return o, command.ErrSyntax
		}
		to, refused := &o.rank, errPosRank
		switch {
		case command.Is(args[0], "RANK"):
		case command.Is(args[0], "COUNT"):
			to, refused = &o.count, resp.Error("ERR COUNT can't be negative")
		case command.Is(args[0], "MAXLEN"):
			to, refused = &o.length, resp.Error("ERR MAXLEN can't be negative")
		default:
			return o, command.ErrSyntax
		}
		n, ok := resp.ParseInt(args[1])
		switch {
		case to == &o.rank && !ok:
			return o, command.ErrNotInteger
		case to == &o.rank && n == 0, to != &o.rank && (!ok || n < 0):
			return o, refused
		}
		*to = n
	}
	return o, nil
}

const errPosRank = resp.Error("ERR RANK can't be zero: use 1 to start from the first match, " +
	"2 from the second ... or use negative to start from the end of the list")

func lPos(c *command.Call) error {
	o, err := parsePosOptions(c.Args[2:])
	if err != nil {
		return err
	}
	q, _, err := FindList(c)
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
func findIndexes(c *command.Call, q *keyspace.Sequence, value []byte, o *posOptions) (found []int64, err error) {
	backwards, skip, most := o.rank < 0, o.rank-1, max(o.count, -o.count) // without COUNT, 1
	if backwards {
		skip = max(-o.rank, 1) - 1 // the smallest integer counts as -1, as in Redis
	}
	n := q.Length
	if o.length > 0 {
		n = min(n, o.length)
	}
	index := int64(-1)
	for it, err := range q.Lent(c.View, 0, n, backwards) {
		if err != nil {
			return nil, err
		}
		index++
		if !bytes.Equal(it.Value, value) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if backwards {
			found = append(found, q.Length-1-index)
		} else {
			found = append(found, index)
		}
		if int64(len(found)) == most {
			break
		}
	}
	return found, nil
}

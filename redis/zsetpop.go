package redis

import (
	"github.com/firndb/firn/resp"
)

// Taking members from an end: ZPOPMIN, ZPOPMAX, ZMPOP, and those that wait.

const (
	errNotPositive = Error("ERR value is out of range, must be positive")
	errNumKeys     = Error("ERR numkeys should be greater than 0")
	errPopCount    = Error("ERR count should be greater than 0")
)

// pop removes up to count members from one end of an opened sorted set that
// is live, and returns them in the order of their removal.
func (c *Call) pop(s *slot, key []byte, count int64, highest bool) ([]rated, error) {
	e, err := c.editZSet(s)
	if err != nil {
		return nil, err
	}
	count = min(count, s.key.Length)
	// The member behind them will be the one at the end.
	members, err := e.collect(&selection{by: byRank, last: min(count, s.key.Length-1), reverse: highest})
	if err != nil {
		return nil, err
	}
	rest := members[count:]
	members = members[:count]
	if err := e.dropAll(members); err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		e.setEnd(rest[0], highest)
	}
	event := "zpopmin"
	if highest {
		event = "zpopmax"
	}
	return members, e.finishRemoval(event, key)
}

// openFirst opens the first of the keys that has a sorted set; ok is false if
// none has. A key of another type is an error, unless the command has waited.
func (c *Call) openFirst(keys [][]byte) (s slot, key []byte, ok bool, err error) {
	for _, key := range keys {
		s, err := c.open(key)
		switch {
		case err != nil:
			return s, nil, false, err
		case !s.live:
		case s.key.Kind == kindZSet:
			return s, key, true, nil
		case !c.Waited:
			return s, nil, false, errWrongType
		}
	}
	return slot{}, nil, false, nil
}

// zPop is ZPOPMIN and ZPOPMAX.
func zPop(highest bool) func(*Call) error {
	return func(c *Call) error {
		if len(c.Args) > 2 {
			return errSyntax
		}
		count := int64(1)
		if len(c.Args) == 2 {
			var ok bool
			if count, ok = resp.ParseInt(c.Args[1]); !ok || count < 0 {
				return errNotPositive
			}
		}
		s, err := c.openKind(c.Args[0], kindZSet)
		if err != nil {
			return err
		}
		if !s.live || count == 0 {
			c.Reply.Array(0)
			return nil
		}
		members, err := c.pop(&s, c.Args[0], count, highest)
		if err != nil {
			return err
		}
		if len(c.Args) == 1 {
			c.Reply.Array(2)
			c.Reply.BulkString(members[0].member)
			c.Reply.Double(members[0].score)
			return nil
		}
		l := c.beginRated(true)
		for _, m := range members {
			_ = l.add(m)
		}
		l.end()
		return nil
	}
}

// popQuery is what ZMPOP and BZMPOP ask for.
type popQuery struct {
	keys    [][]byte
	highest bool
	count   int64
}

// parsePop reads numkeys, the keys, and what follows them.
func parsePop(args [][]byte) (q popQuery, err error) {
	n, ok := resp.ParseInt(args[0])
	if !ok || n < 1 {
		return q, errNumKeys
	}
	if n >= int64(len(args)-1) {
		return q, errSyntax
	}
	q.keys, q.count = args[1:1+n], 1
	rest := args[1+n:]
	switch {
	case is(rest[0], "MAX"):
		q.highest = true
	case !is(rest[0], "MIN"):
		return q, errSyntax
	}
	switch {
	case len(rest) == 1:
		return q, nil
	case len(rest) < 3 || !is(rest[1], "COUNT"):
		return q, errSyntax
	}
	if q.count, ok = resp.ParseInt(rest[2]); !ok || q.count < 1 {
		return q, errPopCount
	}
	if len(rest) > 3 {
		return q, errSyntax
	}
	return q, nil
}

// popFirst pops from the first of the keys that has members, and replies; ok
// is false, and nothing replied, if none has.
func (c *Call) popFirst(q *popQuery) (ok bool, err error) {
	s, key, ok, err := c.openFirst(q.keys)
	if err != nil || !ok {
		return false, err
	}
	members, err := c.pop(&s, key, q.count, q.highest)
	if err != nil {
		return false, err
	}
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	c.Reply.Array(len(members))
	for _, m := range members {
		c.Reply.Array(2)
		c.Reply.BulkString(m.member)
		c.Reply.Double(m.score)
	}
	return true, nil
}

func zMPop(c *Call) error {
	q, err := parsePop(c.Args)
	if err != nil {
		return err
	}
	ok, err := c.popFirst(&q)
	if err == nil && !ok {
		c.Reply.NullArray()
	}
	return err
}

// noMembers is the reply of a command that has waited in vain.
func noMembers(w *resp.Writer) { w.NullArray() }

func bzMPop(c *Call) error {
	q, err := parsePop(c.Args[1:])
	if err != nil {
		return err
	}
	timeout, err := parseTimeout(c.Args[0])
	if err != nil {
		return err
	}
	ok, err := c.popFirst(&q)
	if err != nil || ok {
		return err
	}
	return c.wait(wait{keys: q.keys, kind: kindZSet, timeout: timeout, nothing: noMembers})
}

// bzPop is BZPOPMIN and BZPOPMAX.
func bzPop(highest bool) func(*Call) error {
	return func(c *Call) error {
		last := len(c.Args) - 1
		timeout, err := parseTimeout(c.Args[last])
		if err != nil {
			return err
		}
		keys := c.Args[:last]
		s, key, ok, err := c.openFirst(keys)
		if err != nil {
			return err
		}
		if !ok {
			return c.wait(wait{keys: keys, kind: kindZSet, timeout: timeout, nothing: noMembers})
		}
		members, err := c.pop(&s, key, 1, highest)
		if err != nil {
			return err
		}
		c.Reply.Array(3)
		c.Reply.Bulk(key)
		c.Reply.BulkString(members[0].member)
		c.Reply.Double(members[0].score)
		return nil
	}
}

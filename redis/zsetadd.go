package redis

import (
	"math"
	"strings"

	"github.com/firndb/firn/resp"
)

// Changing members: ZADD, ZINCRBY and ZREM, and removing ranges.

const errNaN = resp.Error("ERR resulting score is not a number (NaN)")

// addOptions are the options of ZADD.
type addOptions struct {
	ifAbsent, ifPresent bool // NX, XX
	ifGreater, ifLess   bool // GT, LT: an old score is replaced by such a one only
	changed             bool // CH: reply how many are new or have changed
	increment           bool // INCR
}

// parseAddOptions reads the options of ZADD and returns what follows them.
func parseAddOptions(args [][]byte) (o addOptions, rest [][]byte, err error) {
options:
	for rest = args; len(rest) > 0; rest = rest[1:] {
		switch {
		case is(rest[0], "NX"):
			o.ifAbsent = true
		case is(rest[0], "XX"):
			o.ifPresent = true
		case is(rest[0], "GT"):
			o.ifGreater = true
		case is(rest[0], "LT"):
			o.ifLess = true
		case is(rest[0], "CH"):
			o.changed = true
		case is(rest[0], "INCR"):
			o.increment = true
		default:
			break options
		}
	}
	switch {
	case len(rest) == 0 || len(rest)%2 != 0:
		return o, nil, errSyntax
	case o.ifAbsent && o.ifPresent:
		return o, nil, resp.Error("ERR XX and NX options at the same time are not compatible")
	case o.ifGreater && o.ifAbsent, o.ifLess && o.ifAbsent, o.ifGreater && o.ifLess:
		return o, nil, resp.Error("ERR GT, LT, and/or NX options at the same time are not compatible")
	case o.increment && len(rest) > 2:
		return o, nil, resp.Error("ERR INCR option supports a single increment-element pair")
	}
	return o, rest, nil
}

func zAdd(c *Call) error {
	o, pairs, err := parseAddOptions(c.Args[1:])
	if err != nil {
		return err
	}
	return addPairs(c, o, pairs)
}

func zIncrBy(c *Call) error {
	return addPairs(c, addOptions{increment: true}, c.Args[1:])
}

// scored is a member and the score that it is given.
type scored struct {
	score  float64
	member []byte
}

// addPairs stores pairs of a score and a member, as a client gives them.
func addPairs(c *Call, o addOptions, pairs [][]byte) error {
	var room [4]scored // most commands have few
	members := room[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, ok := resp.ParseDouble(pairs[i])
		if !ok {
			return errNotFloat
		}
		members = append(members, scored{score, pairs[i+1]})
	}
	return addScores(c, o, members)
}

// addResult is what became of one member.
type addResult struct {
	added, changed bool
	refused        bool    // an option did not let it pass
	score          float64 // what it has now, unless refused
}

// addScores stores members at the call's key.
func addScores(c *Call, o addOptions, members []scored) error {
	s, err := c.openKind(c.Args[0], kindZSet)
	if err != nil {
		return err
	}
	if !s.live && o.ifPresent {
		if o.increment {
			c.Reply.Null()
		} else {
			c.Reply.Int(0)
		}
		return nil
	}
	e, err := editZSet(c.View, &s)
	if err != nil {
		return err
	}
	var added, changed int64
	var last addResult
	for _, m := range members {
		if last, err = e.add(&o, m.score, m.member); err != nil {
			return err
		}
		if last.added {
			added++
		}
		if last.changed {
			changed++
		}
	}
	switch {
	case o.increment && last.refused:
		c.Reply.Null()
	case o.increment:
		c.Reply.Double(last.score)
	case o.changed:
		c.Reply.Int(added + changed)
	default:
		c.Reply.Int(added)
	}
	if added+changed == 0 {
		return nil
	}
	event := "zadd"
	if o.increment {
		event = "zincr"
	}
	_, err = e.finish()
	c.notify(eventZSet, event, c.Args[0])
	return err
}

// add gives one member a score, as far as the options allow. The same score
// again is no write.
func (e *zsetEdit) add(o *addOptions, score float64, member []byte) (r addResult, err error) {
	old, had, err := scoreOf(e.v, e.s.key.UID, member)
	if err != nil {
		return r, err
	}
	if !had {
		if o.ifPresent {
			return addResult{refused: true}, nil
		}
		return addResult{added: true, score: score}, e.put(member, score, 0, false)
	}
	if o.ifAbsent {
		return addResult{refused: true}, nil
	}
	if o.increment {
		if score += old; math.IsNaN(score) {
			return r, errNaN
		}
	}
	if o.ifGreater && score <= old || o.ifLess && score >= old {
		return addResult{refused: true}, nil
	}
	if score == old {
		return addResult{score: score}, nil
	}
	return addResult{changed: true, score: score}, e.put(member, score, old, true)
}

func zRem(c *Call) error {
	s, err := c.openKind(c.Args[0], kindZSet)
	if err != nil {
		return err
	}
	if !s.live {
		c.Reply.Int(0)
		return nil
	}
	e, err := editZSet(c.View, &s)
	if err != nil {
		return err
	}
	var n int64
	for _, member := range c.Args[1:] {
		score, ok, err := scoreOf(c.View, s.key.UID, member)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := e.drop(member, score); err != nil {
			return err
		}
		n++
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	return e.finishRemoval("zrem", c.Args[0])
}

// finishRemoval is finish after members were removed, with the events of it.
func (e *zsetEdit) finishRemoval(event string, key []byte) error {
	e.v.notify(eventZSet, event, key)
	emptied, err := e.finish()
	if emptied && err == nil {
		e.v.notify(eventGeneric, "del", key)
	}
	return err
}

// zRemRange is the commands that remove a range.
func zRemRange(by order) func(*Call) error {
	return func(c *Call) error {
		q := rangeQuery{selection: selection{by: by}}
		q.unlimited()
		if err := q.parseBounds(c.Args[1], c.Args[2]); err != nil {
			return err
		}
		s, err := c.openKind(c.Args[0], kindZSet)
		if err != nil {
			return err
		}
		if !s.live {
			c.Reply.Int(0)
			return nil
		}
		e, err := editZSet(c.View, &s)
		if err != nil {
			return err
		}
		members, err := selectMembers(c.View, &s.key, &q.selection)
		if err != nil {
			return err
		}
		c.Reply.Int(int64(len(members)))
		if len(members) == 0 {
			return nil
		}
		if err := e.dropAll(members); err != nil {
			return err
		}
		return e.finishRemoval(strings.ToLower(c.Cmd.Name), c.Args[0])
	}
}

// dropAll removes members that the set has.
func (e *zsetEdit) dropAll(members []rated) error {
	for _, m := range members {
		if err := e.drop([]byte(m.member), m.score); err != nil {
			return err
		}
	}
	return nil
}

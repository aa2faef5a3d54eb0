package zsets

import (
	"math"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
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
		case command.Is(rest[0], "NX"):
			o.ifAbsent = true
		case command.Is(rest[0], "XX"):
			o.ifPresent = true
		case command.Is(rest[0], "GT"):
			o.ifGreater = true
		case command.Is(rest[0], "LT"):
			o.ifLess = true
		case command.Is(rest[0], "CH"):
			o.changed = true
		case command.Is(rest[0], "INCR"):
			o.increment = true
		default:
			break options
		}
	}
	switch {
	case len(rest) == 0 || len(rest)%2 != 0:
		return o, nil, command.ErrSyntax
	case o.ifAbsent && o.ifPresent:
		return o, nil, resp.Error("ERR XX and NX options at the same time are not compatible")
	case o.ifGreater && o.ifAbsent, o.ifLess && o.ifAbsent, o.ifGreater && o.ifLess:
		return o, nil, resp.Error("ERR GT, LT, and/or NX options at the same time are not compatible")
	case o.increment && len(rest) > 2:
		return o, nil, resp.Error("ERR INCR option supports a single increment-element pair")
	}
	return o, rest, nil
}

func zAdd(c *command.Call) error {
	o, pairs, err := parseAddOptions(c.Args[1:])
	if err != nil {
		return err
	}
	return addPairs(c, o, pairs)
}

func zIncrBy(c *command.Call) error {
	return addPairs(c, addOptions{increment: true}, c.Args[1:])
}

// scored is a member and the score that it is given.
type scored struct {
	score  float64
	member []byte
}

// addPairs stores pairs of a score and a member, as a client gives them.
func addPairs(c *command.Call, o addOptions, pairs [][]byte) error {
	var room [4]scored // most commands have few
	members := room[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, ok := resp.ParseDouble(pairs[i])
		if !ok {
			return command.ErrNotFloat
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

// addScores stores members at the key that the call names first.
func addScores(c *command.Call, o addOptions, members []scored) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindZSet)
	if err != nil {
		return err
	}
	if !s.Live && o.ifPresent {
		if o.increment {
			c.Reply.Null()
		} else {
			c.Reply.Int(0)
		}
		return nil
	}
	e, err := keyspace.EditZSet(c.View, &s)
	if err != nil {
		return err
	}
	var added, changed int64
	var last addResult
	for _, m := range members {
		if last, err = addScore(&e, &o, m.score, m.member); err != nil {
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
	_, err = e.Finish()
	c.Notify(keyspace.EventZSet, event, c.Args[0])
	return err
}

// addScore gives one member a score, as far as the options allow. The same score
// again is no write.
func addScore(e *keyspace.ZSetEdit, o *addOptions, score float64, member []byte) (r addResult, err error) {
	old, had, err := keyspace.ScoreOf(e.V, e.S.Key.UID, member)
	if err != nil {
		return r, err
	}
	if !had {
		if o.ifPresent {
			return addResult{refused: true}, nil
		}
		return addResult{added: true, score: score}, e.Put(member, score, 0, false)
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
	return addResult{changed: true, score: score}, e.Put(member, score, old, true)
}

// openToRemove begins to take members off the sorted set at the call's key. ok
// is false if there is none: 0 has been replied.
func openToRemove(c *command.Call) (e keyspace.ZSetEdit, ok bool, err error) {
	s, err := c.OpenKind(c.Args[0], keyspace.KindZSet)
	if err != nil {
		return e, false, err
	}
	if !s.Live {
		c.Reply.Int(0)
		return e, false, nil
	}
	e, err = keyspace.EditZSet(c.View, &s)
	return e, err == nil, err
}

func zRem(c *command.Call) error {
	e, ok, err := openToRemove(c)
	if err != nil || !ok {
		return err
	}
	var n int64
	for _, member := range c.Args[1:] {
		score, ok, err := keyspace.ScoreOf(c.View, e.S.Key.UID, member)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := e.Drop(member, score); err != nil {
			return err
		}
		n++
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	return finishRemoval(&e, "zrem", c.Args[0])
}

// finishRemoval is finish after members were removed, with the events of it.
func finishRemoval(e *keyspace.ZSetEdit, event string, key []byte) error {
	e.V.Notify(keyspace.EventZSet, event, key)
	emptied, err := e.Finish()
	if emptied && err == nil {
		e.V.Notify(keyspace.EventGeneric, "del", key)
	}
	return err
}

// zRemRange is the commands that remove a range.
func zRemRange(by keyspace.Order) func(*command.Call) error {
	return func(c *command.Call) error {
		q := rangeQuery{Selection: keyspace.Selection{By: by}}
		q.Unlimited()
		if err := q.parseBounds(c.Args[1], c.Args[2]); err != nil {
			return err
		}
		e, ok, err := openToRemove(c)
		if err != nil || !ok {
			return err
		}
		members, err := keyspace.SelectMembers(c.View, &e.S.Key, &q.Selection)
		if err != nil {
			return err
		}
		c.Reply.Int(int64(len(members)))
		if len(members) == 0 {
			return nil
		}
		if err := dropAll(&e, members); err != nil {
			return err
		}
		return finishRemoval(&e, strings.ToLower(c.Cmd.Name), c.Args[0])
	}
}

// dropAll removes members that the set has.
func dropAll(e *keyspace.ZSetEdit, members []keyspace.Rated) error {
	for _, m := range members {
		if err := e.Drop(e.V.Keep(append(e.V.Room(), m.Member...)), m.Score); err != nil {
			return err
		}
	}
	return nil
}

package redis

import (
	"math"

	"github.com/firndb/firn/resp"
)

// Reading ranges: ZRANGE and the commands that it has replaced, ZRANGESTORE,
// and counting.

const (
	errLimitByRank  = resp.Error("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
	errScoresByName = resp.Error("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
)

// rangeQuery is what a command of the ZRANGE family asks for.
type rangeQuery struct {
	selection
	withScores bool
}

// rangeForm is what a command's name says already.
type rangeForm struct {
	by      order
	reverse bool
	free    bool // BYSCORE, BYLEX and REV say it: it is ZRANGE or ZRANGESTORE
	store   bool
}

// parseRange reads the bounds of a range and the options behind them.
func parseRange(args [][]byte, form rangeForm) (q rangeQuery, err error) {
	q.by, q.reverse = form.by, form.reverse
	q.unlimited()
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		var ok bool
		switch {
		case !form.store && is(rest[0], "WITHSCORES"):
			q.withScores = true
		case is(rest[0], "LIMIT") && len(rest) > 2:
			if q.skip, ok = resp.ParseInt(rest[1]); !ok {
				return q, errNotInteger
			}
			if q.limit, ok = resp.ParseInt(rest[2]); !ok {
				return q, errNotInteger
			}
			rest = rest[2:]
		case form.free && !q.reverse && is(rest[0], "REV"):
			q.reverse = true
		case form.free && is(rest[0], "BYLEX") && q.by == byRank:
			q.by = byLex
		case form.free && is(rest[0], "BYSCORE") && q.by == byRank:
			q.by = byScore
		default:
			return q, errSyntax
		}
	}
	switch {
	case q.limit != -1 && q.by == byRank:
		return q, errLimitByRank
	case q.withScores && q.by == byLex:
		return q, errScoresByName
	}
	return q, q.parseBounds(args[0], args[1])
}

// parseBounds reads the two bounds, of which a range in reverse has the
// greater one first, unless it goes by rank.
func (q *rangeQuery) parseBounds(low, high []byte) (err error) {
	if q.reverse && q.by != byRank {
		low, high = high, low
	}
	switch q.by {
	case byScore:
		q.scores, err = parseScoreRange(low, high)
	case byLex:
		q.members, err = parseLexRange(low, high)
	default:
		q.first, q.last, err = parseBounds(low, high)
	}
	return err
}

// zRange is the commands that reply a range.
func zRange(form rangeForm) func(*Call) error {
	return func(c *Call) error {
		q, err := parseRange(c.Args[1:], form)
		if err != nil {
			return err
		}
		k, ok, err := findZSet(c.View, c.Args[0])
		if err != nil {
			return err
		}
		l := beginRated(&c.Reply, q.withScores)
		if ok {
			if err := eachSelected(c.View, &k, &q.selection, l.add); err != nil {
				return err
			}
		}
		l.end()
		return nil
	}
}

func zRangeStore(c *Call) error {
	q, err := parseRange(c.Args[2:], rangeForm{free: true, store: true})
	if err != nil {
		return err
	}
	k, ok, err := findZSet(c.View, c.Args[1])
	if err != nil {
		return err
	}
	var members []rated
	if ok {
		if members, err = selectMembers(c.View, &k, &q.selection); err != nil {
			return err
		}
	}
	return storeZSet(c, c.Args[0], members, 0, "zrangestore") // it meets a long member when its turn comes
}

// longestOf is the length of the longest of members, in bytes.
func longestOf(members []rated) int {
	longest := 0
	for _, m := range members {
		longest = max(longest, len(m.member))
	}
	return longest
}

// storeZSet puts a sorted set of different members in place of whatever is at
// a key, which ends if there are none, and replies how many there are. longest
// is for foresee.
func storeZSet(c *Call, key []byte, members []rated, longest int, event string) error {
	s, err := c.openIn(c.DB, key)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(members)))
	if len(members) == 0 {
		return c.clear(&s)
	}
	e := replaceZSet(c.View, &s)
	e.foresee(len(members), longest)
	for _, m := range members {
		if err := e.put([]byte(m.member), m.score, 0, false); err != nil {
			return err
		}
	}
	_, err = e.finish()
	c.notify(eventZSet, event, key)
	return err
}

func zCard(c *Call) error {
	k, _, err := findZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func zCount(c *Call) error {
	r, err := parseScoreRange(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	return replyCount(c, selection{by: byScore, scores: r})
}

func zLexCount(c *Call) error {
	r, err := parseLexRange(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	return replyCount(c, selection{by: byLex, members: r, limit: math.MaxInt64})
}

func replyCount(c *Call, sel selection) error {
	k, ok, err := findZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	n := 0
	if ok {
		if n, err = countSelected(c.View, &k, &sel); err != nil {
			return err
		}
	}
	c.Reply.Int(int64(n))
	return nil
}

// zRank is ZRANK and ZREVRANK.
func zRank(reverse bool) func(*Call) error {
	return func(c *Call) error {
		withScore := len(c.Args) > 2
		if withScore && !is(c.Args[2], "WITHSCORE") {
			return errSyntax
		}
		k, ok, err := findZSet(c.View, c.Args[0])
		if err != nil {
			return err
		}
		var score float64
		if ok {
			if score, ok, err = scoreOf(c.View, k.UID, c.Args[1]); err != nil {
				return err
			}
		}
		switch {
		case !ok && withScore:
			c.Reply.NullArray()
			return nil
		case !ok:
			c.Reply.Null()
			return nil
		}
		n, err := rankOf(c.View, &k, rated{score, string(c.Args[1])}, reverse)
		if err != nil {
			return err
		}
		if withScore {
			c.Reply.Array(2)
		}
		c.Reply.Int(int64(n))
		if withScore {
			c.Reply.Double(score)
		}
		return nil
	}
}

func zScore(c *Call) error {
	k, ok, err := findZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	return replyScore(c, &k, ok, c.Args[1])
}

func zMScore(c *Call) error {
	k, ok, err := findZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 1)
	for _, member := range c.Args[1:] {
		if err := replyScore(c, &k, ok, member); err != nil {
			return err
		}
	}
	return nil
}

// replyScore replies a member's score, or null.
func replyScore(c *Call, k *keyDoc, ok bool, member []byte) error {
	var score float64
	var err error
	if ok {
		if score, ok, err = scoreOf(c.View, k.UID, member); err != nil {
			return err
		}
	}
	if ok {
		c.Reply.Double(score)
	} else {
		c.Reply.Null()
	}
	return nil
}

package zsets

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
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
	keyspace.Selection
	withScores bool
}

// rangeForm is what a command's name says already.
type rangeForm struct {
	by      keyspace.Order
	reverse bool
	free    bool // BYSCORE, BYLEX and REV say it: it is ZRANGE or ZRANGESTORE
	store   bool
}

// parseRange reads the bounds of a range and the options behind them.
func parseRange(args [][]byte, form rangeForm) (q rangeQuery, err error) {
	q.By, q.Reverse = form.by, form.reverse
	q.Unlimited()
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		var ok bool
		switch {
		case !form.store && command.Is(rest[0], "WITHSCORES"):
			q.withScores = true
		case command.Is(rest[0], "LIMIT") && len(rest) > 2:
			if q.Skip, ok = resp.ParseInt(rest[1]); !ok {
				return q, command.ErrNotInteger
			}
			if q.Limit, ok = resp.ParseInt(rest[2]); !ok {
				return q, command.ErrNotInteger
			}
			rest = rest[2:]
		case form.free && !q.Reverse && command.Is(rest[0], "REV"):
			q.Reverse = true
		case form.free && command.Is(rest[0], "BYLEX") && q.By == keyspace.ByRank:
			q.By = keyspace.ByLex
		case form.free && command.Is(rest[0], "BYSCORE") && q.By == keyspace.ByRank:
			q.By = keyspace.ByScore
		default:
			return q, command.ErrSyntax
		}
	}
	switch {
	case q.Limit != -1 && q.By == keyspace.ByRank:
		return q, errLimitByRank
	case q.withScores && q.By == keyspace.ByLex:
		return q, errScoresByName
	}
	return q, q.parseBounds(args[0], args[1])
}

// ParseBounds reads the two bounds, of which a range in reverse has the
// greater one first, unless it goes by rank.
func (q *rangeQuery) parseBounds(low, high []byte) (err error) {
	if q.Reverse && q.By != keyspace.ByRank {
		low, high = high, low
	}
	switch q.By {
	case keyspace.ByScore:
		q.Scores, err = keyspace.ParseScoreRange(low, high)
	case keyspace.ByLex:
		q.Members, err = keyspace.ParseLexRange(low, high)
	default:
		q.First, q.Last, err = command.ParseBounds(low, high)
	}
	return err
}

// zRange is the commands that reply a range.
func zRange(form rangeForm) func(*command.Call) error {
	return func(c *command.Call) error {
		q, err := parseRange(c.Args[1:], form)
		if err != nil {
			return err
		}
		k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
		if err != nil {
			return err
		}
		l := beginRated(&c.Reply, q.withScores)
		if ok {
			if err := keyspace.EachSelected(c.View, &k, &q.Selection, l.add); err != nil {
				return err
			}
		}
		l.end()
		return nil
	}
}

func zRangeStore(c *command.Call) error {
	q, err := parseRange(c.Args[2:], rangeForm{free: true, store: true})
	if err != nil {
		return err
	}
	k, ok, err := keyspace.FindZSet(c.View, c.Args[1])
	if err != nil {
		return err
	}
	var members []keyspace.Rated
	if ok {
		if members, err = keyspace.SelectMembers(c.View, &k, &q.Selection); err != nil {
			return err
		}
	}
	return storeZSet(c, c.Args[0], members, 0, "zrangestore") // it meets a long member when its turn comes
}

// longestOf is the length of the longest of members, in bytes.
func longestOf(members []keyspace.Rated) int {
	longest := 0
	for _, m := range members {
		longest = max(longest, len(m.Member))
	}
	return longest
}

// storeZSet puts a sorted set of different members in place of whatever is at
// a key, which ends if there are none, and replies how many there are. longest
// is for foresee.
func storeZSet(c *command.Call, key []byte, members []keyspace.Rated, longest int, event string) error {
	s, err := c.OpenIn(c.DB, key)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(members)))
	if len(members) == 0 {
		return c.Clear(&s)
	}
	e := keyspace.ReplaceZSet(c.View, &s)
	e.Foresee(len(members), longest)
	for _, m := range members {
		if err := e.Put([]byte(m.Member), m.Score, 0, false); err != nil {
			return err
		}
	}
	_, err = e.Finish()
	c.Notify(keyspace.EventZSet, event, key)
	return err
}

func zCard(c *command.Call) error {
	k, _, err := keyspace.FindZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func zCount(c *command.Call) error {
	r, err := keyspace.ParseScoreRange(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	return replyCount(c, keyspace.Selection{By: keyspace.ByScore, Scores: r})
}

func zLexCount(c *command.Call) error {
	r, err := keyspace.ParseLexRange(c.Args[1], c.Args[2])
	if err != nil {
		return err
	}
	return replyCount(c, keyspace.Selection{By: keyspace.ByLex, Members: r, Limit: math.MaxInt64})
}

func replyCount(c *command.Call, sel keyspace.Selection) error {
	k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	n := 0
	if ok {
		if n, err = keyspace.CountSelected(c.View, &k, &sel); err != nil {
			return err
		}
	}
	c.Reply.Int(int64(n))
	return nil
}

// zRank is ZRANK and ZREVRANK.
func zRank(reverse bool) func(*command.Call) error {
	return func(c *command.Call) error {
		if len(c.Args) > 3 {
			return command.ErrArity(c)
		}
		withScore := len(c.Args) > 2
		if withScore && !command.Is(c.Args[2], "WITHSCORE") {
			return command.ErrSyntax
		}
		k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
		if err != nil {
			return err
		}
		var score float64
		if ok {
			if score, ok, err = keyspace.ScoreOf(c.View, k.UID, c.Args[1]); err != nil {
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
		n, err := keyspace.RankOf(c.View, &k, keyspace.Rated{Score: score, Member: string(c.Args[1])}, reverse)
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

func zScore(c *command.Call) error {
	k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	return replyScore(c, &k, ok, c.Args[1])
}

func zMScore(c *command.Call) error {
	k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
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
func replyScore(c *command.Call, k *keyspace.KeyDoc, ok bool, member []byte) error {
	var score float64
	var err error
	if ok {
		if score, ok, err = keyspace.ScoreOf(c.View, k.UID, member); err != nil {
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

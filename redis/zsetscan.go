package redis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/schema"
)

// Parts of sorted sets: ZSCAN and ZRANDMEMBER.

func zScan(c *Call) error {
	cursor, err := parseCursor(c.Args[1])
	if err != nil {
		return err
	}
	k, ok, err := c.findZSet(c.Args[0])
	if err != nil {
		return err
	}
	var l list
	if !ok {
		replyPage(c, 0, &l)
		return nil
	}
	o, err := parseScanOptions(c.Args[2:], false)
	if err != nil {
		return err
	}
	var next uint64
	if k.Encoding == compact {
		// Like Redis, a small set in one step and in its order.
		err = c.eachMember(&k, func(m rated) error {
			l.addScanned(&o, []byte(m.member), m.score, true)
			return nil
		})
	} else {
		next, err = c.scanScores(&k, cursor, &o, &l)
	}
	if err != nil {
		return err
	}
	replyPage(c, next, &l)
	return nil
}

// scanScores adds one step of a large set, in the order of the members' bytes.
func (c *Call) scanScores(k *keyDoc, cursor uint64, o *scanOptions, l *list) (uint64, error) {
	prefix := slices.Clone(c.elementPrefix(k.UID))
	return c.step(c.work.scores.ByID(), prefix, cursor, o, func(item firn.Item) error {
		member, err := c.subKey(item.Key, len(prefix))
		if err != nil {
			return err
		}
		score, ok := parseScore(item.Doc.Value)
		if !ok {
			return fmt.Errorf("score of %q in %d/%d: %w", member, k.UID.TS, k.UID.N, errDamaged)
		}
		l.addScanned(o, member, score, false)
		return nil
	})
}

// addScanned adds a member and its score as ZSCAN shows them, if wanted.
// Redis keeps integers as such in a small set, and shows all their digits.
func (l *list) addScanned(o *scanOptions, member []byte, score float64, small bool) {
	if !o.matches(member) {
		return
	}
	l.add(member)
	var text [32]byte
	const most = float64(math.MaxInt64 / 2)
	if small && -most <= score && score <= most && score == math.Trunc(score) {
		l.add(strconv.AppendInt(text[:0], int64(score), 10))
		return
	}
	l.add(resp.AppendDouble(text[:0], score))
}

// maxRandomMembers bounds ZRANDMEMBER with a negative count, whose reply grows
// with the number and not with the set.
const maxRandomMembers = 10_000_000

// parseRandomMembers reads ZRANDMEMBER's options.
func parseRandomMembers(args [][]byte) (count int64, withScores bool, err error) {
	count, ok := resp.ParseInt(args[0])
	switch {
	case !ok:
		return 0, false, errNotInteger
	case count == math.MinInt64:
		return 0, false, Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
	case len(args) > 2 || len(args) == 2 && !is(args[1], "WITHSCORES"):
		return 0, false, errSyntax
	}
	withScores = len(args) == 2
	if withScores && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) || count < -maxRandomMembers {
		return 0, false, errOutOfRange
	}
	return count, withScores, nil
}

func zRandMember(c *Call) error {
	count, withScores, alone := int64(1), false, len(c.Args) == 1
	if !alone {
		var err error
		if count, withScores, err = parseRandomMembers(c.Args[1:]); err != nil {
			return err
		}
	}
	k, ok, err := c.findZSet(c.Args[0])
	switch {
	case err != nil:
		return err
	case !ok && alone:
		c.Reply.Null()
		return nil
	case !ok || count == 0:
		c.Reply.Array(0)
		return nil
	}
	members, err := c.randomMembers(&k, count)
	if err != nil {
		return err
	}
	if alone {
		c.Reply.BulkString(members[0].member)
		return nil
	}
	l := c.beginRated(withScores)
	for _, m := range members {
		_ = l.add(m)
	}
	l.end()
	return nil
}

// fewRandom is how many members are drawn one by one from a set that is not
// in memory; for more the set is walked over.
const fewRandom = 64

// randomMembers draws members of a set: by rank, or a few of a large set that
// is not in memory byte by byte, as RANDOMKEY draws keys.
func (c *Call) randomMembers(k *keyDoc, count int64) ([]rated, error) {
	s, err := c.span(k)
	if err != nil {
		return nil, err
	}
	held, err := c.warm(k, &s, k.Length)
	if err != nil {
		return nil, err
	}
	if !held && -fewRandom <= count && count <= fewRandom && k.Length > smallZSet {
		members, err := c.drawMembers(s, count)
		if err != nil || members != nil {
			return members, err
		}
	}
	ranks := randomRanks(int(k.Length), count)
	members := make([]rated, len(ranks))
	if held {
		for i, rank := range ranks {
			if err := c.walk(s, rank, 1, func(m rated) error { members[i] = m; return nil }); err != nil {
				return nil, err
			}
		}
		return members, nil
	}
	return members, c.pick(k, s, ranks, members)
}

// pick finds the members at ranks in one walk over the set.
func (c *Call) pick(k *keyDoc, s span, ranks []int, members []rated) error {
	places := make([]int, len(ranks)) // of ranks, lowest rank first
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return ranks[a] - ranks[b] })
	rank, done := 0, 0
	err := c.walk(s, 0, 0, func(m rated) error {
		for ; done < len(places) && ranks[places[done]] == rank; done++ {
			members[places[done]] = m
		}
		if done == len(places) {
			return errStop
		}
		rank++
		return nil
	})
	if err == nil {
		return lengthError(k, int64(rank))
	}
	if err == errStop {
		return nil
	}
	return err
}

// drawTries is how often a member that was drawn before is drawn again.
const drawTries = 8

// drawMembers draws -count members, or count different ones; nil if it has
// drawn too many that it had.
func (c *Call) drawMembers(s span, count int64) ([]rated, error) {
	unique := count > 0
	count = max(count, -count)
	var members []rated
	for range drawTries * count {
		key, err := c.drawEntry(s)
		if err != nil {
			return nil, err
		}
		m, err := parseEntry(key, s.uidBytes)
		if err != nil {
			return nil, err
		}
		if unique && slices.Contains(members, m) {
			continue
		}
		if members = append(members, m); int64(len(members)) == count {
			return members, nil
		}
	}
	return nil, nil
}

// drawEntry draws an entry: of those that share the bytes drawn so far it
// looks at the first and the last, draws the next byte between theirs, and
// seeks.
func (c *Call) drawEntry(s span) (string, error) {
	for {
		first, err := c.edgeKey(s, false)
		if err != nil {
			return "", err
		}
		last, err := c.edgeKey(s, true)
		if err != nil || first == last {
			return first, err
		}
		n := sharedBytes(first, last)
		if n == len(first) {
			return first, nil // a member with -0 is the only one that continues another key
		}
		low, high := int(first[n]), int(last[n])
		middle := append([]byte(first[:n]), byte(low+rand.IntN(high-low+1)))
		near := span{s.Range, s.uidBytes}
		behind := rand.IntN(2) == 0
		if behind {
			near.From, near.To = middle, s.To
		} else {
			near.To = schema.PrefixEnd(middle)
		}
		next, err := c.edgeKey(near, !behind)
		if err != nil {
			return "", err
		}
		s.From = []byte(next[:n+1])
		s.To = schema.PrefixEnd(s.From)
	}
}

// edgeKey is the first key of a span that has one, or the last.
func (c *Call) edgeKey(s span, last bool) (string, error) {
	s.Limit, s.Reverse = 1, last
	for key, err := range c.R.Keys(s.Range, 0) {
		return key, err
	}
	return "", fmt.Errorf("sorted set at %x is empty: %w", s.From, errDamaged)
}

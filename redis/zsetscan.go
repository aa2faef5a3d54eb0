package redis

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Parts of sorted sets: ZSCAN and ZRANDMEMBER.

func zScan(c *Call) error {
	return scanElements(c, kindZSet, func(k *keyDoc, cursor uint64, o *scanOptions, l *list) (uint64, error) {
		if k.Encoding != compact {
			return scanScores(c, k, cursor, o, l)
		}
		// Like Redis, a small set in one step and in its order.
		return 0, eachMember(c.View, k, func(m rated) error {
			addScanned(l, o, []byte(m.member), m.score, true)
			return nil
		})
	})
}

// scanScores adds one step of a large set, in the order of the members' bytes.
func scanScores(c *Call, k *keyDoc, cursor uint64, o *scanOptions, l *list) (uint64, error) {
	prefix := slices.Clone(c.prefixOf(k.UID))
	return step(c, c.scores.ByID(), prefix, cursor, o, func(item firn.Item) error {
		m, err := ratedOf(c, k, item, len(prefix))
		if err == nil {
			addScanned(l, o, []byte(m.member), m.score, false)
		}
		return err
	})
}

// ratedOf is the member and the score in a document, whose id has a prefix of
// n bytes.
func ratedOf(c *Call, k *keyDoc, item firn.Item, n int) (rated, error) {
	member, err := memberOf(item.Key, n)
	if err != nil {
		return rated{}, err
	}
	score, ok := parseScore(item.Doc.Value)
	if !ok {
		return rated{}, fmt.Errorf("score of %q in %d/%d: %w", member, k.UID.TS, k.UID.N, errDamaged)
	}
	return rated{member: member, score: score}, nil
}

// addScanned adds a member and its score as ZSCAN shows them, if wanted.
// Redis keeps integers as such in a small set, and shows all their digits.
func addScanned(l *list, o *scanOptions, member []byte, score float64, small bool) {
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

func zRandMember(c *Call) error {
	count, withScores, alone := int64(1), false, len(c.Args) == 1
	if !alone {
		var err error
		if count, withScores, err = parseRandomCount(c.Args[1:], "WITHSCORES"); err != nil {
			return err
		}
	}
	k, ok, err := findZSet(c.View, c.Args[0])
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
	members, err := randomMembers(c, &k, count)
	if err != nil {
		return err
	}
	if alone {
		c.Reply.BulkString(members[0].member)
		return nil
	}
	replyRated(&c.Reply, members, withScores)
	return nil
}

// fewRandom is how many members are drawn one by one from a set that is not
// in memory; for more the set is walked over.
const fewRandom = 64

// randomMembers draws members of a set: by rank, or a few of a large set that
// is not in memory byte by byte, as RANDOMKEY draws keys.
func randomMembers(c *Call, k *keyDoc, count int64) ([]rated, error) {
	s, err := spanOfZSet(c.View, k)
	if err != nil {
		return nil, err
	}
	held, err := warmSpan(c.View, k, &s, k.Length)
	if err != nil {
		return nil, err
	}
	if !held && -fewRandom <= count && count <= fewRandom && k.Length > smallZSet {
		members, err := drawMembers(c, k, count)
		if err != nil || members != nil {
			return members, err
		}
	}
	ranks := randomRanks(int(k.Length), count)
	members := make([]rated, len(ranks))
	if held {
		for i, rank := range ranks {
			if err := walkSpan(c.View, s, rank, 1, func(m rated) error { members[i] = m; return nil }); err != nil {
				return nil, err
			}
		}
		return members, nil
	}
	return members, pick(c, k, s, ranks, members)
}

// pick finds the members at ranks in one walk over the set.
func pick(c *Call, k *keyDoc, s span, ranks []int, members []rated) error {
	places := make([]int, len(ranks)) // of ranks, lowest rank first
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return ranks[a] - ranks[b] })
	rank, done := 0, 0
	err := walkSpan(c.View, s, 0, 0, func(m rated) error {
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

// drawMembers draws -count members, or count different ones; nil if it has
// drawn too many that it had.
func drawMembers(c *Call, k *keyDoc, count int64) ([]rated, error) {
	prefix := appendUID(nil, k.UID)
	items, err := drawMany(c.View, c.scores.ByID(), prefix, count)
	if err != nil || items == nil {
		return nil, err
	}
	members := make([]rated, len(items))
	for i, item := range items {
		if members[i], err = ratedOf(c, k, item, len(prefix)); err != nil {
			return nil, err
		}
	}
	return members, nil
}

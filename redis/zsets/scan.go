package zsets

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Parts of sorted sets: ZSCAN and ZRANDMEMBER.

func zScan(c *command.Call) error {
	return command.ScanElements(c, keyspace.KindZSet, func(k *keyspace.KeyDoc, cursor uint64, o *command.ScanOptions, l *command.List) (uint64, error) {
		if k.Encoding != keyspace.Compact {
			return scanScores(c, k, cursor, o, l)
		}
		// Like Redis, a small set in one step and in its order.
		return 0, keyspace.EachMember(c.View, k, func(m keyspace.Rated) error {
			addScanned(l, o, []byte(m.Member), m.Score, true)
			return nil
		})
	})
}

// scanScores adds one step of a large set, in the order of the members' bytes.
func scanScores(c *command.Call, k *keyspace.KeyDoc, cursor uint64, o *command.ScanOptions, l *command.List) (uint64, error) {
	prefix := slices.Clone(c.PrefixOf(k.UID))
	return command.Step(c, c.Scores.ByID(), prefix, cursor, o, func(item firn.Item) error {
		m, err := ratedOf(c, k, item, len(prefix))
		if err == nil {
			addScanned(l, o, []byte(m.Member), m.Score, false)
		}
		return err
	})
}

// ratedOf is the member and the score in a document, whose id has a prefix of
// n bytes.
func ratedOf(c *command.Call, k *keyspace.KeyDoc, item firn.Item, n int) (keyspace.Rated, error) {
	member, err := keyspace.MemberOf(item.Key, n)
	if err != nil {
		return keyspace.Rated{}, err
	}
	score, ok := keyspace.ParseScore(item.Doc.Value)
	if !ok {
		return keyspace.Rated{}, fmt.Errorf("score of %q in %d/%d: %w", member, k.UID.TS, k.UID.N, keyspace.ErrDamaged)
	}
	return keyspace.Rated{Member: member, Score: score}, nil
}

// addScanned adds a member and its score as ZSCAN shows them, if wanted.
// Redis keeps integers as such in a small set, and shows all their digits.
func addScanned(l *command.List, o *command.ScanOptions, member []byte, score float64, small bool) {
	if !o.Matches(member) {
		return
	}
	l.Add(member)
	var text [32]byte
	const most = float64(math.MaxInt64 / 2)
	if small && -most <= score && score <= most && score == math.Trunc(score) {
		l.Add(strconv.AppendInt(text[:0], int64(score), 10))
		return
	}
	l.Add(resp.AppendDouble(text[:0], score))
}

func zRandMember(c *command.Call) error {
	count, withScores, alone := int64(1), false, len(c.Args) == 1
	if !alone {
		var err error
		if count, withScores, err = command.ParseRandomCount(c.Args[1:], "WITHSCORES"); err != nil {
			return err
		}
	}
	k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
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
		c.Reply.BulkString(members[0].Member)
		return nil
	}
	replyRated(&c.Reply, members, withScores)
	return nil
}

// FewRandom is how many members are drawn one by one from a set that is not
// in memory; for more the set is walked over.
const FewRandom = 64

// randomMembers draws members of a set: by rank, or a few of a large set that
// is not in memory byte by byte, as RANDOMKEY draws keys.
func randomMembers(c *command.Call, k *keyspace.KeyDoc, count int64) ([]keyspace.Rated, error) {
	s, err := keyspace.SpanOfZSet(c.View, k)
	if err != nil {
		return nil, err
	}
	held, err := keyspace.WarmSpan(c.View, k, &s, k.Length)
	if err != nil {
		return nil, err
	}
	if !held && -FewRandom <= count && count <= FewRandom && k.Length > keyspace.SmallZSet {
		members, err := drawMembers(c, k, count)
		if err != nil || members != nil {
			return members, err
		}
	}
	ranks := keyspace.RandomRanks(int(k.Length), count)
	members := make([]keyspace.Rated, len(ranks))
	if held {
		for i, rank := range ranks {
			if err := keyspace.WalkSpan(c.View, s, rank, 1, func(m keyspace.Rated) error { members[i] = m; return nil }); err != nil {
				return nil, err
			}
		}
		return members, nil
	}
	return members, pick(c, k, s, ranks, members)
}

// pick finds the members at ranks in one walk over the set.
func pick(c *command.Call, k *keyspace.KeyDoc, s keyspace.Span, ranks []int, members []keyspace.Rated) error {
	places := make([]int, len(ranks)) // of ranks, lowest rank first
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return ranks[a] - ranks[b] })
	rank, done := 0, 0
	err := keyspace.WalkSpan(c.View, s, 0, 0, func(m keyspace.Rated) error {
		for ; done < len(places) && ranks[places[done]] == rank; done++ {
			members[places[done]] = m
		}
		if done == len(places) {
			return keyspace.ErrStop
		}
		rank++
		return nil
	})
	if err == nil {
		return keyspace.LengthError(k, int64(rank))
	}
	if err == keyspace.ErrStop {
		return nil
	}
	return err
}

// drawMembers draws -count members, or count different ones; nil if it has
// drawn too many that it had.
func drawMembers(c *command.Call, k *keyspace.KeyDoc, count int64) ([]keyspace.Rated, error) {
	prefix := keyspace.AppendUID(nil, k.UID)
	items, err := keyspace.DrawMany(c.View, c.Scores.ByID(), prefix, count)
	if err != nil || items == nil {
		return nil, err
	}
	members := make([]keyspace.Rated, len(items))
	for i, item := range items {
		if members[i], err = ratedOf(c, k, item, len(prefix)); err != nil {
			return nil, err
		}
	}
	return members, nil
}

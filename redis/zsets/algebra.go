package zsets

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Unions, intersections and differences of sorted sets, and of sets, whose
// members have the score 1.

// algebra is an operation on several sets.
type algebra uint8

const (
	union algebra = iota
	intersection
	difference
)

// aggregate makes one score of two.
type aggregate uint8

const (
	sum aggregate = iota
	least
	greatest
)

// of is how Redis aggregates: opposite infinities cancel out.
func (a aggregate) of(x, y float64) float64 {
	switch {
	case a == least && y < x, a == greatest && y > x:
		return y
	case a != sum:
		return x
	}
	if x += y; math.IsNaN(x) {
		return 0
	}
	return x
}

// source is one of the sets that an operation goes over.
type source struct {
	key    keyspace.KeyDoc
	live   bool
	weight float64
}

// weigh is a member's score by the source's weight.
func (s *source) weigh(score float64) float64 {
	if score *= s.weight; math.IsNaN(score) {
		return 0
	}
	return score
}

// algebraQuery is what a command of the family asks for.
type algebraQuery struct {
	op         algebra
	sources    []source
	aggregate  aggregate
	withScores bool
	limit      int64 // of ZINTERCARD: where to stop counting; 0: nowhere
}

// algebraForm is what a command's name says.
type algebraForm struct {
	op    algebra
	store bool // the first argument is a key to store in
	card  bool // ZINTERCARD
}

// openSources reads the number of keys and the keys, and returns what follows
// them.
func openSources(c *command.Call, args [][]byte) (sources []source, rest [][]byte, err error) {
	n, ok := resp.ParseInt(args[0])
	switch {
	case !ok:
		return nil, nil, command.ErrNotInteger
	case n < 1:
		return nil, nil, resp.Error("ERR at least 1 input key is needed for '" + strings.ToLower(c.Cmd.Name) + "' command")
	case n > int64(len(args)-1):
		return nil, nil, command.ErrSyntax
	}
	sources = make([]source, n)
	for i := range sources {
		src := &sources[i]
		src.weight = 1
		if src.key, src.live, err = c.Find(args[1+i]); err != nil {
			return nil, nil, err
		}
		if src.live && src.key.Kind != keyspace.KindZSet && src.key.Kind != keyspace.KindSet {
			return nil, nil, keyspace.ErrWrongType
		}
	}
	return sources, args[1+n:], nil
}

// parseAlgebra reads all arguments of a command of the family.
func parseAlgebra(c *command.Call, form algebraForm) (q algebraQuery, err error) {
	args := c.Args
	if form.store {
		args = args[1:]
	}
	q.op = form.op
	var rest [][]byte
	if q.sources, rest, err = openSources(c, args); err != nil {
		return q, err
	}
	weighs := form.op != difference && !form.card
	for err == nil && len(rest) > 0 {
		switch {
		case weighs && len(rest) > len(q.sources) && command.Is(rest[0], "WEIGHTS"):
			err = q.parseWeights(rest[1:])
			rest = rest[1+len(q.sources):]
		case weighs && len(rest) > 1 && command.Is(rest[0], "AGGREGATE"):
			err = q.parseAggregate(rest[1])
			rest = rest[2:]
		case !form.store && !form.card && command.Is(rest[0], "WITHSCORES"):
			q.withScores = true
			rest = rest[1:]
		case form.card && len(rest) > 1 && command.Is(rest[0], "LIMIT"):
			var ok bool
			if q.limit, ok = resp.ParseInt(rest[1]); !ok || q.limit < 0 {
				return q, command.ErrNegativeLimit
			}
			rest = rest[2:]
		default:
			return q, command.ErrSyntax
		}
	}
	return q, err
}

func (q *algebraQuery) parseWeights(args [][]byte) error {
	for i := range q.sources {
		var ok bool
		if q.sources[i].weight, ok = resp.ParseDouble(args[i]); !ok {
			return resp.Error("ERR weight value is not a float")
		}
	}
	return nil
}

func (q *algebraQuery) parseAggregate(arg []byte) error {
	switch {
	case command.Is(arg, "SUM"):
		q.aggregate = sum
	case command.Is(arg, "MIN"):
		q.aggregate = least
	case command.Is(arg, "MAX"):
		q.aggregate = greatest
	default:
		return command.ErrSyntax
	}
	return nil
}

// zAlgebra is ZUNION, ZINTER, ZDIFF and the ones that store.
func zAlgebra(form algebraForm) func(*command.Call) error {
	return func(c *command.Call) error {
		q, err := parseAlgebra(c, form)
		if err != nil {
			return err
		}
		members, err := evaluate(c, &q)
		if err != nil {
			return err
		}
		if form.store {
			return storeZSet(c, c.Args[0], members, longestOf(members), strings.ToLower(c.Cmd.Name))
		}
		slices.SortFunc(members, compareRated)
		replyRated(&c.Reply, members, q.withScores)
		return nil
	}
}

// compareRated orders members as a sorted set does.
func compareRated(a, b keyspace.Rated) int {
	if a.Score != b.Score {
		return cmp.Compare(a.Score, b.Score)
	}
	return strings.Compare(a.Member, b.Member)
}

func zInterCard(c *command.Call) error {
	q, err := parseAlgebra(c, algebraForm{op: intersection, card: true})
	if err != nil {
		return err
	}
	n := int64(0)
	err = eachCommon(c, &q, func(keyspace.Rated) error {
		if n++; n == q.limit {
			return keyspace.ErrStop
		}
		return nil
	})
	if err != nil && err != keyspace.ErrStop {
		return err
	}
	c.Reply.Int(n)
	return nil
}

// evaluate is the operation's result, in no order.
func evaluate(c *command.Call, q *algebraQuery) (members []keyspace.Rated, err error) {
	keep := func(m keyspace.Rated) error {
		members = append(members, m)
		return nil
	}
	switch q.op {
	case union:
		return unite(c, q)
	case intersection:
		err = eachCommon(c, q, keep)
	default:
		err = eachBut(c, q, keep)
	}
	return members, err
}

// bySize puts the smallest source first, as Redis does: sums of floats depend
// on the order.
func (q *algebraQuery) bySize() {
	slices.SortStableFunc(q.sources, func(a, b source) int { return cmp.Compare(a.key.Length, b.key.Length) })
}

func unite(c *command.Call, q *algebraQuery) ([]keyspace.Rated, error) {
	q.bySize()
	scores := map[string]float64{}
	for i := range q.sources {
		src := &q.sources[i]
		err := eachOf(c, src, func(m keyspace.Rated) error {
			score := src.weigh(m.Score)
			if had, ok := scores[m.Member]; ok {
				score = q.aggregate.of(had, score)
			}
			scores[m.Member] = score
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	members := make([]keyspace.Rated, 0, len(scores))
	for member, score := range scores {
		members = append(members, keyspace.Rated{Score: score, Member: member})
	}
	return members, nil
}

// eachCommon visits the members that all sources have.
func eachCommon(c *command.Call, q *algebraQuery, visit func(keyspace.Rated) error) error {
	q.bySize()
	if !q.sources[0].live {
		return nil
	}
	return eachOf(c, &q.sources[0], func(m keyspace.Rated) error {
		score := q.sources[0].weigh(m.Score)
		for i := range q.sources[1:] {
			src := &q.sources[1+i]
			other, ok, err := scoreIn(c, src, m.Member)
			if err != nil || !ok {
				return err
			}
			score = q.aggregate.of(score, other*src.weight)
		}
		return visit(keyspace.Rated{Score: score, Member: m.Member})
	})
}

// eachBut visits the members that the first source has and no other.
func eachBut(c *command.Call, q *algebraQuery, visit func(keyspace.Rated) error) error {
	return eachOf(c, &q.sources[0], func(m keyspace.Rated) error {
		for i := range q.sources[1:] {
			if _, ok, err := scoreIn(c, &q.sources[1+i], m.Member); err != nil || ok {
				return err
			}
		}
		return visit(m)
	})
}

// eachOf visits the members of a source.
func eachOf(c *command.Call, src *source, visit func(keyspace.Rated) error) error {
	if !src.live {
		return nil
	}
	if src.key.Kind == keyspace.KindZSet {
		return keyspace.EachMember(c.View, &src.key, visit)
	}
	return keyspace.WalkSet(c.View, &src.key, 0, func(member string) error { return visit(keyspace.Rated{Score: 1, Member: member}) })
}

// scoreIn is a member's score in a source; ok is false if it does not have it.
func scoreIn(c *command.Call, src *source, member string) (score float64, ok bool, err error) {
	switch {
	case !src.live:
		return 0, false, nil
	case src.key.Kind == keyspace.KindZSet:
		return keyspace.ScoreOf(c.View, src.key.UID, []byte(member))
	}
	ok, err = keyspace.HasMember(c.View, &src.key, member)
	return 1, ok, err
}

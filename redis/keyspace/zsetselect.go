package keyspace

import "github.com/firndb/firn/resp"

// Order is what a selection of members goes by.
type Order uint8

const (
	ByRank Order = iota
	ByScore
	ByLex
)

// Selection is some members of a sorted set, one behind the other.
type Selection struct {
	By          Order
	Reverse     bool
	First, Last int64 // by rank: as the client gave them
	Scores      scoreRange
	Members     lexRange
	Skip        int64 // by score and by member: passed over first; negative: all are
	Limit       int64 // by score and by member: at most so many; negative: no limit
}

// Unlimited lets a selection have all members in its bounds.
func (sel *Selection) Unlimited() { sel.Skip, sel.Limit = 0, -1 }

// EachSelected visits the members of a set that are selected.
func EachSelected(v *View, k *KeyDoc, sel *Selection, visit func(Rated) error) error {
	if sel.By == ByRank {
		rank, n := RanksOf(sel.First, sel.Last, k.Length)
		if n == 0 || sel.First < 0 || sel.Last < 0 {
			if err := Depend(v, AspectLength); err != nil {
				return err
			}
		}
		if n == 0 {
			return nil
		}
		return eachByRank(v, k, rank, n, sel.Reverse, visit)
	}
	if sel.Skip < 0 || sel.Limit == 0 || sel.Skip >= k.Length && !v.R.Recorded() {
		return nil
	}
	switch {
	case v.R.Recorded(): // that there is no more is part of the reply
		sel.Limit = max(sel.Limit, 0)
	case sel.Limit < 0 || sel.Limit > k.Length:
		sel.Limit = k.Length
	}
	if sel.By == ByScore {
		s, err := SpanOfZSet(v, k)
		if err != nil {
			return err
		}
		sel.Scores.clipTo(&s)
		return eachInSpan(v, k, s, sel, visit)
	}
	return eachByLex(v, k, sel, visit)
}

// SelectMembers is each for those that write: a walk ends with the first write.
func SelectMembers(v *View, k *KeyDoc, sel *Selection) (members []Rated, err error) {
	if rank, n := RanksOf(sel.First, sel.Last, k.Length); sel.By == ByRank && rank == 0 && n > 0 && n <= SmallZSet {
		return firstMembers(v, k, n, sel.Reverse)
	}
	err = EachSelected(v, k, sel, func(m Rated) error {
		members = append(members, m)
		return nil
	})
	return members, err
}

func eachInSpan(v *View, k *KeyDoc, s Span, sel *Selection, visit func(Rated) error) error {
	if s.empty() {
		return nil
	}
	if _, err := WarmSpan(v, k, &s, sel.Skip); err != nil {
		return err
	}
	s.Reverse = sel.Reverse
	return WalkSpan(v, s, int(sel.Skip), int(sel.Limit), visit)
}

// eachByLex seeks the members where all have one score, as they should. Of a
// set with several scores Redis says that the result is unspecified; what it
// does with a small one is done here with any.
func eachByLex(v *View, k *KeyDoc, sel *Selection, visit func(Rated) error) error {
	first, last, err := edgeMembers(v, k)
	if err != nil || sel.Members.hopeless() {
		return err
	}
	if first.Score == last.Score {
		s, err := SpanOfZSet(v, k)
		if err != nil {
			return err
		}
		sel.Members.clipTo(&s, first.Score)
		return eachInSpan(v, k, s, sel, visit)
	}
	if !sel.Members.reaches(last.Member) || !sel.Members.passes(first.Member) {
		return nil
	}
	reaches, passes := sel.Members.reaches, sel.Members.passes
	if sel.Reverse {
		reaches, passes = passes, reaches
	}
	skip, limit, begun := sel.Skip, sel.Limit, false
	if limit == 0 {
		limit = -1
	}
	err = eachByRank(v, k, 0, k.Length, sel.Reverse, func(m Rated) error {
		begun = begun || reaches(m.Member)
		switch {
		case !begun:
			return nil
		case !passes(m.Member) || limit == 0:
			return ErrStop
		case skip > 0:
			skip--
			return nil
		}
		limit--
		return visit(m)
	})
	if err == ErrStop {
		return nil
	}
	return err
}

// ErrStop ends a walk before its end. It is not for clients.
const ErrStop = resp.Error("stop")

// CountSelected is how many members are selected, by score or by member, without a
// limit.
func CountSelected(v *View, k *KeyDoc, sel *Selection) (int, error) {
	s, err := SpanOfZSet(v, k)
	if err != nil {
		return 0, err
	}
	if sel.By == ByScore {
		sel.Scores.clipTo(&s)
	} else {
		first, last, err := edgeMembers(v, k)
		if err != nil || sel.Members.hopeless() {
			return 0, err
		}
		if first.Score != last.Score {
			n := 0
			err := eachByLex(v, k, sel, func(Rated) error { n++; return nil })
			return n, err
		}
		sel.Members.clipTo(&s, first.Score)
	}
	if s.empty() {
		return 0, nil
	}
	if _, err := WarmSpan(v, k, &s, 1); err != nil {
		return 0, err
	}
	s.Whole = int(k.Length)
	return v.R.CountRange(s.Range)
}

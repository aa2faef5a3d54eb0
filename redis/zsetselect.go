package redis

import "github.com/firndb/firn/resp"

// order is what a selection of members goes by.
type order uint8

const (
	byRank order = iota
	byScore
	byLex
)

// selection is some members of a sorted set, one behind the other.
type selection struct {
	by          order
	reverse     bool
	first, last int64 // by rank: as the client gave them
	scores      scoreRange
	members     lexRange
	skip        int64 // by score and by member: passed over first; negative: all are
	limit       int64 // by score and by member: at most so many; negative: no limit
}

// unlimited lets a selection have all members in its bounds.
func (sel *selection) unlimited() { sel.skip, sel.limit = 0, -1 }

// eachSelected visits the members of a set that are selected.
func eachSelected(v *View, k *keyDoc, sel *selection, visit func(rated) error) error {
	if sel.by == byRank {
		rank, n := ranksOf(sel.first, sel.last, k.Length)
		if n == 0 {
			return nil
		}
		return eachByRank(v, k, rank, n, sel.reverse, visit)
	}
	if sel.skip < 0 || sel.limit == 0 || sel.skip >= k.Length {
		return nil
	}
	if sel.limit < 0 || sel.limit > k.Length {
		sel.limit = k.Length
	}
	if sel.by == byScore {
		s, err := spanOfZSet(v, k)
		if err != nil {
			return err
		}
		sel.scores.clipTo(&s)
		return eachInSpan(v, k, s, sel, visit)
	}
	return eachByLex(v, k, sel, visit)
}

// selectMembers is each for those that write: a walk ends with the first write.
func selectMembers(v *View, k *keyDoc, sel *selection) (members []rated, err error) {
	err = eachSelected(v, k, sel, func(m rated) error {
		members = append(members, m)
		return nil
	})
	return members, err
}

func eachInSpan(v *View, k *keyDoc, s span, sel *selection, visit func(rated) error) error {
	if s.empty() {
		return nil
	}
	if _, err := warmSpan(v, k, &s, sel.skip); err != nil {
		return err
	}
	s.Reverse = sel.reverse
	return walkSpan(v, s, int(sel.skip), int(sel.limit), visit)
}

// eachByLex seeks the members where all have one score, as they should. Of a
// set with several scores Redis says that the result is unspecified; what it
// does with a small one is done here with any.
func eachByLex(v *View, k *keyDoc, sel *selection, visit func(rated) error) error {
	first, last, err := edgeMembers(v, k)
	if err != nil || sel.members.hopeless() {
		return err
	}
	if first.score == last.score {
		s, err := spanOfZSet(v, k)
		if err != nil {
			return err
		}
		sel.members.clipTo(&s, first.score)
		return eachInSpan(v, k, s, sel, visit)
	}
	if !sel.members.reaches(last.member) || !sel.members.passes(first.member) {
		return nil
	}
	reaches, passes := sel.members.reaches, sel.members.passes
	if sel.reverse {
		reaches, passes = passes, reaches
	}
	skip, limit, begun := sel.skip, sel.limit, false
	err = eachByRank(v, k, 0, k.Length, sel.reverse, func(m rated) error {
		begun = begun || reaches(m.member)
		switch {
		case !begun:
			return nil
		case !passes(m.member) || limit == 0:
			return errStop
		case skip > 0:
			skip--
			return nil
		}
		limit--
		return visit(m)
	})
	if err == errStop {
		return nil
	}
	return err
}

// errStop ends a walk before its end. It is not for clients.
const errStop = resp.Error("stop")

// countSelected is how many members are selected, by score or by member, without a
// limit.
func countSelected(v *View, k *keyDoc, sel *selection) (int, error) {
	s, err := spanOfZSet(v, k)
	if err != nil {
		return 0, err
	}
	if sel.by == byScore {
		sel.scores.clipTo(&s)
	} else {
		first, last, err := edgeMembers(v, k)
		if err != nil || sel.members.hopeless() {
			return 0, err
		}
		if first.score != last.score {
			n := 0
			err := eachByLex(v, k, sel, func(rated) error { n++; return nil })
			return n, err
		}
		sel.members.clipTo(&s, first.score)
	}
	if s.empty() {
		return 0, nil
	}
	if _, err := warmSpan(v, k, &s, 1); err != nil {
		return 0, err
	}
	return v.R.CountRange(s.Range)
}

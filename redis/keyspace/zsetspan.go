package keyspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Span is the entries of a sorted set that a walk may visit.
type Span struct {
	firn.Range
	uidBytes int // the part of every key that is the set's uid
}

// SpanOfZSet is all entries of a sorted set.
func SpanOfZSet(v *View, k *KeyDoc) (Span, error) {
	ends, err := ParseZSetEnds(k)
	if err != nil {
		return Span{}, err
	}
	prefix := v.PrefixOf(k.UID)
	s := Span{spanOf(v, prefix, &ends), len(prefix)}
	if v.R.Recorded() { // the ends are a hint
		s.Range = firn.Range{From: prefix, To: tuple.PrefixEnd(prefix)}
	}
	s.Index = v.byScore
	return s, nil
}

// Clip narrows a span; the bounds are parts of keys behind the uid, and a nil
// one changes nothing.
func (s *Span) Clip(from, to []byte) {
	uid := s.From[:s.uidBytes]
	if from != nil {
		if from = append(bytes.Clone(uid), from...); bytes.Compare(from, s.From) > 0 {
			s.From = from
		}
	}
	if to != nil {
		if to = append(bytes.Clone(uid), to...); bytes.Compare(to, s.To) < 0 {
			s.To = to
		}
	}
}

// empty says that no entry can be in the span.
func (s *Span) empty() bool { return bytes.Compare(s.From, s.To) >= 0 }

// WarmSpan may load the set, to answer a question that reads steps of its entries
// if it is not loaded, and says whether it is. A set that was not to be loaded
// counts as not.
func WarmSpan(v *View, k *KeyDoc, s *Span, steps int64) (held bool, err error) {
	n := k.Length
	if n > SmallZSet {
		if held, err := v.R.Warm(s.Index, s.From[:s.uidBytes], 0); held || err != nil {
			return held, err
		}
	}
	switch {
	case n <= SmallZSet, steps >= n/loadShare:
	case v.Tx != nil:
		v.Want(s.Index, s.From[:s.uidBytes], n)
		return false, nil
	case rand.Int64N(n) < LoadOdds:
	default:
		return false, nil
	}
	return v.R.Warm(s.Index, s.From[:s.uidBytes], int(n))
}

// WalkSpan visits the members of a span, all but the first skip, and at most
// limit if that is not 0.
func WalkSpan(v *View, s Span, skip, limit int, visit func(Rated) error) error {
	if s.empty() {
		return nil
	}
	s.Limit = limit
	for key, err := range v.R.Keys(s.Range, skip) {
		if err != nil {
			return err
		}
		m, err := ParseEntry(key, s.uidBytes)
		if err != nil {
			return err
		}
		if err := visit(m); err != nil {
			return err
		}
	}
	return nil
}

// EachMember visits all members of a sorted set in its order. A set that has
// not as many as its key says is ErrDamaged.
func EachMember(v *View, k *KeyDoc, visit func(Rated) error) error {
	return eachByRank(v, k, 0, k.Length, false, visit)
}

// eachByRank visits the n members from rank first on, which are in the set;
// with reverse ranks count from the end.
func eachByRank(v *View, k *KeyDoc, first, n int64, reverse bool, visit func(Rated) error) error {
	s, err := SpanOfZSet(v, k)
	if err != nil {
		return err
	}
	behind := k.Length - first - n
	if _, err := WarmSpan(v, k, &s, min(first, behind)+n); err != nil {
		return err
	}
	s.Reverse = reverse
	limit := n
	switch {
	case v.R.Recorded():
		if behind == 0 {
			limit = 0 // that there is no more is part of the reply
		}
	case behind < first && n <= SmallZSet:
		return walkSpanBack(v, s, int(behind), int(n), visit)
	}
	var seen int64
	err = WalkSpan(v, s, int(first), int(limit), func(m Rated) error {
		seen++
		return visit(m)
	})
	if err == nil && seen != n {
		err = LengthError(k, first+seen)
	}
	return err
}

// firstMembers is the first n members, which are in the set; with reverse the
// last.
func firstMembers(v *View, k *KeyDoc, n int64, reverse bool) ([]Rated, error) {
	s, err := SpanOfZSet(v, k)
	if err != nil {
		return nil, err
	}
	if _, err := WarmSpan(v, k, &s, n); err != nil {
		return nil, err
	}
	members := make([]Rated, 0, n)
	s.Reverse, s.Limit = reverse, int(n)
	for key, err := range v.R.Keys(s.Range, 0) {
		if err != nil {
			return nil, err
		}
		m, err := ParseEntry(key, s.uidBytes)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	if int64(len(members)) != n {
		return nil, LengthError(k, int64(len(members)))
	}
	return members, nil
}

// walkSpanBack is walk from the other end: for members that are nearer to it.
func walkSpanBack(v *View, s Span, skip, n int, visit func(Rated) error) error {
	members := make([]Rated, 0, n)
	s.Reverse = !s.Reverse
	err := WalkSpan(v, s, skip, n, func(m Rated) error {
		members = append(members, m)
		return nil
	})
	for i := len(members) - 1; i >= 0 && err == nil; i-- {
		err = visit(members[i])
	}
	return err
}

func LengthError(k *KeyDoc, n int64) error {
	return fmt.Errorf("sorted set %d/%d has %d members, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, ErrDamaged)
}

// edgeMembers are the first and the last member of a set.
func edgeMembers(v *View, k *KeyDoc) (first, last Rated, err error) {
	s, err := SpanOfZSet(v, k)
	if err != nil {
		return first, last, err
	}
	if _, err := WarmSpan(v, k, &s, 2); err != nil {
		return first, last, err
	}
	if err := WalkSpan(v, s, 0, 1, func(m Rated) error { first = m; return nil }); err != nil {
		return first, last, err
	}
	s.Reverse = true
	err = WalkSpan(v, s, 0, 1, func(m Rated) error { last = m; return nil })
	return first, last, err
}

// RankOf is how many members come before one, from the front or with reverse
// from the end.
func RankOf(v *View, k *KeyDoc, m Rated, reverse bool) (int, error) {
	s, err := SpanOfZSet(v, k)
	if err != nil {
		return 0, err
	}
	if _, err := WarmSpan(v, k, &s, k.Length/2); err != nil {
		return 0, err
	}
	place := appendPlace(nil, m.Score, tuple.AppendString(nil, m.Member))
	if reverse {
		s.Clip(append(place, afterMember), nil)
	} else {
		s.Clip(nil, place)
	}
	if s.empty() {
		return 0, nil
	}
	s.Whole = int(k.Length)
	return v.R.CountRange(s.Range)
}

// afterMember, behind a member in an entry's key, is greater than all keys of
// that member and less than all of the next.
const afterMember = 0xfe

// edgeKey is the first key of a span that has one, or the last.
func edgeKey(v *View, s Span, last bool) (string, error) {
	s.Limit, s.Reverse = 1, last
	for key, err := range v.R.Keys(s.Range, 0) {
		return key, err
	}
	return "", fmt.Errorf("sorted set at %x is empty: %w", s.From, ErrDamaged)
}

package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// A sorted set whose entries are in memory answers questions of rank in
// logarithmic time. Whether to bring it there is decided here: a set is
// loaded whole when that costs little, or little more than the question does.
// A question that loads nothing reads the entries that it is about.

const (
	// smallZSet members are loaded in about a millisecond.
	smallZSet = 1024
	// A question that reads a sixteenth of a set, or more, may as well load it.
	loadShare = 16
	// A question about few members loads a large set of n in loadOdds of n
	// cases, which doubles what such questions cost until the set is there.
	loadOdds = 64
)

// span is the entries of a sorted set that a walk may visit.
type span struct {
	firn.Range
	uidBytes int // the part of every key that is the set's uid
}

// spanOfZSet is all entries of a sorted set.
func spanOfZSet(v *View, k *keyDoc) (span, error) {
	ends, err := parseZSetEnds(k)
	if err != nil {
		return span{}, err
	}
	prefix := appendUID(make([]byte, 0, maxUIDBytes), k.UID)
	s := span{spanOf(prefix, &ends), len(prefix)}
	s.Index = v.byScore
	return s, nil
}

// clip narrows a span; the bounds are parts of keys behind the uid, and a nil
// one changes nothing.
func (s *span) clip(from, to []byte) {
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
func (s *span) empty() bool { return bytes.Compare(s.From, s.To) >= 0 }

// warmSpan may load the set, to answer a question that reads steps of its entries
// if it is not loaded, and says whether it is. A set that was not to be loaded
// counts as not.
func warmSpan(v *View, k *keyDoc, s *span, steps int64) (held bool, err error) {
	n := k.Length
	switch {
	case n <= smallZSet, steps >= n/loadShare:
	case v.Tx != nil:
		if v.R.Holds(s.Index, s.From[:s.uidBytes]) {
			return true, nil
		}
		v.want(s.Index, s.From[:s.uidBytes], n)
		return false, nil
	case rand.Int64N(n) < loadOdds:
	default:
		return false, nil
	}
	return v.R.Warm(s.Index, s.From[:s.uidBytes], int(n))
}

// walkSpan visits the members of a span, all but the first skip, and at most
// limit if that is not 0.
func walkSpan(v *View, s span, skip, limit int, visit func(rated) error) error {
	if s.empty() {
		return nil
	}
	s.Limit = limit
	for key, err := range v.R.Keys(s.Range, skip) {
		if err != nil {
			return err
		}
		m, err := parseEntry(key, s.uidBytes)
		if err != nil {
			return err
		}
		if err := visit(m); err != nil {
			return err
		}
	}
	return nil
}

// eachMember visits all members of a sorted set in its order. A set that has
// not as many as its key says is errDamaged.
func eachMember(v *View, k *keyDoc, visit func(rated) error) error {
	return eachByRank(v, k, 0, k.Length, false, visit)
}

// eachByRank visits the n members from rank first on, which are in the set;
// with reverse ranks count from the end.
func eachByRank(v *View, k *keyDoc, first, n int64, reverse bool, visit func(rated) error) error {
	s, err := spanOfZSet(v, k)
	if err != nil {
		return err
	}
	behind := k.Length - first - n
	if _, err := warmSpan(v, k, &s, min(first, behind)+n); err != nil {
		return err
	}
	s.Reverse = reverse
	if behind < first && n <= smallZSet {
		return walkSpanBack(v, s, int(behind), int(n), visit)
	}
	var seen int64
	err = walkSpan(v, s, int(first), int(n), func(m rated) error {
		seen++
		return visit(m)
	})
	if err == nil && seen != n {
		err = lengthError(k, first+seen)
	}
	return err
}

// walkSpanBack is walk from the other end: for members that are nearer to it.
func walkSpanBack(v *View, s span, skip, n int, visit func(rated) error) error {
	members := make([]rated, 0, n)
	s.Reverse = !s.Reverse
	err := walkSpan(v, s, skip, n, func(m rated) error {
		members = append(members, m)
		return nil
	})
	for i := len(members) - 1; i >= 0 && err == nil; i-- {
		err = visit(members[i])
	}
	return err
}

func lengthError(k *keyDoc, n int64) error {
	return fmt.Errorf("sorted set %d/%d has %d members, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, errDamaged)
}

// edgeMembers are the first and the last member of a set.
func edgeMembers(v *View, k *keyDoc) (first, last rated, err error) {
	s, err := spanOfZSet(v, k)
	if err != nil {
		return first, last, err
	}
	if _, err := warmSpan(v, k, &s, 2); err != nil {
		return first, last, err
	}
	if err := walkSpan(v, s, 0, 1, func(m rated) error { first = m; return nil }); err != nil {
		return first, last, err
	}
	s.Reverse = true
	err = walkSpan(v, s, 0, 1, func(m rated) error { last = m; return nil })
	return first, last, err
}

// rankOf is how many members come before one, from the front or with reverse
// from the end.
func rankOf(v *View, k *keyDoc, m rated, reverse bool) (int, error) {
	s, err := spanOfZSet(v, k)
	if err != nil {
		return 0, err
	}
	if _, err := warmSpan(v, k, &s, k.Length/2); err != nil {
		return 0, err
	}
	place := appendPlace(nil, m.score, tuple.AppendString(nil, m.member))
	if reverse {
		s.clip(append(place, afterMember), nil)
	} else {
		s.clip(nil, place)
	}
	if s.empty() {
		return 0, nil
	}
	return v.R.CountRange(s.Range)
}

// afterMember, behind a member in an entry's key, is greater than all keys of
// that member and less than all of the next.
const afterMember = 0xfe

// edgeKey is the first key of a span that has one, or the last.
func edgeKey(v *View, s span, last bool) (string, error) {
	s.Limit, s.Reverse = 1, last
	for key, err := range v.R.Keys(s.Range, 0) {
		return key, err
	}
	return "", fmt.Errorf("sorted set at %x is empty: %w", s.From, errDamaged)
}

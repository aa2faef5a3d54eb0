package keyspace

import (
	"bytes"
	"math"
	"strconv"

	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Bounds of ranges, by score and by member.

const (
	errScoreRange = resp.Error("ERR min or max is not a float")
	errLexRange   = resp.Error("ERR min or max not valid string range item")
)

// scoreRange is scores from min to max, each itself excluded if it is open.
type scoreRange struct {
	min, max         float64
	minOpen, maxOpen bool
}

func ParseScoreRange(low, high []byte) (r scoreRange, err error) {
	var ok, ok2 bool
	r.min, r.minOpen, ok = parseScoreBound(low)
	r.max, r.maxOpen, ok2 = parseScoreBound(high)
	if !ok || !ok2 {
		return r, errScoreRange
	}
	return r, nil
}

// parseScoreBound reads a bound as C's strtod does, to which Redis leaves it:
// so blanks in front pass, nothing at all is 0, and what is too large is
// infinite.
func parseScoreBound(arg []byte) (score float64, open, ok bool) {
	if len(arg) > 0 && arg[0] == '(' {
		arg, open = arg[1:], true
	}
	if i := bytes.IndexByte(arg, 0); i >= 0 {
		arg = arg[:i]
	}
	if len(arg) == 0 {
		return 0, open, true
	}
	arg = bytes.TrimLeft(arg, " \t\n\v\f\r")
	if score, ok = resp.ParseDouble(arg); ok {
		return score, open, true
	}
	if _, err := resp.ParseLongDouble(arg); err != nil {
		return 0, open, false
	}
	// A number that is too large, or too small, for a float.
	score, err := strconv.ParseFloat(string(arg), 64)
	return score, open, err == nil || math.IsInf(score, 0) || score == 0
}

// clipTo narrows a span to the range.
func (r *scoreRange) clipTo(s *Span) {
	from, to := tuple.AppendFloat(nil, r.min), tuple.AppendFloat(nil, r.max)
	if r.minOpen {
		from = tuple.PrefixEnd(from)
	}
	if !r.maxOpen {
		to = tuple.PrefixEnd(to)
	}
	s.Clip(from, to)
}

// lexBound is one end of a range of members.
type lexBound struct {
	member   []byte
	open     bool // the member itself is not in the range
	infinite int  // -1 before all members, 1 behind all
}

// lexRange is members from min to max.
type lexRange struct{ min, max lexBound }

func ParseLexRange(low, high []byte) (r lexRange, err error) {
	var ok, ok2 bool
	r.min, ok = parseLexBound(low)
	r.max, ok2 = parseLexBound(high)
	if !ok || !ok2 {
		return r, errLexRange
	}
	return r, nil
}

func parseLexBound(arg []byte) (b lexBound, ok bool) {
	if len(arg) == 0 {
		return b, false
	}
	// Redis takes the NUL at the end of its strings for the end.
	alone := len(arg) == 1 || arg[1] == 0
	switch arg[0] {
	case '-':
		return lexBound{infinite: -1}, alone
	case '+':
		return lexBound{infinite: 1}, alone
	case '(':
		return lexBound{member: arg[1:], open: true}, true
	case '[':
		return lexBound{member: arg[1:]}, true
	}
	return b, false
}

// compare is how a member lies to the bound.
func (b *lexBound) compare(member string) int {
	if b.infinite != 0 {
		return -b.infinite
	}
	switch bound := string(b.member); {
	case member < bound:
		return -1
	case member > bound:
		return 1
	}
	return 0
}

// reaches says whether a member is not before the range.
func (r *lexRange) reaches(member string) bool {
	n := r.min.compare(member)
	return n > 0 || n == 0 && !r.min.open
}

// passes says whether a member is not behind the range.
func (r *lexRange) passes(member string) bool {
	n := r.max.compare(member)
	return n < 0 || n == 0 && !r.max.open
}

// hopeless says that no member can be in the range.
func (r *lexRange) hopeless() bool {
	switch {
	case r.min.infinite > 0, r.max.infinite < 0:
		return true
	case r.min.infinite != 0 || r.max.infinite != 0:
		return false
	}
	n := bytes.Compare(r.min.member, r.max.member)
	return n > 0 || n == 0 && (r.min.open || r.max.open)
}

// clipTo narrows a span, of a set whose members all have one score, to the
// range.
func (r *lexRange) clipTo(s *Span, score float64) {
	bound := func(b *lexBound, behind bool) []byte {
		if b.infinite != 0 {
			return nil
		}
		key := tuple.AppendBytes(tuple.AppendFloat(nil, score), b.member)
		if behind {
			key = append(key, afterMember)
		}
		return key
	}
	s.Clip(bound(&r.min, r.min.open), bound(&r.max, !r.max.open))
}

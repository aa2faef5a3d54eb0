package rdb

import "math"

// Decode reads a value from a payload without its footer. The error is
// ErrFormat: also for a type that is not known, for a collection that is empty
// or has too many elements, and for bytes left over.
func Decode(payload []byte) (*Value, error) {
	s := source{b: payload, limit: elementLimit(len(payload))}
	v := &Value{}
	s.value(v, s.byte())
	if s.bad || len(s.b) > 0 || !v.sound() {
		return nil, ErrFormat
	}
	return v, nil
}

// sound says whether a value is one that there can be.
func (v *Value) sound() bool {
	step := 1
	switch v.Kind {
	case String, Stream:
		return true
	case List:
		return len(v.Items) > 0
	case Hash:
		step = 2
	case ZSet:
		for _, score := range v.Scores {
			if math.IsNaN(score) {
				return false
			}
		}
	}
	return len(v.Items) > 0 && len(v.Items)%step == 0 && distinct(v.Items, step)
}

// distinct says whether every step-th item is different from the others.
func distinct(items [][]byte, step int) bool {
	seen := make(map[string]struct{}, len(items)/step)
	for i := 0; i < len(items); i += step {
		seen[string(items[i])] = struct{}{}
	}
	return len(seen) == len(items)/step
}

// value reads a value of a type into v.
func (s *source) value(v *Value, form byte) {
	switch form {
	case typeString:
		v.String = s.string()
	case typeList:
		v.Kind = List
		v.Items = s.strings(s.count(1))
	case typeSet:
		v.Kind = Set
		v.Items = s.strings(s.count(1))
	case typeHash:
		v.Kind = Hash
		v.Items = s.strings(2 * s.count(2))
	case typeZSet, typeZSet2:
		s.scored(v, form)
	case typeListZiplist:
		v.Kind = List
		s.keep(v, s.ziplist(s.string()))
	case typeListQuicklist, typeListQuicklist2:
		s.quicklist(v, form)
	case typeSetIntset, typeSetListpack, typeZSetZiplist, typeZSetListpack, typeHashZipmap, typeHashZiplist, typeHashListpack:
		v.Compact = true
		s.compact(v, form, s.string())
	case typeHashEnds, typeHashEndsOld, typeHashPackEnds, typeHashPackEndsOld:
		v.Kind = Hash
		s.hashWithEnds(v, form)
	case typeStreamListpacks, typeStreamListpacks2, typeStreamListpacks3:
		v.Kind = Stream
		v.Stream = s.log(form)
	default:
		s.fail()
	}
}

// keep adds the elements of a listpack or ziplist to a value.
func (s *source) keep(v *Value, q sequence) {
	var ok bool
	if v.Items, ok = q.appendAll(v.Items); !ok || s.bad {
		s.fail()
	}
}

// compact reads one of the encodings of small collections.
func (s *source) compact(v *Value, form byte, b []byte) {
	ok := true
	switch form {
	case typeSetIntset:
		v.Kind = Set
		v.Items, ok = readIntset(b, s.limit)
	case typeSetListpack:
		v.Kind = Set
		s.keep(v, s.listpack(b))
	case typeHashZipmap:
		v.Kind = Hash
		v.Items, ok = readZipmap(b, s.limit)
	case typeHashZiplist:
		v.Kind = Hash
		s.keep(v, s.ziplist(b))
	case typeHashListpack:
		v.Kind = Hash
		s.keep(v, s.listpack(b))
	case typeZSetZiplist:
		v.Kind = ZSet
		s.scoredPairs(v, s.ziplist(b))
	case typeZSetListpack:
		v.Kind = ZSet
		s.scoredPairs(v, s.listpack(b))
	}
	if !ok {
		s.fail()
	}
}

// scored reads members and scores one behind the other.
func (s *source) scored(v *Value, form byte) {
	v.Kind = ZSet
	n := s.count(2)
	v.Items, v.Scores = make([][]byte, 0, n), make([]float64, 0, n)
	for range n {
		v.Items = append(v.Items, s.string())
		if form == typeZSet {
			v.Scores = append(v.Scores, s.textFloat())
		} else {
			v.Scores = append(v.Scores, s.float())
		}
		if s.bad {
			return
		}
	}
}

// scoredPairs reads members and scores that are elements in turn.
func (s *source) scoredPairs(v *Value, q sequence) {
	for q.more() && len(v.Items) <= s.limit {
		v.Items = append(v.Items, q.read().bytes())
		switch score := q.read(); {
		case score.isInt:
			v.Scores = append(v.Scores, float64(score.n))
		default:
			v.Scores = append(v.Scores, parseScore(&q.source, score.text))
		}
	}
	if q.bad || len(v.Items) > s.limit {
		s.fail()
	}
}

// How a node of a list is kept.
const (
	nodePlain  = 1 // it is one item
	nodePacked = 2 // it is a listpack
)

// quicklist reads a list that is kept in nodes.
func (s *source) quicklist(v *Value, form byte) {
	v.Kind = List
	for range s.count(1) {
		container := uint64(nodePacked)
		if form == typeListQuicklist2 {
			container = s.length()
		}
		node := s.string()
		switch {
		case s.bad:
			return
		case form == typeListQuicklist:
			s.keep(v, s.ziplist(node))
		case container == nodePlain:
			v.Items = append(v.Items, node)
		case container == nodePacked:
			s.keep(v, s.listpack(node))
		default:
			s.fail()
		}
	}
}

// hashWithEnds reads a hash with the ends of its fields: a listpack of field,
// value and end in turn, or one behind the other with the ends first and, in
// the later form, counted from the earliest, plus 1.
func (s *source) hashWithEnds(v *Value, form byte) {
	var earliest int64
	if form == typeHashEnds || form == typeHashPackEnds {
		earliest = s.int(8)
	}
	if form == typeHashPackEnds || form == typeHashPackEndsOld {
		v.Compact = true
		s.endTriples(v, s.listpack(s.string()))
		return
	}
	n := s.count(3)
	v.Items, v.Ends = make([][]byte, 0, 2*n), make([]int64, 0, n)
	for range n {
		end := s.length()
		if end > 0 && form == typeHashEnds {
			end += uint64(earliest) - 1
		}
		v.addField(s.string(), s.string(), int64(end))
		if s.bad || int64(end) < 0 {
			s.fail()
			return
		}
	}
}

// endTriples reads fields, values and ends that are elements in turn.
func (s *source) endTriples(v *Value, q sequence) {
	for q.more() && len(v.Items) <= s.limit {
		field, value, end := q.read(), q.read(), q.read()
		if !end.isInt || end.n < 0 {
			q.fail()
		}
		v.addField(field.bytes(), value.bytes(), end.n)
	}
	if q.bad || len(v.Items) > s.limit {
		s.fail()
	}
}

func (v *Value) addField(field, value []byte, end int64) {
	v.Items = append(v.Items, field, value)
	v.Ends = append(v.Ends, end)
}

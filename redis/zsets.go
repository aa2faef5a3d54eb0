package redis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// A sorted set is a key document, a document in the table scores for each
// member, and for each of those an entry in the index score:
//
//	document   id (uid, member)             value: the score, 8 bytes, IEEE 754, big endian
//	entry      key (uid, score, member)     the order of the set
//
// -0 is a score of its own, as it is in Redis where the set is large, and
// sorts as 0 does. An entry of a member with it has one element more, the
// integer 1, so that everything about a member is in its entry and no command
// that walks the set reads documents.
//
// The key document's note says where the live entries begin and end; see
// zsetEnds.

const errMemberLength = resp.Error("ERR member exceeds the maximum size of 1 MiB")

const (
	scoreBytes   = 8
	negativeZero = 1 // the element behind a member whose score is -0
)

// zsetEncoding is what OBJECT ENCODING says of a sorted set.
func zsetEncoding(k *keyDoc) string {
	if k.Encoding == large {
		return "skiplist"
	}
	return "listpack"
}

// appendScore appends what a member's document holds.
func appendScore(dst []byte, score float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(score))
}

// parseScore undoes appendScore; ok is false if value is not what it writes.
func parseScore(value []byte) (score float64, ok bool) {
	if len(value) != scoreBytes {
		return 0, false
	}
	score = math.Float64frombits(binary.BigEndian.Uint64(value))
	return score, !math.IsNaN(score)
}

// appendPlace appends the part of an entry's key behind the uid. member is an
// encoded element.
func appendPlace[S string | []byte](dst []byte, score float64, member S) []byte {
	dst = append(tuple.AppendFloat(dst, score), member...)
	if score == 0 && math.Signbit(score) {
		dst = tuple.AppendInt(dst, negativeZero)
	}
	return dst
}

// scoreKeys finds a member of a sorted set by its score. A damaged document
// is in no index: reading it is the error.
func scoreKeys(id string, value []byte, add func(key []byte)) {
	n, ok := tuple.PrefixLen(id, 2)
	score, ok2 := parseScore(value)
	if !ok || !ok2 {
		return
	}
	key := append(make([]byte, 0, len(id)+scoreBytes+3), id[:n]...)
	add(appendPlace(key, score, id[n:]))
}

// rated is a member of a sorted set and its score.
type rated struct {
	score  float64
	member string
}

// parseEntry reads the key of an entry, whose uid takes n bytes.
func parseEntry(key string, n int) (m rated, err error) {
	score, rest, err := tuple.TakeFloat(key[n:])
	if err == nil {
		m.score = score
		m.member, rest, err = tuple.TakeString(rest)
	}
	if err == nil && rest != "" {
		var flag int64
		flag, rest, err = tuple.TakeInt(rest)
		if flag == negativeZero && score == 0 {
			m.score = math.Copysign(0, -1)
		}
	}
	if err != nil || rest != "" {
		return rated{}, fmt.Errorf("entry %q of a sorted set: %w", key, errors.Join(errDamaged, err))
	}
	return m, nil
}

// scoreOf is a member's score; ok is false if the set does not have it.
func scoreOf(v *View, u uid, member []byte) (score float64, ok bool, err error) {
	doc, err := v.R.Get(v.scores, v.elementID(u, member))
	if err == firn.ErrNotFound {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	score, ok = parseScore(doc.Value)
	if !ok {
		return 0, false, fmt.Errorf("score of %q in %d/%d: %w", member, u.TS, u.N, errDamaged)
	}
	return score, true, nil
}

// findZSet reads the sorted set at a key.
func findZSet(v *View, key []byte) (k keyDoc, ok bool, err error) {
	return v.findKind(key, kindZSet)
}

// replyZSetState appends a sorted set as ZRANGE 0 -1 WITHSCORES does.
func replyZSetState(v *View, w *resp.Writer, k *keyDoc) error {
	l := beginRated(w, true)
	if err := eachMember(v, k, l.add); err != nil {
		return err
	}
	l.end()
	return nil
}

// ratedReply is an array of members, with their scores or without, whose
// length is known at its end. In protocol 3 a member and its score are an
// array of their own.
type ratedReply struct {
	w          *resp.Writer
	start      int // where in the reply it begins
	n          int // members
	withScores bool
}

func beginRated(w *resp.Writer, withScores bool) *ratedReply {
	return &ratedReply{w: w, start: len(w.Buf), withScores: withScores}
}

// add appends a member; it never fails.
func (l *ratedReply) add(m rated) error {
	l.n++
	r := l.w
	if l.withScores && r.Proto == 3 {
		r.Array(2)
	}
	r.BulkString(m.member)
	if l.withScores {
		r.Double(m.score)
	}
	return nil
}

// end puts the array's header in front.
func (l *ratedReply) end() {
	n := l.n
	if l.withScores && l.w.Proto != 3 {
		n *= 2
	}
	var room [24]byte
	header := resp.Writer{Buf: room[:0]}
	header.Array(n)
	l.w.Buf = slices.Insert(l.w.Buf, l.start, header.Buf...)
}

// replyRated replies members that are known, as a ratedReply does.
func replyRated(w *resp.Writer, members []rated, withScores bool) {
	l := beginRated(w, withScores)
	for _, m := range members {
		_ = l.add(m)
	}
	l.end()
}

package keyspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

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
// ZSetEnds.

const ErrMemberLength = resp.Error("ERR member exceeds the maximum size of 1 MiB")

const (
	scoreBytes   = 8
	negativeZero = 1 // the element behind a member whose score is -0
)

// appendScore appends what a member's document holds.
func appendScore(dst []byte, score float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(score))
}

// ParseScore undoes appendScore; ok is false if value is not what it writes.
func ParseScore(value []byte) (score float64, ok bool) {
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
	score, ok2 := ParseScore(value)
	if !ok || !ok2 {
		return
	}
	key := append(make([]byte, 0, len(id)+scoreBytes+3), id[:n]...)
	add(appendPlace(key, score, id[n:]))
}

// Rated is a member of a sorted set and its score.
type Rated struct {
	Score  float64
	Member string
}

// ParseEntry reads the key of an entry, whose uid takes n bytes.
func ParseEntry(key string, n int) (m Rated, err error) {
	score, rest, err := tuple.TakeFloat(key[n:])
	if err == nil {
		m.Score = score
		m.Member, rest, err = tuple.TakeString(rest)
	}
	if err == nil && rest != "" {
		var flag int64
		flag, rest, err = tuple.TakeInt(rest)
		if flag == negativeZero && score == 0 {
			m.Score = math.Copysign(0, -1)
		}
	}
	if err != nil || rest != "" {
		return Rated{}, fmt.Errorf("entry %q of a sorted set: %w", key, errors.Join(ErrDamaged, err))
	}
	return m, nil
}

// ScoreOf is a member's score; ok is false if the set does not have it.
func ScoreOf(v *View, u UID, member []byte) (score float64, ok bool, err error) {
	doc, err := readDoc(v, v.Scores, tuple.AppendBytes(AppendUID(v.Room(), u), member))
	if err == firn.ErrNotFound {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	score, ok = ParseScore(doc.Value)
	if !ok {
		return 0, false, fmt.Errorf("score of %q in %d/%d: %w", member, u.TS, u.N, ErrDamaged)
	}
	return score, true, nil
}

// FindZSet reads the sorted set at a key.
func FindZSet(v *View, key []byte) (k KeyDoc, ok bool, err error) {
	return v.FindKind(key, KindZSet)
}

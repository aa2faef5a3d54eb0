package keyspace

import (
	"bytes"
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// ZSetEnds is where the live entries of a sorted set begin and end: a walk
// that starts there passes over none of the tombstones that a queue leaves
// behind. They are the places of the first and the last member, cut to
// MaxEndBytes, so that every member's place, cut alike, lies between them.
//
// A set knows its ends from the first removal on, or the first change of a
// score; before that there are no tombstones. They are its key document's
// note, a MessagePack array of two bin.
type ZSetEnds struct {
	Known     bool
	Low, High []byte // nil: not known yet, in an edit only
}

// MaxEndBytes keeps key documents small; it is room for a score and a member
// of the length of a UUID.
const MaxEndBytes = 50

// cutPlace is as much of a place as ends keep.
func cutPlace(place []byte) []byte { return place[:min(len(place), MaxEndBytes)] }

// ParseZSetEnds reads a sorted set's note. What it returns aliases it.
func ParseZSetEnds(k *KeyDoc) (e ZSetEnds, err error) {
	if k.Value == nil {
		return e, nil
	}
	d := pack.Decoder{B: k.Value}
	d.Expect(0x92)
	e = ZSetEnds{true, d.Bin(), d.Bin()}
	if d.Bad || len(d.B) > 0 || e.Low == nil || e.High == nil {
		return e, fmt.Errorf("note %x of sorted set %d/%d: %w", k.Value, k.UID.TS, k.UID.N, ErrDamaged)
	}
	return e, nil
}

// note is the note that ParseZSetEnds reads, appended to dst; nil if the ends
// are not known.
func (e *ZSetEnds) note(dst []byte) []byte {
	if !e.Known {
		return nil
	}
	dst = append(dst, 0x92)
	dst = append(pack.AppendBinHeader(dst, len(e.Low)), e.Low...)
	return append(pack.AppendBinHeader(dst, len(e.High)), e.High...)
}

// ZSetEdit changes a sorted set: put and drop members, then finish, which
// writes the key. It holds on to the ends, and looks for a new one only when
// the member at the end has gone.
type ZSetEdit struct {
	V    *View
	S    *Slot
	ends ZSetEnds

	lowGone, highGone bool // the member at that end has gone; the end is a bound still
}

// EditZSet begins to change the sorted set in a slot; where there is none, a
// new one, which finish must not find without members.
func EditZSet(v *View, s *Slot) (ZSetEdit, error) {
	e := ZSetEdit{V: v, S: s}
	if !s.Live {
		s.Key = KeyDoc{Kind: KindZSet, UID: v.NewUID()}
		return e, nil
	}
	var err error
	e.ends, err = ParseZSetEnds(&s.Key)
	return e, err
}

// ReplaceZSet begins a sorted set in place of whatever is at a key.
func ReplaceZSet(v *View, s *Slot) ZSetEdit {
	s.Key = KeyDoc{Kind: KindZSet, Created: s.Key.Created, UID: v.NewUID()}
	return ZSetEdit{V: v, S: s}
}

// Foresee tells a new set how many members it will have, and how long the
// longest is. Where Redis knows that before it puts the first, a set that will
// be large keeps every -0.
func (e *ZSetEdit) Foresee(length, longest int) {
	limits := &e.V.Encodings
	if int64(length) > limits.ZSetEntries.Load() || int64(longest) > limits.ZSetValueBytes.Load() {
		e.S.Key.Encoding = Large
	}
}

// Put gives a member a score; old is the score it has, if it has one.
func (e *ZSetEdit) Put(member []byte, score, old float64, had bool) error {
	k := &e.S.Key
	if !had {
		k.Length++
		if !e.V.Encodings.zsetFits(k.Length, member) {
			k.Encoding = Large
		}
	}
	if k.Encoding == Compact && score == 0 {
		score = 0 // Redis's compact form has no -0
	}
	id := e.V.ElementID(k.UID, member)
	if len(id)+scoreBytes+3 > schema.MaxIDBytes {
		return ErrMemberLength
	}
	if had {
		e.dropPlace(e.place(id, old))
	}
	if e.ends.Known {
		e.addPlace(e.place(id, score))
	}
	return e.V.Tx.Put(e.V.Scores, id, appendScore(make([]byte, 0, scoreBytes), score))
}

// maxUIDBytes is above the length of an encoded uid.
const maxUIDBytes = 18

// Drop removes a member that the set has.
func (e *ZSetEdit) Drop(member []byte, score float64) error {
	id := e.V.ElementID(e.S.Key.UID, member)
	e.dropPlace(e.place(id, score))
	e.S.Key.Length--
	return e.V.Tx.Delete(e.V.Scores, id, nil)
}

// place is the place of a member's document with a score.
func (e *ZSetEdit) place(id []byte, score float64) []byte {
	prefix, _ := tuple.PrefixLen(string(id[:min(len(id), maxUIDBytes)]), 2)
	return e.V.Keep(appendPlace(e.V.Room(), score, id[prefix:]))
}

// addPlace moves the ends apart so that a place, which lasts as long as the
// edit, lies between them.
func (e *ZSetEdit) addPlace(place []byte) {
	place = cutPlace(place)
	if e.ends.Low != nil && bytes.Compare(place, e.ends.Low) < 0 {
		e.ends.Low, e.lowGone = place, false
	}
	if e.ends.High != nil && bytes.Compare(place, e.ends.High) > 0 {
		e.ends.High, e.highGone = place, false
	}
}

// dropPlace notes that a place may become a tombstone.
func (e *ZSetEdit) dropPlace(place []byte) {
	if !e.ends.Known {
		e.ends.Known, e.lowGone, e.highGone = true, true, true
		return
	}
	place = cutPlace(place)
	e.lowGone = e.lowGone || bytes.Equal(place, e.ends.Low)
	e.highGone = e.highGone || bytes.Equal(place, e.ends.High)
}

// SetEnd says which member is the first now, or the last.
func (e *ZSetEdit) SetEnd(m Rated, last bool) {
	member := e.V.Keep(tuple.AppendString(e.V.Room(), m.Member))
	place := cutPlace(e.V.Keep(appendPlace(e.V.Room(), m.Score, member)))
	if last {
		e.ends.High, e.highGone = place, false
	} else {
		e.ends.Low, e.lowGone = place, false
	}
}

// Finish writes the key, or ends it if the set has become empty, which it
// returns.
func (e *ZSetEdit) Finish() (emptied bool, err error) {
	k := &e.S.Key
	if k.Length == 0 {
		return true, e.V.Remove(e.S)
	}
	if e.lowGone || e.highGone {
		if err := e.findEnds(); err != nil {
			return false, err
		}
	}
	k.Value = e.V.Keep(e.ends.note(e.V.Room()))
	return false, e.V.Write(e.S, *k)
}

// findEnds looks for the ends that have gone.
func (e *ZSetEdit) findEnds() error {
	k := &e.S.Key
	prefix := e.V.PrefixOf(k.UID)
	s := Span{spanOf(e.V, prefix, &e.ends), len(prefix)}
	s.Index, s.Limit = e.V.byScore, 1
	if _, err := WarmSpan(e.V, k, &s, 1); err != nil {
		return err
	}
	for _, end := range [...]struct {
		gone bool
		at   *[]byte
		last bool
	}{{e.lowGone, &e.ends.Low, false}, {e.highGone, &e.ends.High, true}} {
		if !end.gone {
			continue
		}
		key, err := edgeKey(e.V, s, end.last)
		if err != nil {
			return err
		}
		*end.at = cutPlace([]byte(key[len(prefix):]))
	}
	return nil
}

// spanOf is the range of all entries of a sorted set, whose uid is prefix,
// between its ends as far as they are known.
func spanOf(v *View, prefix []byte, e *ZSetEnds) firn.Range {
	low := v.Keep(append(append(v.Room(), prefix...), e.Low...))
	high := v.Keep(append(append(v.Room(), prefix...), e.High...))
	return firn.Range{From: low, To: tuple.RaiseToEnd(high)}
}

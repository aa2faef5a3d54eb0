package redis

import (
	"bytes"
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// zsetEnds is where the live entries of a sorted set begin and end: a walk
// that starts there passes over none of the tombstones that a queue leaves
// behind. They are the places of the first and the last member, cut to
// maxEndBytes, so that every member's place, cut alike, lies between them.
//
// A set knows its ends from the first removal on, or the first change of a
// score; before that there are no tombstones. They are its key document's
// note, a MessagePack array of two bin.
type zsetEnds struct {
	known     bool
	low, high []byte // nil: not known yet, in an edit only
}

// maxEndBytes keeps key documents small; it is room for a score and a member
// of the length of a UUID.
const maxEndBytes = 50

// cutPlace is as much of a place as ends keep.
func cutPlace(place []byte) []byte { return place[:min(len(place), maxEndBytes)] }

// parseZSetEnds reads a sorted set's note. What it returns aliases it.
func parseZSetEnds(k *keyDoc) (e zsetEnds, err error) {
	if k.Value == nil {
		return e, nil
	}
	d := decoder{b: k.Value}
	d.expect(0x92)
	e = zsetEnds{true, d.bin(), d.bin()}
	if d.bad || len(d.b) > 0 || e.low == nil || e.high == nil {
		return e, fmt.Errorf("note %x of sorted set %d/%d: %w", k.Value, k.UID.TS, k.UID.N, errDamaged)
	}
	return e, nil
}

// note is the note that parseZSetEnds reads; nil if the ends are not known.
func (e *zsetEnds) note() []byte {
	if !e.known {
		return nil
	}
	b := append(make([]byte, 0, 5+len(e.low)+len(e.high)), 0x92)
	b = append(appendBinHeader(b, len(e.low)), e.low...)
	return append(appendBinHeader(b, len(e.high)), e.high...)
}

// zsetEdit changes a sorted set: put and drop members, then finish, which
// writes the key. It holds on to the ends, and looks for a new one only when
// the member at the end has gone.
type zsetEdit struct {
	v    *View
	s    *slot
	ends zsetEnds

	lowGone, highGone bool // the member at that end has gone; the end is a bound still
}

// editZSet begins to change the sorted set in a slot; where there is none, a
// new one, which finish must not find without members.
func editZSet(v *View, s *slot) (zsetEdit, error) {
	e := zsetEdit{v: v, s: s}
	if !s.live {
		s.key = keyDoc{Kind: kindZSet, UID: v.newUID()}
		return e, nil
	}
	var err error
	e.ends, err = parseZSetEnds(&s.key)
	return e, err
}

// replaceZSet begins a sorted set in place of whatever is at a key.
func replaceZSet(v *View, s *slot) zsetEdit {
	s.key = keyDoc{Kind: kindZSet, Created: s.key.Created, UID: v.newUID()}
	return zsetEdit{v: v, s: s}
}

// foresee tells a new set how many members it will have, and how long the
// longest is. Where Redis knows that before it puts the first, a set that will
// be large keeps every -0.
func (e *zsetEdit) foresee(length, longest int) {
	limits := &e.v.encodings
	if int64(length) > limits.zsetEntries.Load() || int64(longest) > limits.zsetValueBytes.Load() {
		e.s.key.Encoding = large
	}
}

// put gives a member a score; old is the score it has, if it has one.
func (e *zsetEdit) put(member []byte, score, old float64, had bool) error {
	k := &e.s.key
	if !had {
		k.Length++
		if !e.v.encodings.zsetFits(k.Length, member) {
			k.Encoding = large
		}
	}
	if k.Encoding == compact && score == 0 {
		score = 0 // Redis's compact form has no -0
	}
	id := e.v.elementID(k.UID, member)
	if len(id)+scoreBytes+3 > schema.MaxIDBytes {
		return errMemberLength
	}
	if had {
		e.dropPlace(e.place(id, old))
	}
	if e.ends.known {
		e.addPlace(e.place(id, score))
	}
	return e.v.Tx.Put(e.v.scores, id, appendScore(make([]byte, 0, scoreBytes), score))
}

// maxUIDBytes is above the length of an encoded uid.
const maxUIDBytes = 18

// drop removes a member that the set has.
func (e *zsetEdit) drop(member []byte, score float64) error {
	id := e.v.elementID(e.s.key.UID, member)
	e.dropPlace(e.place(id, score))
	e.s.key.Length--
	return e.v.Tx.Delete(e.v.scores, id, nil)
}

// place is the place of a member's document with a score.
func (e *zsetEdit) place(id []byte, score float64) []byte {
	prefix, _ := tuple.PrefixLen(string(id[:min(len(id), maxUIDBytes)]), 2)
	return e.v.keep(appendPlace(e.v.room(), score, id[prefix:]))
}

// addPlace moves the ends apart so that a place lies between them.
func (e *zsetEdit) addPlace(place []byte) {
	place = cutPlace(place)
	if e.ends.low != nil && bytes.Compare(place, e.ends.low) < 0 {
		e.ends.low, e.lowGone = bytes.Clone(place), false
	}
	if e.ends.high != nil && bytes.Compare(place, e.ends.high) > 0 {
		e.ends.high, e.highGone = bytes.Clone(place), false
	}
}

// dropPlace notes that a place may become a tombstone.
func (e *zsetEdit) dropPlace(place []byte) {
	if !e.ends.known {
		e.ends.known, e.lowGone, e.highGone = true, true, true
		return
	}
	place = cutPlace(place)
	e.lowGone = e.lowGone || bytes.Equal(place, e.ends.low)
	e.highGone = e.highGone || bytes.Equal(place, e.ends.high)
}

// setEnd says which member is the first now, or the last.
func (e *zsetEdit) setEnd(m rated, last bool) {
	place := cutPlace(appendPlace(nil, m.score, tuple.AppendString(nil, m.member)))
	if last {
		e.ends.high, e.highGone = place, false
	} else {
		e.ends.low, e.lowGone = place, false
	}
}

// finish writes the key, or ends it if the set has become empty, which it
// returns.
func (e *zsetEdit) finish() (emptied bool, err error) {
	k := &e.s.key
	if k.Length == 0 {
		return true, e.v.remove(e.s)
	}
	if e.lowGone || e.highGone {
		if err := e.findEnds(); err != nil {
			return false, err
		}
	}
	k.Value = e.ends.note()
	return false, e.v.write(e.s, *k)
}

// findEnds looks for the ends that have gone.
func (e *zsetEdit) findEnds() error {
	k := &e.s.key
	prefix := appendUID(make([]byte, 0, maxUIDBytes), k.UID)
	s := span{spanOf(prefix, &e.ends), len(prefix)}
	s.Index, s.Limit = e.v.byScore, 1
	if _, err := warmSpan(e.v, k, &s, 1); err != nil {
		return err
	}
	for _, end := range [...]struct {
		gone bool
		at   *[]byte
		last bool
	}{{e.lowGone, &e.ends.low, false}, {e.highGone, &e.ends.high, true}} {
		if !end.gone {
			continue
		}
		key, err := edgeKey(e.v, s, end.last)
		if err != nil {
			return err
		}
		*end.at = cutPlace([]byte(key[len(prefix):]))
	}
	return nil
}

// spanOf is the range of all entries of a sorted set, whose uid is prefix,
// between its ends as far as they are known.
func spanOf(prefix []byte, e *zsetEnds) firn.Range {
	low := append(bytes.Clone(prefix), e.low...)
	high := append(bytes.Clone(prefix), e.high...)
	return firn.Range{From: low, To: tuple.PrefixEnd(high)}
}

package keyspace

import (
	"fmt"
	"iter"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
	"github.com/firndb/firn/tuple"
)

// What a stream's consumer groups know is in documents of the table groups:
//
//	id                                   document
//	(uid, 0, name)                       a group
//	(uid, serial, 0, consumer)           a consumer of the group
//	(uid, serial, 1, ms, seq)            an entry that is pending in the group
//
// A group's serial is 1 for a stream's first group and one more for each that
// follows, so that a new group of an old name finds nothing of the old one.
// The index consumer has a pending entry under (uid, serial, consumer, ms,
// seq). The documents are MessagePack arrays of ints, ids (see stream, without
// a base) and bins:
//
//	group     serial, last id, read+1, consumers, pending count, pending low,
//	          pending high, pending stale
//	consumer  seen_ms, pending count, low, high, stale
//	pending   consumer (bin), delivered_ms, deliveries
const (
	partConsumers = 0
	partPending   = 1
)

// pendingBounds is what a group, or a consumer, keeps about the entries that
// are pending in it. Acknowledged entries leave tombstones, mostly at the front:
// the bounds keep those who look for pending ones from walking over them.
//
// Invariant: all pending ids are between low and high. They need not be
// there themselves.
type pendingBounds struct {
	Count     int64
	low, high StreamID
	stale     int64 // how many were taken out since the bounds were exact
}

// maxStale is how many may be taken out before the bounds are found anew.
const maxStale = 100

func (p *pendingBounds) Add(id StreamID) {
	if p.Count == 0 {
		*p = pendingBounds{low: id, high: id}
	}
	p.Count++
	if id.Less(p.low) {
		p.low = id
	}
	if p.high.Less(id) {
		p.high = id
	}
}

func (p *pendingBounds) remove() {
	p.stale++
	if p.Count--; p.Count <= 0 {
		*p = pendingBounds{}
	}
}

// within cuts an interval down to where entries can be pending.
func (p *pendingBounds) within(s IDSpan) (IDSpan, bool) {
	if s.From.Less(p.low) {
		s.From = p.low
	}
	if p.high.Less(s.To) {
		s.To = p.high
	}
	return s, p.Count > 0 && !s.To.Less(s.From)
}

// StreamGroup is a consumer group.
type StreamGroup struct {
	Name      []byte
	Serial    int64
	Last      StreamID // the last entry that was delivered
	Read      int64    // how many entries were up to that; -1: not known
	Consumers int64
	Pending   pendingBounds
}

// StreamConsumer is a member of a group.
type StreamConsumer struct {
	Name    []byte
	Seen    int64 // when it last did something, in ms
	Pending pendingBounds
}

// PendingEntry is an entry that is pending.
type PendingEntry struct {
	ID        StreamID
	Consumer  []byte
	Delivered int64 // when, in ms
	Count     int64 // how often
}

// Encode is the document of a pending entry. There is one for each delivery, so
// it is written and read without the library that groups use.
func (d *PendingEntry) Encode() []byte {
	b := append(make([]byte, 0, 16+len(d.Consumer)), 0x93)
	b = append(pack.AppendBinHeader(b, len(d.Consumer)), d.Consumer...)
	return pack.AppendUint(pack.AppendUint(b, uint64(d.Delivered)), uint64(d.Count))
}

// ParsePending reads the document of a pending entry.
func ParsePending(doc *firn.Document, id StreamID) (PendingEntry, error) {
	d := pack.Decoder{B: doc.Value}
	d.Expect(0x93)
	p := PendingEntry{id, d.Bin(), d.Int(), d.Int()}
	if p.Consumer == nil {
		d.Bad = true
	}
	if d.Bad || len(d.B) > 0 {
		return p, fmt.Errorf("pending entry %q at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	return p, nil
}

// pendingKeys puts a pending entry under its consumer. Other documents of the
// table are in no index.
func pendingKeys(id string, value []byte, add func(key []byte)) {
	n, ok := tuple.PrefixLen(id, 3)
	if !ok {
		return
	}
	part, rest, err := tuple.TakeInt(id[n:])
	d := pack.Decoder{B: value}
	d.Expect(0x93)
	name := d.Bin()
	if err != nil || part != partPending || name == nil {
		return
	}
	key := append(make([]byte, 0, len(id)+len(name)+2), id[:n]...)
	add(append(tuple.AppendBytes(key, name), rest...))
}

// GroupID is the id of a group's document.
func GroupID(v *View, u UID, name []byte) []byte {
	return v.Keep(tuple.AppendBytes(tuple.AppendInt(AppendUID(v.Room(), u), 0), name))
}

// partID is where the ids of a part of a group begin.
func partID(v *View, u UID, serial, part int64) []byte {
	return v.Keep(appendPart(v.Room(), u, serial, part))
}

func appendPart(dst []byte, u UID, serial, part int64) []byte {
	return tuple.AppendInt(tuple.AppendInt(AppendUID(dst, u), serial), part)
}

func ConsumerID(v *View, u UID, serial int64, name []byte) []byte {
	return v.Keep(tuple.AppendBytes(appendPart(v.Room(), u, serial, partConsumers), name))
}

func PendingID(v *View, u UID, serial int64, id StreamID) []byte {
	return v.Keep(id.AppendKey(appendPart(v.Room(), u, serial, partPending)))
}

// FindStreamGroup reads a group of a stream; ok is false if it is not there.
func FindStreamGroup(v *View, k *KeyDoc, name []byte) (g StreamGroup, ok bool, err error) {
	doc, err := readDoc(v, v.Groups, GroupID(v, k.UID, name))
	if err == firn.ErrNotFound {
		return StreamGroup{}, false, nil
	}
	if err == nil {
		g, err = ParseGroup(doc, name)
	}
	return g, err == nil, err
}

// FindStreamConsumer reads a consumer of a group; ok is false if it is not there.
func FindStreamConsumer(v *View, u UID, serial int64, name []byte) (m StreamConsumer, ok bool, err error) {
	doc, err := readDoc(v, v.Groups, ConsumerID(v, u, serial, name))
	if err == firn.ErrNotFound {
		return StreamConsumer{}, false, nil
	}
	if err == nil {
		m, err = ParseConsumer(doc, name)
	}
	return m, err == nil, err
}

// FindPending reads a pending entry of a group; ok is false if the entry is
// not pending.
func FindPending(v *View, u UID, g *StreamGroup, id StreamID) (d PendingEntry, ok bool, err error) {
	if g.Pending.Count == 0 || id.Less(g.Pending.low) || g.Pending.high.Less(id) {
		return d, false, nil
	}
	doc, err := readDoc(v, v.Groups, PendingID(v, u, g.Serial, id))
	if err == firn.ErrNotFound {
		return d, false, nil
	}
	if err == nil {
		d, err = ParsePending(doc, id)
	}
	return d, err == nil, err
}

// StreamGroups walks over the groups of a stream in the order of their names.
func StreamGroups(v *View, k *KeyDoc) iter.Seq2[StreamGroup, error] {
	return func(yield func(StreamGroup, error) bool) {
		prefix := slices.Clone(tuple.AppendInt(v.PrefixOf(k.UID), 0))
		for item, err := range v.R.Scan(firn.Range{Index: v.Groups.ByID(), Prefix: prefix}) {
			var g StreamGroup
			if err == nil {
				var name []byte
				if name, err = v.SubKey(item.Key, len(prefix)); err == nil {
					g, err = ParseGroup(item.Doc, Own(name))
				}
			}
			if !yield(g, err) || err != nil {
				return
			}
		}
	}
}

// GroupConsumers walks over the consumers of a group in the order of their names.
func GroupConsumers(v *View, u UID, g *StreamGroup) iter.Seq2[StreamConsumer, error] {
	return func(yield func(StreamConsumer, error) bool) {
		prefix := slices.Clone(partID(v, u, g.Serial, partConsumers))
		for item, err := range v.R.Scan(firn.Range{Index: v.Groups.ByID(), Prefix: prefix}) {
			var m StreamConsumer
			if err == nil {
				var name []byte
				if name, err = v.SubKey(item.Key, len(prefix)); err == nil {
					m, err = ParseConsumer(item.Doc, Own(name))
				}
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// EachPending walks over the entries that are pending in a group, or, if m is
// not nil, with a consumer, in an interval.
func EachPending(v *View, u UID, g *StreamGroup, m *StreamConsumer, s IDSpan, reverse bool, limit int) iter.Seq2[PendingEntry, error] {
	r := firn.Range{Index: v.Groups.ByID(), Reverse: reverse, Limit: limit}
	bounds := &g.Pending
	prefix := slices.Clone(partID(v, u, g.Serial, partPending))
	if m != nil {
		r.Index, bounds = v.byConsumer, &m.Pending
		prefix = tuple.AppendBytes(tuple.AppendInt(AppendUID(nil, u), g.Serial), m.Name)
	}
	s, some := bounds.within(s)
	r.From = s.From.AppendKey(slices.Clone(prefix))
	r.To = append(s.To.AppendKey(slices.Clone(prefix)), 0)
	return func(yield func(PendingEntry, error) bool) {
		if !some {
			return
		}
		for item, err := range v.R.Scan(r) {
			var d PendingEntry
			if err == nil {
				var id StreamID
				if id, err = TakeIDKey(item.Key[len(prefix):]); err == nil {
					d, err = ParsePending(item.Doc, id)
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

package redis

import (
	"fmt"
	"iter"
	"slices"

	"github.com/firndb/firn"
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
	count     int64
	low, high streamID
	stale     int64 // how many were taken out since the bounds were exact
}

// maxStale is how many may be taken out before the bounds are found anew.
const maxStale = 100

func (p *pendingBounds) add(id streamID) {
	if p.count == 0 {
		*p = pendingBounds{low: id, high: id}
	}
	p.count++
	if id.less(p.low) {
		p.low = id
	}
	if p.high.less(id) {
		p.high = id
	}
}

func (p *pendingBounds) remove() {
	p.stale++
	if p.count--; p.count <= 0 {
		*p = pendingBounds{}
	}
}

// within cuts an interval down to where entries can be pending.
func (p *pendingBounds) within(s idSpan) (idSpan, bool) {
	if s.from.less(p.low) {
		s.from = p.low
	}
	if p.high.less(s.to) {
		s.to = p.high
	}
	return s, p.count > 0 && !s.to.less(s.from)
}

// streamGroup is a consumer group.
type streamGroup struct {
	name      []byte
	serial    int64
	last      streamID // the last entry that was delivered
	read      int64    // how many entries were up to that; -1: not known
	consumers int64
	pending   pendingBounds
}

// streamConsumer is a member of a group.
type streamConsumer struct {
	name    []byte
	seen    int64 // when it last did something, in ms
	pending pendingBounds
}

// pendingEntry is an entry that is pending.
type pendingEntry struct {
	id        streamID
	consumer  []byte
	delivered int64 // when, in ms
	count     int64 // how often
}

func (g *streamGroup) encode() []byte {
	b := append(make([]byte, 0, 64), 0x98)
	b = appendUint(b, uint64(g.serial))
	b = appendIDPair(b, g.last, 0, 1)
	b = appendUint(b, uint64(g.read+1))
	b = appendUint(b, uint64(g.consumers))
	return slices.Clip(g.pending.appendTo(b))
}

func (m *streamConsumer) encode() []byte {
	b := append(make([]byte, 0, 48), 0x95)
	return slices.Clip(m.pending.appendTo(appendUint(b, uint64(m.seen))))
}

func (d *pendingEntry) encode() []byte {
	b := append(make([]byte, 0, 16+len(d.consumer)), 0x93)
	b = append(appendBinHeader(b, len(d.consumer)), d.consumer...)
	return appendUint(appendUint(b, uint64(d.delivered)), uint64(d.count))
}

func (p *pendingBounds) appendTo(b []byte) []byte {
	b = appendUint(b, uint64(p.count))
	b = appendIDPair(b, p.low, 0, 1)
	b = appendIDPair(b, p.high, 0, 1)
	return appendUint(b, uint64(p.stale))
}

func decoderPendingBounds(d *decoder) pendingBounds {
	return pendingBounds{d.int(), decoderID(d), decoderID(d), d.int()}
}

func parseGroup(doc *firn.Document, name []byte) (streamGroup, error) {
	d := decoder{b: doc.Value}
	d.expect(0x98)
	g := streamGroup{name: name, serial: d.int(), last: decoderID(&d), read: int64(d.uint()) - 1, consumers: d.int(), pending: decoderPendingBounds(&d)}
	return g, decoderEnd(&d, doc)
}

func parseConsumer(doc *firn.Document, name []byte) (streamConsumer, error) {
	d := decoder{b: doc.Value}
	d.expect(0x95)
	m := streamConsumer{name: name, seen: d.int(), pending: decoderPendingBounds(&d)}
	return m, decoderEnd(&d, doc)
}

func parsePending(doc *firn.Document, id streamID) (pendingEntry, error) {
	d := decoder{b: doc.Value}
	d.expect(0x93)
	p := pendingEntry{id, d.bin(), d.int(), d.int()}
	if p.consumer == nil {
		d.bad = true
	}
	return p, decoderEnd(&d, doc)
}

// decoderEnd is errDamaged unless the document was read to its end.
func decoderEnd(d *decoder, doc *firn.Document) error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("group document %q at %d: %w", doc.ID, doc.TS, errDamaged)
	}
	return nil
}

// pendingKeys puts a pending entry under its consumer. Other documents of the
// table are in no index.
func pendingKeys(id string, value []byte, add func(key []byte)) {
	n, ok := tuple.PrefixLen(id, 3)
	if !ok {
		return
	}
	part, rest, err := tuple.TakeInt(id[n:])
	d := decoder{b: value}
	d.expect(0x93)
	name := d.bin()
	if err != nil || part != partPending || name == nil {
		return
	}
	key := append(make([]byte, 0, len(id)+len(name)+2), id[:n]...)
	add(append(tuple.AppendBytes(key, name), rest...))
}

// groupID is the id of a group's document.
func groupID(v *View, u uid, name []byte) []byte {
	return v.keep(tuple.AppendBytes(tuple.AppendInt(appendUID(v.room(), u), 0), name))
}

// partID is where the ids of a part of a group begin.
func partID(v *View, u uid, serial, part int64) []byte {
	return v.keep(appendPart(v.room(), u, serial, part))
}

func appendPart(dst []byte, u uid, serial, part int64) []byte {
	return tuple.AppendInt(tuple.AppendInt(appendUID(dst, u), serial), part)
}

func consumerID(v *View, u uid, serial int64, name []byte) []byte {
	return v.keep(tuple.AppendBytes(appendPart(v.room(), u, serial, partConsumers), name))
}

func pendingID(v *View, u uid, serial int64, id streamID) []byte {
	return v.keep(id.appendKey(appendPart(v.room(), u, serial, partPending)))
}

// findStreamGroup reads a group of a stream; ok is false if it is not there.
func findStreamGroup(v *View, k *keyDoc, name []byte) (g streamGroup, ok bool, err error) {
	doc, err := v.R.Get(v.groups, groupID(v, k.UID, name))
	if err == firn.ErrNotFound {
		return streamGroup{}, false, nil
	}
	if err == nil {
		g, err = parseGroup(doc, name)
	}
	return g, err == nil, err
}

// findStreamConsumer reads a consumer of a group; ok is false if it is not there.
func findStreamConsumer(v *View, u uid, serial int64, name []byte) (m streamConsumer, ok bool, err error) {
	doc, err := v.R.Get(v.groups, consumerID(v, u, serial, name))
	if err == firn.ErrNotFound {
		return streamConsumer{}, false, nil
	}
	if err == nil {
		m, err = parseConsumer(doc, name)
	}
	return m, err == nil, err
}

// findPending reads a pending entry of a group; ok is false if the entry is
// not pending.
func findPending(v *View, u uid, g *streamGroup, id streamID) (d pendingEntry, ok bool, err error) {
	if g.pending.count == 0 || id.less(g.pending.low) || g.pending.high.less(id) {
		return d, false, nil
	}
	doc, err := v.R.Get(v.groups, pendingID(v, u, g.serial, id))
	if err == firn.ErrNotFound {
		return d, false, nil
	}
	if err == nil {
		d, err = parsePending(doc, id)
	}
	return d, err == nil, err
}

// streamGroups walks over the groups of a stream in the order of their names.
func streamGroups(v *View, k *keyDoc) iter.Seq2[streamGroup, error] {
	return func(yield func(streamGroup, error) bool) {
		prefix := slices.Clone(tuple.AppendInt(v.prefixOf(k.UID), 0))
		for item, err := range v.R.Scan(firn.Range{Index: v.groups.ByID(), Prefix: prefix}) {
			var g streamGroup
			if err == nil {
				var name []byte
				if name, err = v.subKey(item.Key, len(prefix)); err == nil {
					g, err = parseGroup(item.Doc, own(name))
				}
			}
			if !yield(g, err) || err != nil {
				return
			}
		}
	}
}

// groupConsumers walks over the consumers of a group in the order of their names.
func groupConsumers(v *View, u uid, g *streamGroup) iter.Seq2[streamConsumer, error] {
	return func(yield func(streamConsumer, error) bool) {
		prefix := slices.Clone(partID(v, u, g.serial, partConsumers))
		for item, err := range v.R.Scan(firn.Range{Index: v.groups.ByID(), Prefix: prefix}) {
			var m streamConsumer
			if err == nil {
				var name []byte
				if name, err = v.subKey(item.Key, len(prefix)); err == nil {
					m, err = parseConsumer(item.Doc, own(name))
				}
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// eachPending walks over the entries that are pending in a group, or, if m is
// not nil, with a consumer, in an interval.
func eachPending(v *View, u uid, g *streamGroup, m *streamConsumer, s idSpan, reverse bool, limit int) iter.Seq2[pendingEntry, error] {
	r := firn.Range{Index: v.groups.ByID(), Reverse: reverse, Limit: limit}
	bounds := &g.pending
	prefix := slices.Clone(partID(v, u, g.serial, partPending))
	if m != nil {
		r.Index, bounds = v.byConsumer, &m.pending
		prefix = tuple.AppendBytes(tuple.AppendInt(appendUID(nil, u), g.serial), m.name)
	}
	s, some := bounds.within(s)
	r.From = s.from.appendKey(slices.Clone(prefix))
	r.To = append(s.to.appendKey(slices.Clone(prefix)), 0)
	return func(yield func(pendingEntry, error) bool) {
		if !some {
			return
		}
		for item, err := range v.R.Scan(r) {
			var d pendingEntry
			if err == nil {
				var id streamID
				if id, err = takeIDKey(item.Key[len(prefix):]); err == nil {
					d, err = parsePending(item.Doc, id)
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

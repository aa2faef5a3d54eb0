package redis

import (
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// A key's history is the version chain of its document, and more: FLUSHDB and
// SWAPDB touch no key, but let the database show another keyspace. So the
// history is read reign by reign: while a keyspace was shown, its chain is
// the history, and where two reigns meet the key may have come or gone.

// event is one thing that happened to a key.
type event struct {
	ts        firn.Timestamp
	operation string
	deleted   bool
	began     bool // a reign began; the key itself was not written
	bytes     int  // of the version's id and value; 0 if it was not written
	key       keyDoc
	id        []byte         // of the key's document
	written   firn.Timestamp // of the version that key is
	doc       *firn.Document // that says who did it
}

// reign is the time in which a database showed one keyspace.
type reign struct {
	space     uid
	from, to  firn.Timestamp // both inclusive
	operation string         // what began it
	doc       *firn.Document // the database's; nil for the one that nothing began
}

// reignsOf lists what a database showed, oldest first. At least one is there.
func reignsOf(v *View, db int) ([]reign, error) {
	var all []reign
	id := tuple.AppendInt(nil, int64(db))
	for doc, err := range v.R.Versions(v.databases, id, firn.VersionRange{}) {
		if err != nil {
			return nil, err
		}
		space, operation, err := parseDatabase(doc)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 && doc.Prev == 0 {
			all = append(all, reign{space: uid{N: int64(db)}})
		}
		if n := len(all); n > 0 {
			all[n-1].to = doc.TS - 1
		}
		all = append(all, reign{space: space, from: doc.TS, operation: operation, doc: doc})
	}
	if len(all) == 0 {
		all = append(all, reign{space: uid{N: int64(db)}})
	}
	all[len(all)-1].to = schema.MaxTimestamp
	return all, nil
}

// chronicle is what happened in a database: its reigns, and through them the
// history of each key.
type chronicle struct {
	v   *View
	all []reign // oldest first, at least one
}

// newChronicle is that of the call's database.
func newChronicle(v *View) (*chronicle, error) {
	all, err := reignsOf(v, v.DB)
	return &chronicle{v, all}, err
}

// each visits what happened to a key, as far as q asks for it, until visit
// returns false.
func (h *chronicle) each(key []byte, q *historyQuery, visit func(*event) bool) error {
	left := q.limit
	limited := func(e *event) bool {
		left--
		return visit(e) && left != 0
	}
	order := make([]int, len(h.all))
	for i := range order {
		order[i] = i
	}
	if q.newest {
		slices.Reverse(order)
	}
	until := q.until
	if until == 0 {
		until = schema.MaxTimestamp
	}
	for _, i := range order {
		g := &h.all[i]
		span := firn.VersionRange{From: max(g.from, q.since), To: min(g.to, until), Newest: q.newest, Limit: left}
		if span.From > span.To {
			continue
		}
		if more, err := h.reign(key, i, span, limited); err != nil || !more {
			return err
		}
	}
	return nil
}

// reign visits what happened to a key during a span of the i-th reign: how it
// began, and the versions of the key in it.
func (h *chronicle) reign(key []byte, i int, span firn.VersionRange, visit func(*event) bool) (more bool, err error) {
	var began *event
	if g := &h.all[i]; g.from >= span.From && g.from <= span.To {
		if began, err = h.began(key, i); err != nil {
			return false, err
		}
	}
	if began != nil && !span.Newest && !visit(began) {
		return false, nil
	}
	id := appendKeyID(nil, h.all[i].space, key)
	for doc, err := range h.v.R.Versions(h.v.keys, id, span) {
		if err != nil {
			return false, err
		}
		k, err := parseKeyDoc(doc)
		if err != nil {
			return false, err
		}
		e := event{
			ts: doc.TS, operation: string(k.Operation), deleted: doc.Deleted, bytes: len(doc.ID) + len(doc.Value),
			key: k, id: id, written: doc.TS, doc: doc,
		}
		if !visit(&e) {
			return false, nil
		}
	}
	return began == nil || !span.Newest || visit(began), nil
}

// began is what the beginning of the i-th reign did to a key: it came with the
// keyspace, or went with the one before; nil if neither.
func (h *chronicle) began(key []byte, i int) (*event, error) {
	if i == 0 {
		return nil, nil
	}
	g := &h.all[i]
	id := appendKeyID(nil, g.space, key)
	now, there, written, err := keyBefore(h.v, id, g.from)
	if err != nil {
		return nil, err
	}
	if there {
		return &event{ts: g.from, operation: g.operation, began: true, key: now, id: id, written: written, doc: g.doc}, nil
	}
	before, was, _, err := keyBefore(h.v, appendKeyID(nil, h.all[i-1].space, key), g.from)
	if err != nil || !was {
		return nil, err
	}
	gone := keyDoc{Kind: before.Kind, Version: before.Version}
	return &event{ts: g.from, operation: g.operation, deleted: true, began: true, key: gone, doc: g.doc}, nil
}

// newest is the last thing that happened to a key up to a moment; nil if
// nothing has.
func (h *chronicle) newest(key []byte, until firn.Timestamp) (last *event, err error) {
	q := historyQuery{until: until, newest: true, limit: 1}
	err = h.each(key, &q, func(e *event) bool {
		last = e
		return true
	})
	return last, err
}

// keyBefore is the state of a key document just before ts, and when that was
// written.
func keyBefore(v *View, id []byte, ts firn.Timestamp) (k keyDoc, live bool, written firn.Timestamp, err error) {
	r := firn.VersionRange{To: ts - 1, Newest: true, Limit: 1}
	for doc, err := range v.R.Versions(v.keys, id, r) {
		if err != nil {
			return keyDoc{}, false, 0, err
		}
		k, err = parseKeyDoc(doc)
		return k, err == nil && !doc.Deleted && !k.ended(ts.Millis()), doc.TS, err
	}
	return keyDoc{}, false, 0, nil
}

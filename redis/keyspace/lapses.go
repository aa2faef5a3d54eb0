package keyspace

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
)

// A key that is written after it has expired, before a sweep has ended it, has
// no tombstone in between: the chain alone would say that the old value became
// the new one. Its history has that version nevertheless, at the moment of the
// expiry. The numbers tell: the writer leaves one out.

// lapse is the expiry between two neighbours in a chain of versions; nil if
// there was none, or it has a version of its own.
func lapse(older, newer *Event) *Event {
	gap := newer.Key.Version - older.Key.Version
	if older.Deleted || gap < 2 || !older.Key.Ended(newer.TS.Millis()) {
		return nil
	}
	at := firn.Timestamp(older.Key.end() * 1000)
	return &Event{
		TS:        min(max(at, older.TS+1), newer.TS),
		Operation: OperationExpired,
		Deleted:   true,
		Written:   older.TS,
		Key:       KeyDoc{Kind: older.Key.Kind, Version: older.Key.Version + 1, Created: older.Key.Created},
	}
}

// end is when a key that ends does so, in ms.
func (k *KeyDoc) end() int64 {
	e := k.FieldEnds()
	if e.Count == 0 || e.Count < k.Length {
		return k.Expires
	}
	if k.Expires != 0 {
		return min(k.Expires, e.Last)
	}
	return e.Last
}

// versionEvent is the event that a version of a key is.
func versionEvent(id []byte, doc *firn.Document) (*Event, error) {
	k, err := ParseKeyDoc(doc)
	if err != nil {
		return nil, err
	}
	return &Event{
		TS: doc.TS, Operation: string(k.Operation), Deleted: doc.Deleted, Bytes: len(doc.ID) + len(doc.Value),
		Key: k, ID: id, Written: doc.TS, Doc: doc,
	}, nil
}

// edge is the first version of a span, or the last with Newest; nil if there
// is none.
func (h *Chronicle) edge(id []byte, span firn.VersionRange) (*Event, error) {
	span.Limit = 1
	for doc, err := range h.V.R.Versions(h.V.Keys, id, span) {
		if err != nil {
			return nil, err
		}
		return versionEvent(id, doc)
	}
	return nil, nil
}

// around are the newest version before a span and the oldest after it; nil
// where there is none.
func (h *Chronicle) around(id []byte, span firn.VersionRange) (before, after *Event, err error) {
	if span.From > 1 {
		before, err = h.edge(id, firn.VersionRange{To: span.From - 1, Newest: true})
	}
	if err == nil && span.To < schema.MaxTimestamp {
		after, err = h.edge(id, firn.VersionRange{From: span.To + 1})
	}
	return before, after, err
}

// versions visits the versions in a span of one chain, and the expiries that
// have none of their own.
func (h *Chronicle) versions(id []byte, span firn.VersionRange, visit func(*Event) bool) (more bool, err error) {
	before, after, err := h.around(id, span)
	if err != nil {
		return false, err
	}
	if span.Newest {
		before, after = after, before
	}
	w := lapseWalk{span, before, visit}
	for doc, err := range h.V.R.Versions(h.V.Keys, id, span) {
		if err != nil {
			return false, err
		}
		e, err := versionEvent(id, doc)
		if err != nil {
			return false, err
		}
		if !w.expiry(e) || !visit(e) {
			return false, nil
		}
	}
	return after == nil || w.expiry(after), nil
}

// lapseWalk is a walk along a chain in either direction.
type lapseWalk struct {
	span  firn.VersionRange
	last  *Event // the version that the walk came to last; nil: none yet
	visit func(*Event) bool
}

// expiry goes on to the next version, and visits the expiry on the way if there
// is one in the span.
func (w *lapseWalk) expiry(next *Event) (more bool) {
	last := w.last
	w.last = next
	if last == nil {
		return true
	}
	if w.span.Newest {
		last, next = next, last
	}
	e := lapse(last, next)
	return e == nil || e.TS < w.span.From || e.TS > w.span.To || w.visit(e)
}

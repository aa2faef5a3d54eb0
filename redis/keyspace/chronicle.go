package keyspace

import (
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// A key's history is the version chain of its document, and more: FLUSHDB and
// SWAPDB touch no key, but let the database show another keyspace. So the
// history is read reign by reign: while a keyspace was shown, its chain is
// the history, and where two reigns meet the key may have come or gone. See
// lapses.go for what is not in the chain.

// Event is one thing that happened to a key.
type Event struct {
	TS        firn.Timestamp
	Operation string
	Deleted   bool
	Began     bool // a reign began; the key itself was not written
	Bytes     int  // of the version's id and value; 0 if it was not written
	Key       KeyDoc
	ID        []byte         // of the key's document
	Written   firn.Timestamp // of the version that key is, or that expired
	Doc       *firn.Document // that says who did it
}

// reign is the time in which a database showed one keyspace.
type reign struct {
	Space     UID
	From, To  firn.Timestamp // both inclusive
	operation string         // what began it
	doc       *firn.Document // the database's; nil for the one that nothing began
}

// reignsOf lists what a database showed, oldest first. At least one is there.
func reignsOf(v *View, db int) ([]reign, error) {
	var all []reign
	id := tuple.AppendInt(nil, int64(db))
	for doc, err := range v.R.Versions(v.Databases, id, firn.VersionRange{}) {
		if err != nil {
			return nil, err
		}
		space, operation, err := ParseDatabase(doc)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 && doc.Prev == 0 {
			all = append(all, reign{Space: UID{N: int64(db)}})
		}
		if n := len(all); n > 0 {
			all[n-1].To = doc.TS - 1
		}
		all = append(all, reign{Space: space, From: doc.TS, operation: operation, doc: doc})
	}
	if len(all) == 0 {
		all = append(all, reign{Space: UID{N: int64(db)}})
	}
	all[len(all)-1].To = schema.MaxTimestamp
	return all, nil
}

// Chronicle is what happened in a database: its reigns, and through them the
// history of each key.
type Chronicle struct {
	V   *View
	All []reign // oldest first, at least one
}

// NewChronicle is that of the call's database.
func NewChronicle(v *View) (*Chronicle, error) {
	all, err := reignsOf(v, v.DB)
	return &Chronicle{v, all}, err
}

// Each visits what happened to a key, as far as q asks for it, until visit
// returns false.
func (h *Chronicle) Each(key []byte, q *HistoryQuery, visit func(*Event) bool) error {
	left := q.Limit
	limited := func(e *Event) bool {
		left--
		return visit(e) && left != 0
	}
	order := make([]int, len(h.All))
	for i := range order {
		order[i] = i
	}
	if q.Newest {
		slices.Reverse(order)
	}
	until := q.Until
	if until == 0 {
		until = schema.MaxTimestamp
	}
	for _, i := range order {
		g := &h.All[i]
		span := firn.VersionRange{From: max(g.From, q.Since), To: min(g.To, until), Newest: q.Newest, Limit: left}
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
func (h *Chronicle) reign(key []byte, i int, span firn.VersionRange, visit func(*Event) bool) (more bool, err error) {
	var began *Event
	if g := &h.All[i]; g.From >= span.From && g.From <= span.To {
		if began, err = h.began(key, i); err != nil {
			return false, err
		}
	}
	if began != nil && !span.Newest && !visit(began) {
		return false, nil
	}
	more, err = h.versions(AppendKeyID(nil, h.All[i].Space, key), span, visit)
	if err != nil || !more {
		return false, err
	}
	return began == nil || !span.Newest || visit(began), nil
}

// began is what the beginning of the i-th reign did to a key: it came with the
// keyspace, or went with the one before; nil if neither.
func (h *Chronicle) began(key []byte, i int) (*Event, error) {
	if i == 0 {
		return nil, nil
	}
	g := &h.All[i]
	id := AppendKeyID(nil, g.Space, key)
	now, there, written, err := keyBefore(h.V, id, g.From)
	if err != nil {
		return nil, err
	}
	if there {
		return &Event{TS: g.From, Operation: g.operation, Began: true, Key: now, ID: id, Written: written, Doc: g.doc}, nil
	}
	before, was, _, err := keyBefore(h.V, AppendKeyID(nil, h.All[i-1].Space, key), g.From)
	if err != nil || !was {
		return nil, err
	}
	gone := KeyDoc{Kind: before.Kind, Version: before.Version + 1}
	return &Event{TS: g.From, Operation: g.operation, Deleted: true, Began: true, Key: gone, Doc: g.doc}, nil
}

// Newest is the last thing that happened to a key up to a moment; nil if
// nothing has.
func (h *Chronicle) Newest(key []byte, until firn.Timestamp) (last *Event, err error) {
	q := HistoryQuery{Until: until, Newest: true, Limit: 1}
	err = h.Each(key, &q, func(e *Event) bool {
		last = e
		return true
	})
	return last, err
}

// keyBefore is the state of a key document just before ts, and when that was
// written.
func keyBefore(v *View, id []byte, ts firn.Timestamp) (k KeyDoc, live bool, written firn.Timestamp, err error) {
	r := firn.VersionRange{To: ts - 1, Newest: true, Limit: 1}
	for doc, err := range v.R.Versions(v.Keys, id, r) {
		if err != nil {
			return KeyDoc{}, false, 0, err
		}
		k, err = ParseKeyDoc(doc)
		return k, err == nil && !doc.Deleted && !k.Ended(ts.Millis()), doc.TS, err
	}
	return KeyDoc{}, false, 0, nil
}

// HistoryQuery is what HISTORY GET asks for.
type HistoryQuery struct {
	Since, Until firn.Timestamp // both inclusive
	Limit        int            // 0: all
	Newest       bool           // newest first
	Values       bool
	Follow       bool // on into the histories of keys that the key came from
}

// KeyspacesOf are the keyspaces that were made for a database, as far as is
// known.
func KeyspacesOf(v *View, home int64) ([]UID, error) {
	all := []UID{{N: home}}
	for item, err := range v.R.Scan(firn.Range{Index: v.Databases.ByID()}) {
		if err != nil {
			return nil, err
		}
		db, _, err := tuple.TakeInt(item.Doc.ID)
		if err != nil {
			return nil, err
		}
		reigns, err := reignsOf(v, int(db))
		if err != nil {
			return nil, err
		}
		for _, r := range reigns {
			if r.Space.Home() == home && !slices.Contains(all, r.Space) {
				all = append(all, r.Space)
			}
		}
	}
	return all, nil
}

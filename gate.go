package firn

import (
	"errors"
	"iter"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
)

// gate answers one question: may this be read at that moment? Every answer is
// nil or a *CompactedError. A snapshot has a gate, and a read of the past
// without a snapshot makes one for its moment. A gate that has nothing but the
// store lets everything pass: the present is never forgotten, and a transaction
// reads nothing else.
//
// The gate of a snapshot has a pin, see retention.Pins: it is made before the
// horizons are looked at, so what the gate has let pass stays.
type gate struct {
	store   *Store
	at      Timestamp
	past    bool // the snapshot was made for at
	mixed   bool // some scopes cannot be read at at: each read looks at its own
	partial bool // walks leave out what is forgotten

	pin    retention.Pin
	pinned Timestamp // nothing before it is read
}

func (g *gate) pinTo(ts Timestamp) {
	g.pinned = ts
	g.pin.Set(ts)
}

// admit refuses a moment before a bound.
func (g *gate) admit(b retention.Bound) error {
	if g.at >= b.Oldest {
		return nil
	}
	b.Began = g.store.state.Created()
	return b.Admit(g.at)
}

// anything refuses moments at which nothing at all can be read.
func (g *gate) anything() error {
	return g.admit(retention.Bound{Oldest: g.store.state.Floor()})
}

// log refuses moments from which on the log has gaps, but for what has a policy
// of its own.
func (g *gate) log() error {
	return g.admit(retention.Bound{Oldest: g.store.state.Oldest()})
}

// document refuses a document that is forgotten at the moment. Where a policy
// counts versions the document's own decide; nothing is deleted meanwhile.
func (g *gate) document(v *reader.View, t *Table, id string) error {
	if !g.mixed || t.follows() {
		return nil
	}
	scope := t.scope(id)
	oldest, _, versions := g.store.state.Horizon(scope)
	if scope == (Scope{}) || versions > 0 {
		g.pin.Block()
		defer g.pin.Set(g.pinned)
		var err error
		if oldest, err = g.oldest(v, t, id); err != nil {
			return err
		}
	}
	if g.at >= oldest {
		return nil
	}
	return g.admit(retention.Bound{Oldest: oldest, Policy: g.store.state.Bound(scope).Policy})
}

// scope refuses a moment at which it is not sure, without looking at a
// document's versions, that the document can be read.
func (g *gate) scope(t *Table, id string) error {
	scope := Scope{}
	if t.follows() {
		return g.anything() // its owner knows
	}
	if scope = t.scope(id); scope == (Scope{}) {
		return g.all() // nobody knows whose it is
	}
	return g.admit(g.store.state.Bound(scope))
}

// all refuses moments at which anything is forgotten.
func (g *gate) all() error {
	return g.admit(g.store.state.WalkBound("", g.at, func(Scope) bool { return true }))
}

// walk refuses a range if a document that is forgotten at the moment may have
// been in it. If the gate is partial it says instead that documents are to be
// left out. The documents of tables that follow others are their owners'
// business.
func (g *gate) walk(r *Range) (leaves bool, err error) {
	if !g.mixed || r.Index.table.follows() {
		return false, nil
	}
	err = g.group(r)
	if err != nil && g.partial {
		return true, nil
	}
	return false, err
}

// group refuses a range by the scopes of the group that it belongs to. The keys
// of a declared index tell no scope.
func (g *gate) group(r *Range) error {
	t, group, keys := r.Index.table, "", r.keys()
	byID := r.Index.id.Number() == 0
	switch {
	case t.spec.Scope == nil:
		group = t.spec.Name
	case byID && (r.Prefix != nil || r.To != nil):
		group = t.scope(keys.From).Group
	}
	return g.admit(g.store.state.WalkBound(group, g.at, func(scope Scope) bool {
		return !byID || scope.Member == "" || t.meets(scope, keys.From, keys.To)
	}))
}

// span refuses a moment from which on the changes of documents whose ids begin
// with prefix are not all there.
func (g *gate) span(t *Table, prefix []byte) error {
	switch {
	case g.store.state.Uniform(g.at):
		return nil
	case t.spec.Shared:
		return g.anything()
	case t.follows():
		return g.all() // owners may be anywhere
	case prefix == nil:
		prefix = []byte{}
	}
	return g.group(&Range{Index: &t.byID, Prefix: prefix})
}

// history is the oldest moment from which on a document's versions can be
// walked; a *CompactedError if the snapshot's is before it. Nothing of the
// document that is not older is deleted while the snapshot is used: the
// horizon is looked at while everything is pinned, and what it leaves stays so.
func (g *gate) history(v *reader.View, t *Table, id string) (oldest Timestamp, err error) {
	g.pin.Block()
	defer func() { g.pinTo(min(g.pinned, max(oldest, g.store.state.Floor()))) }()
	oldest, err = g.oldest(v, t, id)
	switch {
	case err != nil || !g.past:
	case g.mixed:
		err = g.admit(retention.Bound{Oldest: oldest, Policy: g.store.state.Bound(t.scope(id)).Policy})
	default:
		oldest = min(oldest, g.at) // which is pinned, should the horizon have passed it since
	}
	return oldest, err
}

// oldest is the oldest moment at which a document can be read now. Everything
// is pinned meanwhile. v is what the snapshot reads.
func (g *gate) oldest(v *reader.View, t *Table, id string) (Timestamp, error) {
	if !g.past {
		return oldestOf(g.store, v, t, id)
	}
	var present reader.View
	present.Reset(g.store.head, false)
	defer present.Close()
	return oldestOf(g.store, &present, t, id)
}

// known is a walk without the documents that are forgotten at the moment.
func (g *gate) known(v *reader.View, t *Table, limit int, items iter.Seq2[Item, error]) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		left := limit
		for item, err := range items {
			if err == nil {
				err = g.document(v, t, item.Doc.ID)
			}
			if errors.Is(err, ErrCompacted) {
				continue
			}
			if err != nil {
				yield(Item{}, err)
				return
			}
			if !yield(item, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

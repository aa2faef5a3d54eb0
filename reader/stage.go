package reader

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// staged is what the transactions of the present group have written: visible
// to the transactions after them, and to no view.
//
//   - The cell of a staged document leads to its newest change. It is in its
//     table's fresh if the document had no cell, and among the head's documents
//     otherwise, where it is not evicted; never in both.
type staged struct {
	changes []change
	entries []schema.Entry // derived from all changes, in order; also in the tail
	undos   []undo
	begun   mark          // of the running transaction
	serial  uint64        // of the running transaction
	grown   []*docTable   // tables that have a fresh
	adopted []*warmRange  // ranges that a transaction of the group loaded
	rows    []*schema.Row // scratch of Seal
	view    *View         // what transactions read through; its session is open while a group runs
	deriver index.Deriver
}

// change is one staged row.
type change struct {
	table *index.Table
	cell  *cell
	row   *schema.Row
	old   *schema.Row // the version before this transaction; nil if none
	prior int32       // what the cell's change was before: an earlier transaction's
}

// mark is a point in the staged changes to go back to.
type mark struct{ changes, entries, undos, adopted int }

// Lock begins a group: until Unlock its caller is the only one who stages,
// publishes or adopts.
func (h *Head) Lock() {
	h.group.Lock()
	adoptOffered(h)
}

// Unlock ends the group. Nothing is staged any more.
func (h *Head) Unlock() { h.group.Unlock() }

// Begin starts a transaction of the group.
func (h *Head) Begin() {
	s := &h.staged
	s.begun = mark{len(s.changes), len(s.entries), len(s.undos), len(s.adopted)}
	s.serial++
}

// Wrote says whether the transaction has staged anything since Begin.
func (h *Head) Wrote() bool { return len(h.staged.changes) > h.staged.begun.changes }

// Rollback undoes what was staged since Begin: the transaction failed.
func (h *Head) Rollback() { h.rollback(h.staged.begun) }

// stagedVersion is a document's version of exactly ts that a transaction of
// the group has written; nil if none has.
func (h *Head) stagedVersion(t *index.Table, id string, ts schema.Timestamp) *schema.Row {
	h.mu.RLock()
	defer h.mu.RUnlock()
	at := h.docs.cell(t.ID, id)
	if at == nil {
		return nil
	}
	for i := at.change; i > 0; i = h.staged.changes[i-1].prior {
		if row := h.staged.changes[i-1].row; row.TS == ts {
			return row
		}
	}
	return nil
}

// stageRanges brings the ordered ranges that are here up to date with a row
// and its entries. mu is held.
func (h *Head) stageRanges(t *index.Table, row *schema.Row, entries []schema.Entry) {
	if len(h.ranges.byKey) == 0 {
		return
	}
	for _, e := range entries {
		if s := h.warmRangeOf(t, e); s != nil {
			h.staged.undos = append(h.staged.undos, stageEntry(s, e, row))
		}
	}
}

// stageEntry applies a staged entry to a range; row is its document's newest.
func stageEntry(s *warmRange, e schema.Entry, row *schema.Row) undo {
	switch {
	case e.Deleted:
		return s.remove(e.Key, e.Document())
	case e.Index.Number() > 0:
		return s.set(e.Key, element{id: e.ID})
	}
	return s.set(e.Key, element{id: row.ID, row: row})
}

// warmRangeOf is the range that an entry belongs to, nil if it is not here.
func (h *Head) warmRangeOf(t *index.Table, e schema.Entry) *warmRange {
	elements := t.PrefixOf(e.Index)
	if elements == 0 {
		return nil
	}
	n, ok := tuple.PrefixLen(e.Key, elements)
	if !ok {
		return nil
	}
	return h.ranges.byKey[rangeKey{e.Index, e.Key[:n]}]
}

func (h *Head) rollback(m mark) {
	s := &h.staged
	s.serial++ // no draft outlives what it may have read
	for i := len(s.undos) - 1; i >= m.undos; i-- {
		s.undos[i].apply()
	}
	h.rollbackChanges(m.changes)
	if len(s.entries) > m.entries {
		h.tail.Remove(s.entries[m.entries:])
	}
	if len(s.adopted) > m.adopted {
		h.dropAdopted(s.adopted[m.adopted:])
		s.adopted = s.adopted[:m.adopted]
	}
	s.undos, s.changes, s.entries = s.undos[:m.undos], s.changes[:m.changes], s.entries[:m.entries]
}

// rollbackChanges makes the cells lead to what they did before a change.
func (h *Head) rollbackChanges(from int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for i := len(h.staged.changes) - 1; i >= from; i-- {
		c := &h.staged.changes[i]
		c.cell.change = c.prior
		if c.prior == 0 && c.cell.pos < 0 {
			delete(h.docs.tables[c.row.Table].fresh, c.row.ID)
		}
	}
}

// dropAdopted drops the ranges that a failed transaction has loaded: what
// earlier transactions staged was applied to them after the mark, so undoing
// took too much back.
func (h *Head) dropAdopted(ranges []*warmRange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range ranges {
		h.ranges.drop(s)
	}
}

// Seal ends the running of a group and returns its rows in the order of their
// timestamps, to be appended to the log. They are valid until Publish or
// Abandon.
func (h *Head) Seal() []*schema.Row {
	s := &h.staged
	s.rows = s.rows[:0]
	for i := range s.changes {
		s.rows = append(s.rows, s.changes[i].row)
	}
	if s.view != nil {
		s.view.release()
	}
	return s.rows
}

// Publish shows the sealed rows, which are committed, to all views from now
// on.
func (h *Head) Publish() {
	s := &h.staged
	if len(s.changes) > 0 {
		h.mu.Lock()
		h.publishLocked()
		h.mu.Unlock()
	}
	h.clearStaged()
}

func (h *Head) publishLocked() {
	last := h.staged.changes[len(h.staged.changes)-1].row.TS
	for i := range h.staged.changes {
		c := &h.staged.changes[i]
		if int(c.cell.change) == i+1 { // the document's newest
			c.cell.change = 0
			h.publishIn(c.cell, c.row)
		}
		if delta := c.table.Delta(c.old, c.row); delta != 0 {
			if n, ok := tuple.PrefixLen(c.row.ID, c.table.Prefix); ok {
				h.counts.add(c.row.TS, c.table.ID, c.row.ID[:n], delta)
			}
		}
	}
	for _, u := range h.staged.undos {
		if u.in.touched {
			h.ranges.publish(u.in, last)
		}
	}
	h.newest = last
	h.shrinkLocked()
}

// publishIn publishes a row whose document has the cell at, see staged.
func (h *Head) publishIn(at *cell, row *schema.Row) {
	switch {
	case h.budget == 0:
	case cellBytes(row) > h.budget/largestShare:
		h.docs.forget(row)
	case at.pos < 0:
		h.docs.adopt(at, row)
	default:
		h.docs.replace(at, row)
	}
}

// Abandon forgets everything staged: the group could not be committed.
func (h *Head) Abandon() {
	h.rollback(mark{})
	h.clearStaged()
	if h.staged.view != nil {
		h.staged.view.release() // no Seal came if a transaction ended the goroutine
	}
}

// maxScratch is how many staged changes the group's buffers keep room for
// between groups.
const maxScratch = 1 << 14

// maxFresh is how many documents a table's fresh may have had to be used
// again: emptying a map takes time for all the room that it has.
const maxFresh = 512

func (h *Head) clearStaged() {
	s := &h.staged
	s.serial++
	grown := s.grown[:0]
	for _, dt := range s.grown {
		if len(dt.fresh) > maxFresh {
			dt.fresh = nil
			continue
		}
		clear(dt.fresh)
		grown = append(grown, dt)
	}
	s.grown = grown
	clear(s.changes)
	clear(s.entries)
	clear(s.undos)
	clear(s.adopted)
	clear(s.rows)
	if cap(s.changes) > maxScratch {
		*s = staged{serial: s.serial, grown: s.grown, view: s.view, deriver: s.deriver}
		return
	}
	s.changes, s.entries, s.rows = s.changes[:0], s.entries[:0], s.rows[:0]
	s.undos, s.adopted = s.undos[:0], s.adopted[:0]
}

package reader

import (
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// staged is what the transactions of the present group have written: visible
// to the transactions after them, and to no view.
type staged struct {
	byID    map[documentKey]int // index into changes of a document's newest
	changes []change
	entries []schema.Entry // derived from all changes, in order; also in the tail
	undos   []undo
	begun   mark          // of the running transaction
	adopted []*span       // ranges that a transaction of the group loaded
	rows    []*schema.Row // scratch of Seal
	view    *View         // what transactions read through; its session is open while a group runs
	memos   [memoCount]memo
	deriver index.Deriver
}

// memo remembers the newest version of one document, staged or published,
// because a transaction that writes a document has mostly just read it, and
// all transactions read some documents. Only the writer changes what is
// newest, so a memo is good until the writer stages the document again or
// takes something back.
type memo struct {
	table *index.Table
	id    string
	row   *schema.Row // nil: there is none
}

// memoCount is the number of tables that can be told apart; each has one memo.
const memoCount = 4

type documentKey struct {
	table schema.TableID
	id    string
}

// change is one staged row.
type change struct {
	table *index.Table
	row   *schema.Row
	old   *schema.Row // the version before this transaction; nil if none
	prior int         // the document's change by an earlier transaction of the group; -1 if none
}

// mark is a point in the staged changes to go back to.
type mark struct{ changes, entries, undos, adopted int }

func newStaged() staged { return staged{byID: map[documentKey]int{}} }

// Lock begins a group: until Unlock its caller is the only one who stages,
// publishes or adopts.
func (h *Head) Lock() {
	h.group.Lock()
	h.adoptOffered()
}

// Unlock ends the group. Nothing is staged any more.
func (h *Head) Unlock() { h.group.Unlock() }

// Begin starts a transaction of the group.
func (h *Head) Begin() {
	s := &h.staged
	s.begun = mark{len(s.changes), len(s.entries), len(s.undos), len(s.adopted)}
}

// Wrote says whether the transaction has staged anything since Begin.
func (h *Head) Wrote() bool { return len(h.staged.changes) > h.staged.begun.changes }

// Rollback undoes what was staged since Begin: the transaction failed.
func (h *Head) Rollback() { h.rollback(h.staged.begun) }

// newestStaged is what a transaction sees of a document; nil for nothing, or,
// if only a live version is asked for, for a dead one.
func (h *Head) newestStaged(v *View, t *index.Table, id []byte, live bool) (*schema.Row, error) {
	m := &h.staged.memos[t.ID%memoCount]
	if m.table == t && m.id == string(id) {
		return m.row, nil
	}
	row, err := h.lookUpStaged(v, t, id, live)
	switch {
	case err != nil:
	case row != nil:
		*m = memo{t, row.ID, row}
	case !live:
		*m = memo{t, string(id), nil}
	}
	return row, err
}

func (h *Head) lookUpStaged(v *View, t *index.Table, id []byte, live bool) (*schema.Row, error) {
	if i, ok := h.staged.byID[documentKey{t.ID, string(id)}]; ok {
		return h.staged.changes[i].row, nil
	}
	if row, ok := h.find(t, id, v.at, live); ok {
		return row, nil
	}
	return v.cold(t, string(id))
}

// stagedVersion is a document's version of exactly ts that a transaction of
// the group has written; nil if none has.
func (h *Head) stagedVersion(t *index.Table, id string, ts schema.Timestamp) *schema.Row {
	i, ok := h.staged.byID[documentKey{t.ID, id}]
	for ; ok && i >= 0; i = h.staged.changes[i].prior {
		if row := h.staged.changes[i].row; row.TS == ts {
			return row
		}
	}
	return nil
}

// Stage makes row the newest version of its document; old is the newest
// version so far, nil if there is none. Staging a document twice in one
// transaction, with the same timestamp, replaces the row. An error says that
// a key of the row in a declared index is too long, and nothing is staged.
func (h *Head) Stage(t *index.Table, old, row *schema.Row) error {
	s := &h.staged
	from := len(s.entries)
	s.entries = s.deriver.Derive(s.entries, t, old, row)
	for _, e := range s.entries[from:] {
		if len(e.Key) > schema.MaxIDBytes {
			s.entries = s.entries[:from]
			return fmt.Errorf("%w: %w: a key of %d bytes in index %q of %q, at most %d", index.ErrDeclaration, schema.ErrSize,
				len(e.Key), t.Indexes[e.Index.Number()-1].Name, t.Name, schema.MaxIDBytes)
		}
	}
	key := documentKey{t.ID, row.ID}
	prior, again := s.byID[key]
	insert := h.tail.Insert
	switch {
	case again && s.changes[prior].row.TS == row.TS:
		s.changes[prior].row = row
		insert = h.tail.Replace
	case again:
		s.byID[key] = len(s.changes)
		s.changes = append(s.changes, change{t, row, old, prior})
	default:
		s.byID[key] = len(s.changes)
		s.changes = append(s.changes, change{t, row, old, -1})
	}
	s.memos[t.ID%memoCount] = memo{t, row.ID, row}
	insert(s.entries[from:])
	h.stageRanges(t, s.entries[from:])
	return nil
}

// stageRanges brings the ordered ranges that are here up to date.
func (h *Head) stageRanges(t *index.Table, entries []schema.Entry) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(h.ranges.byKey) == 0 {
		return
	}
	for _, e := range entries {
		if s := h.spanOf(t, e); s != nil {
			h.staged.undos = append(h.staged.undos, h.stageEntry(s, e))
		}
	}
}

// stageEntry applies a staged entry to a range.
func (h *Head) stageEntry(s *span, e schema.Entry) undo {
	switch {
	case e.Deleted:
		return s.remove(e.Key, e.Document())
	case e.Index.Number() > 0:
		return s.set(e.Key, element{id: e.ID})
	}
	i := h.staged.byID[documentKey{e.Index.Table(), e.Key}]
	row := h.staged.changes[i].row
	return s.set(e.Key, element{id: row.ID, row: row})
}

// spanOf is the range that an entry belongs to, nil if it is not here.
func (h *Head) spanOf(t *index.Table, e schema.Entry) *span {
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
	s.memos = [memoCount]memo{}
	for i := len(s.undos) - 1; i >= m.undos; i-- {
		s.undos[i].apply()
	}
	for i := len(s.changes) - 1; i >= m.changes; i-- {
		key := documentKey{s.changes[i].table.ID, s.changes[i].row.ID}
		if prior := s.changes[i].prior; prior >= 0 {
			s.byID[key] = prior
		} else {
			delete(s.byID, key)
		}
	}
	if len(s.entries) > m.entries {
		h.tail.Remove(s.entries[m.entries:])
	}
	if len(s.adopted) > m.adopted {
		h.dropAdopted(s.adopted[m.adopted:])
		s.adopted = s.adopted[:m.adopted]
	}
	s.undos, s.changes, s.entries = s.undos[:m.undos], s.changes[:m.changes], s.entries[:m.entries]
}

// dropAdopted drops the ranges that a failed transaction has loaded: what
// earlier transactions staged was applied to them after the mark, so undoing
// took too much back.
func (h *Head) dropAdopted(spans []*span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range spans {
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
		if h.budget > 0 {
			h.publishRow(c.row)
		}
		if delta := c.table.Delta(c.old, c.row); delta != 0 {
			if n, ok := tuple.PrefixLen(c.row.ID, c.table.Prefix); ok {
				h.counts.add(c.row.TS, c.table.ID, c.row.ID[:n], delta)
			}
		}
	}
	for _, u := range h.staged.undos {
		if u.span.touched {
			h.ranges.publish(u.span, last)
		}
	}
	h.newest = last
	h.shrinkLocked()
}

func (h *Head) publishRow(row *schema.Row) {
	if slotBytes(row) > h.budget/largestShare {
		h.docs.forget(row)
		return
	}
	h.docs.put(row)
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

func (h *Head) clearStaged() {
	s := &h.staged
	clear(s.byID)
	clear(s.changes)
	clear(s.entries)
	clear(s.undos)
	clear(s.adopted)
	clear(s.rows)
	if cap(s.changes) > maxScratch {
		kept := *s
		*s = newStaged()
		s.view, s.memos, s.deriver = kept.view, kept.memos, kept.deriver
		return
	}
	s.changes, s.entries, s.rows = s.changes[:0], s.entries[:0], s.rows[:0]
	s.undos, s.adopted = s.undos[:0], s.adopted[:0]
}

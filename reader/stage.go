package reader

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// staged is what transactions have written that is not published: visible to
// the transactions after them, and to no view. It is two layers (layer.go):
// what is running lies on what is sealed, which is being committed.
//
//   - A document's newest change is the newest in the running layer, or in the
//     sealed one if that has none. What is published of it may be evicted.
//   - Seal, Publish and Abandon are called between two transactions, except
//     that Abandon may end one.
type staged struct {
	layers  [2]layer
	now     int    // the layer that runs: 0 or 1; the other one is sealed
	begun   mark   // of the running transaction
	serial  uint64 // of the running transaction
	bytes   int    // what it has staged takes, about
	born    born
	grown   []grown // to be read before the next transaction
	view    *View   // what transactions read through; its session is open while they run
	deriver index.Deriver
	olds    olds         // what drafts have looked up
	rows    []schema.Row // a piece of memory for rows
	room    [64]byte     // for an element that is being made
}

func (s *staged) running() *layer { return &s.layers[s.now] }
func (s *staged) sealed() *layer  { return &s.layers[1-s.now] }

// rowsTogether is how many rows are allocated at once: those of a group are
// forgotten together.
const rowsTogether = 32

// stagedBytes is what a staged row takes beside its id and its value: the row, the
// change, what undoes it, its entries and its place in a range.
const stagedBytes = 512

// newRow is memory for a row that will be staged.
func (s *staged) newRow() *schema.Row {
	if len(s.rows) == 0 {
		s.rows = make([]schema.Row, rowsTogether)
	}
	row := &s.rows[0]
	s.rows = s.rows[1:]
	return row
}

// newest is the newest staged version of a document, nil if there is none.
func (s *staged) newest(hash uint32, t schema.TableID, id string) *schema.Row {
	for _, l := range [...]*layer{s.running(), s.sealed()} {
		if c := l.find(hash, t, id); c != nil {
			return c.row
		}
	}
	return nil
}

// Lock begins a group: until Unlock its caller is the only one who stages,
// publishes or adopts.
func (h *Head) Lock() {
	h.group.Lock()
	adoptOffered(h)
}

// Unlock ends what Lock began. Nothing is staged any more.
func (h *Head) Unlock() {
	s := &h.staged
	showLoaded(h)
	s.running().clear() // the ranges that those have loaded who wrote nothing
	s.release()
	h.group.Unlock()
}

// Begin starts a transaction of the group.
func (h *Head) Begin() {
	s := &h.staged
	s.born.prefixes = s.born.prefixes[:0]
	if len(s.grown) > 0 {
		splitGrown(h)
	}
	s.begun = s.running().mark()
	s.serial++
	s.bytes = 0
}

// Wrote says whether the transaction has staged anything since Begin.
func (h *Head) Wrote() bool { return len(h.staged.running().changes) > h.staged.begun.changes }

// StagedBytes is what the rows take that the transaction has staged since Begin,
// about.
func StagedBytes(h *Head) int { return h.staged.bytes }

// Rollback undoes what was staged since Begin: the transaction failed.
func (h *Head) Rollback() { h.rollback(h.staged.running(), h.staged.begun) }

// Offered says that readers have loaded ranges, which Lock takes over.
func (h *Head) Offered() bool { return len(h.adopts) > 0 }

// stagedVersion is a document's version of exactly ts that a transaction has
// staged; nil if none has.
func (h *Head) stagedVersion(t *index.Table, id string, ts schema.Timestamp) *schema.Row {
	hash := h.docs.hash(t.ID, id)
	for i := range h.staged.layers {
		if row := h.staged.layers[i].version(hash, t.ID, id, ts); row != nil {
			return row
		}
	}
	return nil
}

// stageRanges brings the ordered ranges that are here up to date with a row
// and its entries. held says that the row is in the range of its id.
func (h *Head) stageRanges(t *index.Table, row, old *schema.Row, entries []schema.Entry) (held bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, e := range entries {
		s := warmRangeOf(h, t, e)
		if s == nil {
			continue
		}
		l := h.staged.running()
		u := s.stage(h.staged.room[:], e, row, old)
		l.undos = append(l.undos, u)
		if e.Index.Number() == 0 {
			held = !u.blind
		}
		if s.grown != "" {
			h.staged.grown = append(h.staged.grown, grown{t, s, s.grown})
			s.grown = ""
		}
	}
	return held
}

// rollback undoes what was staged in a layer since m. The layer above it, if
// there is one, is empty.
func (h *Head) rollback(l *layer, m mark) {
	h.staged.serial++ // no draft outlives what it may have read
	for i := len(l.undos) - 1; i >= m.undos; i-- {
		l.undos[i].apply()
	}
	l.unlist(m.changes)
	if len(l.entries) > m.entries {
		h.tail.Remove(l.entries[m.entries:])
	}
	if len(l.adopted) > m.adopted {
		dropAdopted(h, l.adopted[m.adopted:])
	}
	for _, r := range l.born[m.born:] {
		delete(h.staged.born.ranges, r.key)
	}
	l.cut(m)
}

// dropAdopted drops the ranges that a failed transaction has loaded: what
// earlier transactions staged was applied to them after the mark, so undoing
// took too much back.
func dropAdopted(h *Head, ranges []*warmRange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range ranges {
		h.ranges.drop(s)
	}
	admitLost(h)
}

// Seal ends the running of a group and returns its rows in the order of their
// timestamps, to be appended to the log. They are valid until Publish or
// Abandon, one of which comes before the next Seal; meanwhile transactions of
// the next group may run.
func (h *Head) Seal() []*schema.Row {
	s := &h.staged
	l := s.running()
	invariant.Check(len(s.sealed().changes) == 0, "a group is sealed while another one is")
	l.seal()
	s.now = 1 - s.now
	s.release()
	return l.rows
}

// Publish shows the sealed rows, which are committed, to all views from now
// on.
func (h *Head) Publish() {
	s := &h.staged
	if l := s.sealed(); len(l.changes) > 0 {
		h.mu.Lock()
		before := h.newest
		h.publishLocked(l)
		h.mu.Unlock()
		if h.published != nil {
			h.published(before, l.rows, l.entries)
		}
	}
	s.serial++
	showLoaded(h)
	s.sealed().clear()
	s.release() // it was begun before the rows were in the file, where the tail leads to them
}

// release ends what transactions read from the file.
func (s *staged) release() {
	if s.view != nil {
		s.view.release()
	}
}

// publishRow keeps the newest version of a document, unless a range does.
// Tombstones are in no range.
func (h *Head) publishRow(c *change) {
	if c.held && !c.row.Deleted {
		h.docs.leave(c.hash, c.row)
		return
	}
	h.keepLocked(c.hash, c.row)
}

func (h *Head) publishLocked(l *layer) {
	last := l.changes[len(l.changes)-1].row.TS
	for i := range l.changes {
		if i%touchMost == 0 {
			touchChanged(&h.docs, l.changes[i:min(i+touchMost, len(l.changes))])
		}
		c := &l.changes[i]
		if h.budget > 0 && l.find(c.hash, c.row.Table, c.row.ID) == c { // the document's newest
			h.publishRow(c)
		}
		if delta := c.table.Delta(c.old, c.row); delta != 0 {
			if n, ok := tuple.PrefixLen(c.row.ID, c.table.Prefix); ok {
				h.counts.add(c.row.TS, c.table.ID, c.row.ID[:n], delta)
			}
		}
	}
	h.ranges.note(l.entries)
	for _, p := range l.pictures {
		h.ranges.publish(p, l.changes[0].row.TS, last)
	}
	for _, r := range l.born {
		delete(h.staged.born.ranges, r.key)
		h.ranges.add(r)
	}
	h.newest = last
	h.shrinkLocked()
}

// touchChanged is docs.touch for at most touchMost changes that are about to be
// published, if it is worth it.
func touchChanged(d *docs, changes []change) {
	if len(changes) == 1 || d.number < touchLeast {
		return
	}
	var hashes [touchMost]uint32
	for i := range changes {
		hashes[i] = changes[i].hash
	}
	d.touch(hashes[:len(changes)])
}

// Abandon forgets everything staged: the sealed group could not be committed,
// and what runs has read it.
func (h *Head) Abandon() {
	s := &h.staged
	for _, l := range []*layer{s.running(), s.sealed()} { // the newer one first
		h.rollback(l, mark{})
		l.clear()
	}
	s.release() // no Seal came if a transaction ended the goroutine
}

package reader

import (
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// adoption is a whole range that a view has read, offered to the head.
type adoption struct {
	key   rangeKey
	table *index.Table
	tree  *tree
	at    schema.Timestamp // the tree is the range as of this moment
	bytes int64
}

// offer gives a loaded range to the head. It is taken over at once when no
// group runs, and by the writer before the next group otherwise; when many
// wait already it is dropped, and the next reader loads it again.
func offer(h *Head, a adoption) {
	if a.bytes > h.budget/largestShare {
		return
	}
	select {
	case h.adopts <- a:
	default:
	}
	if h.group.TryLock() {
		adoptOffered(h)
		h.group.Unlock()
	}
}

// adoptOffered takes over what was offered. The caller holds the group lock
// and nothing is staged: a range is published with what is newest.
func adoptOffered(h *Head) {
	for {
		select {
		case a := <-h.adopts:
			adopt(h, a)
		default:
			return
		}
	}
}

// adopt brings a range up to date with what was published since it was read,
// which the tail knows, and adds it. It gives up, without harm, when the tail
// has been merged since or a row that it needs cannot be read.
func adopt(h *Head, a adoption) {
	h.mu.RLock()
	present, newest := h.ranges.byKey[a.key] != nil, h.newest
	h.mu.RUnlock()
	runs := h.tail.Runs()
	if present || h.tail.Watermark() > a.at {
		return
	}
	s := newWarmRange(a.key, a.tree, a.bytes)
	if newest > a.at && !catchUp(h, s, a, runs) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ranges.publish(s.picture(), max(newest, a.at))
	h.ranges.add(s)
	h.shrinkLocked()
}

// loadRange is adopt for a running transaction: the range as published is read
// into the head, and what is staged is applied to it.
func loadRange(h *Head, t *index.Table, k rangeKey) (*warmRange, error) {
	tx := h.transactionView()
	past := *tx // the same session and runs, without what is staged
	past.tx, past.at = false, h.Newest()
	tr, bytes, err := past.readTree(t, k)
	tx.file = past.file
	if err != nil {
		return nil, err
	}
	s := newWarmRange(k, tr, bytes)
	running, sealed := h.staged.running(), h.staged.sealed()
	stays := s.workBytes <= h.budget/largestShare
	if stays {
		h.mu.Lock()
		h.ranges.publish(s.picture(), past.at)
		h.ranges.add(s)
		h.mu.Unlock()
		running.adopted = append(running.adopted, s)
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(applyStaged(h, nil, s, t, sealed)) > 0 && stays { // not undone: a group that fails takes the range with it
		sealed.pictures = append(sealed.pictures, s.picture())
	}
	running.undos = applyStaged(h, running.undos, s, t, running)
	return s, nil
}

// applyStaged applies what a layer has staged to a range, and appends how to
// undo that. mu is held.
func applyStaged(h *Head, undos []undo, s *warmRange, t *index.Table, l *layer) []undo {
	for _, e := range l.entries {
		if e.Index == s.key.index && strings.HasPrefix(e.Key, s.key.prefix) {
			undos = append(undos, stageEntry(s, e, h.stagedVersion(t, e.Document(), e.TS)))
		}
	}
	return undos
}

// catchUp applies the tail's entries after a.at to the range.
func catchUp(h *Head, s *warmRange, a adoption, runs index.Runs) bool {
	view := h.transactionView()
	defer view.release()
	r := prefixRange(a.key.index, a.key.prefix)
	for _, run := range []*index.Run{runs.Frozen, runs.Active} {
		for done := run == nil; !done; {
			var entries []schema.Entry
			entries, r, done = run.Scan(nil, r, schema.MaxTimestamp, maxChunk)
			for _, e := range entries {
				if e.TS > a.at && !catchUpEntry(h, s, a.table, view, e) {
					return false
				}
			}
		}
		r = prefixRange(a.key.index, a.key.prefix)
	}
	return true
}

func catchUpEntry(h *Head, s *warmRange, t *index.Table, view *View, e schema.Entry) bool {
	switch {
	case e.Deleted:
		s.remove(e.Key, e.Document())
	case e.Index.Number() > 0:
		s.set(e.Key, element{id: e.ID})
	default:
		row, err := view.version(t, e.Key, e.TS)
		if err != nil {
			return false
		}
		s.set(e.Key, element{id: e.Key, row: row})
	}
	return true
}

// prefixRange is all keys of an index with a prefix.
func prefixRange(x schema.IndexID, prefix string) schema.KeyRange {
	return schema.KeyRange{Index: x, From: prefix, To: string(tuple.PrefixEnd([]byte(prefix)))}
}

package reader

import (
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// adoption is a range that a view has read, or a leaf of one, offered to the
// head.
type adoption struct {
	key   rangeKey
	table *index.Table
	tree  *pages.Tree
	at    schema.Timestamp // the tree is the range as of this moment
	gap   *pages.Gap       // the leaf that the tree is; nil: the whole range
	log   *building        // what has happened since, if that was noted
}

// building is a range that a view reads, from the moment on that was the newest
// when it began: what is published meanwhile is noted, so that the range can be
// brought up to date however long the reading takes, and without reading what
// is only counted. The head's mu guards it.
type building struct {
	entries []schema.Entry
	over    bool // there were too many
}

// maxBuilding is how many entries are noted for a range that is being read:
// some 10 MB.
const maxBuilding = 1 << 16

// beginBuilding notes from now on what happens to a range that the view is
// about to read; nil if the view is too old for that.
func beginBuilding(v *View, k rangeKey) *building {
	h := v.head
	if !v.present || h.budget == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.newest != v.at || h.ranges.building[k] != nil {
		return nil
	}
	log := new(building)
	h.ranges.building[k] = log
	return log
}

// endBuilding forgets what was noted.
func endBuilding(h *Head, k rangeKey, log *building) {
	if log == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ranges.building[k] == log {
		delete(h.ranges.building, k)
	}
}

// note notes what is published to ranges that are being read.
func (r *ranges) note(entries []schema.Entry) {
	for k, log := range r.building {
		for _, e := range entries {
			if e.Index != k.index || !strings.HasPrefix(e.Key, k.prefix) || log.over {
				continue
			}
			log.entries = append(log.entries, e)
			if len(log.entries) > maxBuilding {
				log.entries, log.over = nil, true
			}
		}
	}
}

// offer gives what was loaded to the head. It is taken over at once when no
// group runs, and by the writer before the next group otherwise; when many
// wait already it is dropped, and the next reader loads it again.
func offer(h *Head, a adoption) {
	if a.tree.Bytes() > h.budget/rangesShare {
		endBuilding(h, a.key, a.log)
		return
	}
	select {
	case h.adopts <- a:
	default:
		endBuilding(h, a.key, a.log)
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

// adopt adds a range, or a leaf, brought up to date with what was published
// since it was read. It gives up, without harm, when it cannot.
func adopt(h *Head, a adoption) {
	h.mu.RLock()
	s, newest := h.ranges.byKey[a.key], h.newest
	h.mu.RUnlock()
	endBuilding(h, a.key, a.log)
	switch {
	case a.gap != nil:
		if s != nil {
			adoptLeaf(h, s, a)
		}
		return
	case s != nil:
		return
	}
	s = newWarmRange(a.key, a.tree.Fork())
	changed := a.at
	if a.log != nil {
		if a.log.over {
			return
		}
		for _, e := range a.log.entries {
			s.catchUp(e)
			changed = e.TS
		}
	} else if newest > a.at {
		if !a.tree.Whole() || !catchUp(h, s, a) {
			return
		}
		changed = newest
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ranges.publish(s.picture(), changed, changed)
	h.ranges.add(s)
	h.shrinkLocked()
}

// adoptLeaf puts a leaf in its place, if nothing in it has changed since it was
// read.
func adoptLeaf(h *Head, s *warmRange, a adoption) {
	g := s.work.AbsentAt(a.gap.From)
	if g == nil || g.From != a.gap.From || g.To != a.gap.To || g.Stamp > int64(a.at) {
		return
	}
	if s.work.Install(g.From, a.tree) != nil {
		return // it was read as of another edition
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ranges.renew(s.picture())
	h.shrinkLocked()
}

// loadRange is adopt for a running transaction: the range as published is read
// into the head, and what is staged is applied to it. counted is what load
// says.
func loadRange(h *Head, t *index.Table, k rangeKey, counted bool) (*warmRange, error) {
	tx := h.transactionView()
	past := *tx // the same session and runs, without what is staged
	past.tx, past.at = false, h.Newest()
	tree, err := past.load(t, k, counted)
	tx.file = past.file
	if tree == nil || err != nil {
		return nil, err
	}
	s := newWarmRange(k, tree)
	running, sealed := h.staged.running(), h.staged.sealed()
	stays := s.size() <= h.budget/rangesShare
	if stays {
		h.mu.Lock()
		h.ranges.publish(s.picture(), past.at, past.at)
		h.ranges.add(s)
		h.shrinkLocked()
		h.mu.Unlock()
		running.adopted = append(running.adopted, s)
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(applyStaged(h, nil, s, t, sealed)) > 0 && stays { // not undone: a group that fails takes the range with it
		sealed.pictures = append(sealed.pictures, s.pend())
	}
	running.undos = applyStaged(h, running.undos, s, t, running)
	return s, nil
}

// applyStaged applies what a layer has staged to a range, and appends how to
// undo that. mu is held.
func applyStaged(h *Head, undos []undo, s *warmRange, t *index.Table, l *layer) []undo {
	for _, e := range l.entries {
		if e.Index == s.key.index && strings.HasPrefix(e.Key, s.key.prefix) {
			undos = append(undos, s.stage(h.staged.room[:], e, h.stagedVersion(t, e.Document(), e.TS), nil))
		}
	}
	return undos
}

// catchUp applies the tail's entries after a.at to the range; false if the tail
// does not have them any more.
func catchUp(h *Head, s *warmRange, a adoption) bool {
	runs := h.tail.Runs()
	if h.tail.Watermark() > a.at {
		return false
	}
	r := index.PrefixRange(a.key.index, a.key.prefix)
	for _, run := range []*index.Run{runs.Frozen, runs.Active} {
		for done := run == nil; !done; {
			var entries []schema.Entry
			entries, r, done = run.Scan(nil, r, schema.MaxTimestamp, maxChunk)
			for _, e := range entries {
				if e.TS > a.at {
					s.catchUp(e)
				}
			}
		}
		r = index.PrefixRange(a.key.index, a.key.prefix)
	}
	return true
}

// catchUp applies an entry that was published.
func (s *warmRange) catchUp(e schema.Entry) {
	s.work.Stamp(int64(e.TS))
	if e.Deleted {
		s.remove(e, nil)
		return
	}
	var room [64]byte
	v := bareElement(room[:0], e.TS)
	if e.Index.Number() > 0 {
		v = idElement(room[:0], e.Key, e.ID)
	}
	if _, _, ok := s.work.Set(e.Key, v); !ok {
		s.adjust(e, nil)
	}
}

package index

import (
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/firndb/firn/schema"
)

// Scan appends, for each key of the range, its newest entry at or before at,
// deleted ones included, at most limit of them, in the range's direction. A
// key without such an entry is passed over. rest is what is still to scan;
// done says that nothing is.
func (r *Run) Scan(dst []schema.Entry, kr schema.KeyRange, at schema.Timestamp, limit int) (entries []schema.Entry, rest schema.KeyRange, done bool) {
	r.lockSortedIn(kr.Index, maxUnsorted)
	defer r.mu.RUnlock()
	m := newMerging(&r.slab, r.windows(kr), kr.Reverse)
	var own copies
	last, walked := "", false
	for ; limit > 0; walked = true {
		h := m.top()
		if h == nil || h.index != kr.Index || !inRange(kr, h.key) {
			return dst, kr, true
		}
		last = h.key
		if found := m.take(at); found != nil {
			dst = append(dst, own.entry(&r.slab, found))
			limit--
		}
	}
	switch {
	case !walked:
	case !kr.Reverse:
		kr.From = last + "\x00"
	case last == "": // as the end of a range it would mean the index's end
		return dst, kr, true
	default:
		kr.To = strings.Clone(last)
	}
	return dst, kr, false
}

func inRange(kr schema.KeyRange, key string) bool {
	return key >= kr.From && (kr.To == "" || key < kr.To)
}

// windows is of each part what a scan of the range begins with, and what comes
// behind that in the scan's direction.
func (r *Run) windows(kr schema.KeyRange) []part {
	begin := schema.Entry{Index: kr.Index, Key: kr.From, TS: -1}
	if kr.Reverse && kr.To != "" {
		begin.Key = kr.To
	} else if kr.Reverse {
		begin = schema.Entry{Index: kr.Index + 1, TS: -1}
	}
	windows := make([]part, 0, len(r.large)+len(r.small)+1)
	for _, parts := range [...][]part{r.large, r.small} {
		for _, p := range parts {
			at := r.slab.after(p, &begin)
			if left := beyond(p, at, kr.Reverse); len(left) > 0 {
				windows = append(windows, left)
			}
		}
	}
	if w := r.recentIn(kr); len(w) > 0 {
		windows = append(windows, w)
	}
	return windows
}

// beyond is what comes behind a place in a direction.
func beyond(p part, at int, reverse bool) part {
	if reverse {
		return p[:at]
	}
	return p[at:]
}

// recentIn is what lies in a range and is not in a part yet: nothing of the
// index, or little, or all would have been sorted. So a transaction that scans and writes by turns does
// not sort at every turn.
func (r *Run) recentIn(kr schema.KeyRange) part {
	if r.waits&bitOf(kr.Index) == 0 {
		return nil
	}
	var found []record
	for i := range r.recent {
		if e := &r.recent[i]; e.index == kr.Index && inRange(kr, r.slab.keyOf(e)) {
			found = append(found, *e)
		}
	}
	return r.slab.sorted(found)
}

// take takes all versions of the key that comes next, and is the newest of
// them at or before at, nil if there is none.
func (m *merging) take(at schema.Timestamp) (found *record) {
	h := m.top()
	x, key := h.index, h.key
	for h != nil && h.key == key && h.index == x {
		versions, left := m.slab.first(h.left, x, key, m.reverse)
		n := sort.Search(len(versions), func(i int) bool { return versions[i].ts > at })
		if n > 0 && (found == nil || versions[n-1].ts > found.ts) {
			found = &versions[n-1]
		}
		m.keep(left)
		h = m.top()
	}
	return found
}

// maxVersionsWalked is how many versions of a key are stepped over before the
// end of them is searched for.
const maxVersionsWalked = 8

// first splits the versions of the key that a part begins with from the rest,
// or, in reverse, those that it ends with.
func (s *slab) first(p part, x schema.IndexID, key string, reverse bool) (versions, rest part) {
	if reverse {
		n := len(p)
		for n > 0 && n > len(p)-maxVersionsWalked && s.has(&p[n-1], x, key) {
			n--
		}
		if n == len(p)-maxVersionsWalked {
			n = s.after(p, &schema.Entry{Index: x, Key: key, TS: -1})
		}
		return p[n:], p[:n]
	}
	n := 0
	for n < len(p) && n < maxVersionsWalked && s.has(&p[n], x, key) {
		n++
	}
	if n == maxVersionsWalked {
		n = s.after(p, &schema.Entry{Index: x, Key: key, TS: schema.MaxTimestamp})
	}
	return p[:n], p[n:]
}

// copies are strings of entries that somebody may keep. They lie together,
// which is cheaper than one by one, in blocks that are small.
type copies struct{ block []byte }

const (
	firstBlock = 256
	lastBlock  = 4096
)

func (c *copies) entry(s *slab, r *record) schema.Entry {
	e := s.entry(r)
	e.Key, e.ID = c.string(e.Key), c.string(e.ID)
	return e
}

func (c *copies) string(s string) string {
	if len(s) == 0 {
		return ""
	}
	from := len(c.block)
	if from+len(s) > cap(c.block) {
		c.block = slices.Grow[[]byte](nil, max(len(s), min(2*cap(c.block), lastBlock), firstBlock))
		from = 0
	}
	c.block = append(c.block, s...)
	return unsafe.String(&c.block[from], len(s))
}

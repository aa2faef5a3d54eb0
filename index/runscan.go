package index

import (
	"slices"

	"github.com/firndb/firn/schema"
)

// Scan appends, for each key of the range, its newest entry at or before at,
// deleted ones included, at most limit of them, in the range's direction. A
// key without such an entry is passed over. rest is what is still to scan;
// done says that nothing is.
func (r *Run) Scan(dst []schema.Entry, kr schema.KeyRange, at schema.Timestamp, limit int) (entries []schema.Entry, rest schema.KeyRange, done bool) {
	r.mu.RLock()
	if len(r.recent) > maxUnsorted {
		r.mu.RUnlock()
		r.lockSorted()
	}
	defer r.mu.RUnlock()
	windows := r.windows(kr)
	for limit > 0 {
		key, ok := nextKey(windows, kr.Reverse)
		if !ok {
			return dst, kr, true
		}
		best, found := schema.Entry{}, false
		for i := range windows {
			if e, ok := windows[i].take(key, at, kr.Reverse); ok && (!found || e.TS > best.TS) {
				best, found = e, true
			}
		}
		if found {
			dst = append(dst, best)
			limit--
		}
		switch {
		case !kr.Reverse:
			kr.From = key + "\x00"
		case key == "": // as the end of a range it would mean the index's end
			return dst, kr, true
		default:
			kr.To = key
		}
	}
	return dst, kr, false
}

// window is what of a part lies in a range and has not been scanned yet.
type window part

func (r *Run) windows(kr schema.KeyRange) []window {
	end := schema.Entry{Index: kr.Index, Key: kr.To, TS: -1}
	if kr.To == "" {
		end = schema.Entry{Index: kr.Index + 1, TS: -1}
	}
	var windows []window
	for _, p := range r.parts() {
		from, to := p.after(schema.Entry{Index: kr.Index, Key: kr.From, TS: -1}), p.after(end)
		if from < to {
			windows = append(windows, window(p[from:to]))
		}
	}
	if w := r.recentIn(kr); len(w) > 0 {
		windows = append(windows, w)
	}
	return windows
}

// recentIn is what lies in a range and is not in a part yet: little, or all
// would have been sorted. So a transaction that scans and writes by turns does
// not sort at every turn.
func (r *Run) recentIn(kr schema.KeyRange) window {
	var found window
	for _, e := range r.recent {
		if e.Index == kr.Index && e.Key >= kr.From && (kr.To == "" || e.Key < kr.To) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, compare)
	return found
}

// nextKey is the first key that any window has, or the last in reverse.
func nextKey(windows []window, reverse bool) (key string, ok bool) {
	for _, w := range windows {
		if len(w) == 0 {
			continue
		}
		k := w[0].Key
		if reverse {
			k = w[len(w)-1].Key
		}
		if !ok || reverse && k > key || !reverse && k < key {
			key, ok = k, true
		}
	}
	return key, ok
}

// take removes a key from the window, if it comes next there, and returns its
// newest entry at or before at.
func (w *window) take(key string, at schema.Timestamp, reverse bool) (found schema.Entry, ok bool) {
	var versions window
	if reverse {
		versions = w.takeLast(key)
	} else {
		versions = w.takeFirst(key)
	}
	i, exact := slices.BinarySearchFunc(versions, at, func(e schema.Entry, at schema.Timestamp) int {
		return int(min(max(e.TS-at, -1), 1))
	})
	if exact {
		return versions[i], true
	}
	if i == 0 {
		return found, false
	}
	return versions[i-1], true
}

// maxVersionsWalked is how many versions of a key are stepped over before the
// end of them is searched for.
const maxVersionsWalked = 8

func (w *window) takeFirst(key string) window {
	n := 0
	for n < len(*w) && n < maxVersionsWalked && (*w)[n].Key == key {
		n++
	}
	if n == maxVersionsWalked {
		n, _ = slices.BinarySearchFunc(*w, key, func(e schema.Entry, key string) int {
			if e.Key <= key {
				return -1
			}
			return 1
		})
	}
	versions := (*w)[:n]
	*w = (*w)[n:]
	return versions
}

func (w *window) takeLast(key string) window {
	n := len(*w)
	for n > 0 && n > len(*w)-maxVersionsWalked && (*w)[n-1].Key == key {
		n--
	}
	if n == len(*w)-maxVersionsWalked {
		n, _ = slices.BinarySearchFunc(*w, key, func(e schema.Entry, key string) int {
			if e.Key < key {
				return -1
			}
			return 1
		})
	}
	versions := (*w)[n:]
	*w = (*w)[:n]
	return versions
}

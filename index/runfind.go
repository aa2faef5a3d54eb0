package index

import (
	"slices"

	"github.com/firndb/firn/schema"
)

// At is the newest entry of a key at or before at, deleted ones included. Its
// Key is the caller's.
func (r *Run) At(x schema.IndexID, key string, at schema.Timestamp) (found schema.Entry, ok bool) {
	r.lockSorted(maxUnsorted)
	defer r.mu.RUnlock()
	if newest := r.newestLocked(x, key, at); newest != nil {
		return r.slab.entryOf(newest, key), true
	}
	return schema.Entry{}, false
}

// Newer says whether the key has an entry after ts.
func (r *Run) Newer(x schema.IndexID, key string, ts schema.Timestamp) bool {
	r.lockSorted(maxUnsorted)
	defer r.mu.RUnlock()
	newest := r.newestLocked(x, key, schema.MaxTimestamp)
	return newest != nil && newest.ts > ts
}

// newestLocked looks from the newest to the oldest: the first that it finds it
// is.
func (r *Run) newestLocked(x schema.IndexID, key string, at schema.Timestamp) *record {
	for i := len(r.recent) - 1; i >= 0; i-- {
		if e := &r.recent[i]; e.ts <= at && r.slab.has(e, x, key) {
			return e
		}
	}
	for i := range slices.Backward(r.small) {
		if e := r.slab.newest(r.small[i], x, key, at); e != nil {
			return e
		}
	}
	if len(r.large) == 0 {
		return nil
	}
	hash := hashKey(x, key)
	if !r.known.mayHave(hash) {
		return nil
	}
	for i := range slices.Backward(r.large) {
		if !r.filters[i].mayHave(hash) {
			continue
		}
		if e := r.slab.newest(r.large[i], x, key, at); e != nil {
			return e
		}
	}
	return nil
}

// Earliest appends the oldest entries of one key with from < ts <= to, oldest
// first, at most n of them. What it costs does not depend on how many there
// are.
func (r *Run) Earliest(dst []schema.Entry, x schema.IndexID, key string, from, to schema.Timestamp, n int) []schema.Entry {
	r.lockSorted(0)
	defer r.mu.RUnlock()
	for _, p := range r.parts() {
		i := r.slab.after(p, &schema.Entry{Index: x, Key: key, TS: from})
		for ; n > 0 && i < len(p) && p[i].ts <= to && r.slab.has(&p[i], x, key); n-- {
			dst = append(dst, r.slab.entryOf(&p[i], key))
			i++
		}
	}
	return dst
}

// Latest appends the newest entries of one key with from < ts <= to, newest
// first, at most n of them. What it costs does not depend on how many there
// are.
func (r *Run) Latest(dst []schema.Entry, x schema.IndexID, key string, from, to schema.Timestamp, n int) []schema.Entry {
	r.lockSorted(0)
	defer r.mu.RUnlock()
	for _, p := range slices.Backward(r.parts()) {
		i := r.slab.after(p, &schema.Entry{Index: x, Key: key, TS: to})
		for ; n > 0 && i > 0 && p[i-1].ts > from && r.slab.has(&p[i-1], x, key); n-- {
			dst = append(dst, r.slab.entryOf(&p[i-1], key))
			i--
		}
	}
	return dst
}

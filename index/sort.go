package index

import (
	"cmp"
	"slices"

	"github.com/firndb/firn/schema"
)

// sortEntries sorts entries. Most of what plain sorting does is to fetch keys
// from all over memory, to compare bytes that they have in common; so each
// key is read once, for the 8 bytes behind those, and these are sorted.
func sortEntries(entries []schema.Entry) {
	skip, same := commonPrefix(entries)
	if !same || len(entries) < 2 {
		slices.SortFunc(entries, compare)
		return
	}
	order := make([]sortKey, len(entries))
	for i := range entries {
		order[i] = sortKey{digest(entries[i].Key[skip:]), int32(i)}
	}
	slices.SortFunc(order, func(a, b sortKey) int {
		if a.digest != b.digest {
			return cmp.Compare(a.digest, b.digest)
		}
		return compare(entries[a.at], entries[b.at])
	})
	sorted := make([]schema.Entry, len(entries))
	for i, k := range order {
		sorted[i] = entries[k.at]
	}
	copy(entries, sorted)
}

// sortKey is an entry's place and the first bytes by which it differs.
type sortKey struct {
	digest uint64
	at     int32
}

// digest is the first 8 bytes of a key, big endian, as if it went on with
// zeros: of two keys the one with the smaller digest is the smaller.
func digest(key string) (d uint64) {
	n := min(len(key), 8)
	for i := range n {
		d |= uint64(key[i]) << (56 - 8*i)
	}
	return d
}

// commonPrefix is how many bytes all keys begin with, if all entries are of
// one index.
func commonPrefix(entries []schema.Entry) (n int, same bool) {
	if len(entries) == 0 {
		return 0, true
	}
	first := entries[0].Key
	n = len(first)
	for i := range entries {
		if entries[i].Index != entries[0].Index {
			return 0, false
		}
		key := entries[i].Key
		n = min(n, len(key))
		for n > 0 && key[:n] != first[:n] {
			n--
		}
	}
	return n, true
}

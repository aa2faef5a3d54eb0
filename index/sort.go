package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firndb/firn/schema"
)

// sortEntries sorts entries: index by index, because there are few.
func sortEntries(entries []schema.Entry) {
	if len(entries) < 2 {
		return
	}
	order := make([]sortKey, len(entries))
	indexes := indexesOf(entries)
	sorted := order[:0]
	for _, x := range indexes {
		from := len(sorted)
		for i := range entries {
			if entries[i].Index == x {
				sorted = append(sorted, sortKey{ts: entries[i].TS, at: int32(i)})
			}
		}
		sortOneIndex(sorted[from:], entries)
	}
	result := make([]schema.Entry, len(entries))
	for i, k := range order {
		result[i] = entries[k.at]
	}
	copy(entries, result)
}

// indexesOf are the indexes that the entries belong to, in order.
func indexesOf(entries []schema.Entry) []schema.IndexID {
	var buf [16]schema.IndexID
	all := buf[:0]
	for i := range entries {
		if x := entries[i].Index; i == 0 || x != entries[i-1].Index {
			if at, found := slices.BinarySearch(all, x); !found {
				all = slices.Insert(all, at, x)
			}
		}
	}
	return all
}

// sortKey is an entry's place, its time, and the first bytes by which its key
// differs from others.
type sortKey struct {
	digest uint64
	ts     schema.Timestamp
	at     int32
}

// sortOneIndex sorts the places of entries of one index. Most of what plain
// sorting does is to fetch keys from all over memory, to compare bytes that
// they have in common; so each key is read once, for the 8 bytes behind those,
// and these are sorted.
func sortOneIndex(order []sortKey, entries []schema.Entry) {
	skip := commonPrefix(order, entries)
	for i := range order {
		order[i].digest = digest(entries[order[i].at].Key[skip:])
	}
	slices.SortFunc(order, func(a, b sortKey) int {
		if a.digest != b.digest {
			return cmp.Compare(a.digest, b.digest)
		}
		// Equal digests mostly are equal keys, and these often one string.
		if c := strings.Compare(entries[a.at].Key[skip:], entries[b.at].Key[skip:]); c != 0 {
			return c
		}
		return cmp.Compare(a.ts, b.ts)
	})
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

// commonPrefix is how many bytes all keys begin with.
func commonPrefix(order []sortKey, entries []schema.Entry) int {
	first := entries[order[0].at].Key
	n := len(first)
	for i := range order {
		key := entries[order[i].at].Key
		n = min(n, len(key))
		for n > 0 && key[:n] != first[:n] {
			n--
		}
	}
	return n
}

// merging takes entries off several sorted parts in order. It is a loser
// tree: node i holds the part that lost the match there, node 0 the winner of
// all, so that the next entry costs log₂ of the number of parts comparisons.
type merging struct {
	heads []part
	nodes []int // of the parts' numbers; parts are the leaves
}

// newMerging starts to merge; the parts are taken apart.
func newMerging(heads []part) *merging {
	m := &merging{heads: heads, nodes: make([]int, len(heads))}
	for i := range m.nodes {
		m.nodes[i] = -1
	}
	for i := range heads {
		m.play(i)
	}
	return m
}

// play lets a part go up from its leaf. While the tree is built the first to
// come to a node waits there.
func (m *merging) play(winner int) {
	for node := (winner + len(m.heads)) / 2; node > 0; node /= 2 {
		other := m.nodes[node]
		if other < 0 {
			m.nodes[node] = winner
			return
		}
		if m.less(other, winner) {
			m.nodes[node], winner = winner, other
		}
	}
	m.nodes[0] = winner
}

// less says whether part a has the smaller head; a part that is used up has
// the greatest.
func (m *merging) less(a, b int) bool {
	if len(m.heads[a]) == 0 || len(m.heads[b]) == 0 {
		return len(m.heads[a]) > 0
	}
	return compare(m.heads[a][0], m.heads[b][0]) < 0
}

// next takes the least entry; ok is false if none is left.
func (m *merging) next() (e schema.Entry, ok bool) {
	if len(m.heads) == 0 {
		return e, false
	}
	winner := m.nodes[0]
	if len(m.heads[winner]) == 0 {
		return e, false
	}
	e = m.heads[winner][0]
	m.heads[winner] = m.heads[winner][1:]
	m.play(winner)
	return e, true
}

package keyspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// RandomTries is how often RANDOMKEY draws again when it hits a key that has
// expired, before it takes the next live one in key order.
const RandomTries = 16

// escapedZero follows a zero byte of a key in its id, where the zero byte is
// not the key's end. See package schema, "A key is a tuple of elements".
const escapedZero = 0xff

// RandomRanks chooses ranks below n: -count of any if count is negative, else
// count different ones, or all there are.
func RandomRanks(n int, count int64) []int {
	if count < 0 {
		ranks := make([]int, -count)
		for i := range ranks {
			ranks[i] = rand.IntN(n)
		}
		return ranks
	}
	if count >= int64(n) {
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = i
		}
		return ranks
	}
	if count > int64(n)/3 { // drawing would often hit what was drawn before
		return rand.Perm(n)[:count]
	}
	ranks := make([]int, 0, count)
	drawn := make(map[int]bool, count)
	for int64(len(ranks)) < count {
		if rank := rand.IntN(n); !drawn[rank] {
			drawn[rank] = true
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// FirstLiveKey is the first id of a range whose key has not expired; "" if none.
func FirstLiveKey(v *View, r firn.Range) (string, error) {
	for item, err := range v.R.Scan(r) {
		if err != nil {
			return "", err
		}
		if _, live, err := v.Live(item.Doc); live || err != nil {
			return item.Key, err
		}
	}
	return "", nil
}

// DrawMany draws -count of the entries below a prefix, or count different ones;
// nil if it draws the same ones over and over.
func DrawMany(v *View, index *firn.Index, prefix []byte, count int64) ([]firn.Item, error) {
	different := count > 0
	count = max(count, -count)
	items := make([]firn.Item, 0, count)
	drawn := make(map[string]bool, count)
	for tries := RandomTries * count; int64(len(items)) < count; tries-- {
		if tries == 0 {
			return nil, nil
		}
		item, ok, err := DrawOne(v, index, prefix)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("no elements at %x: %w", prefix, ErrDamaged)
		}
		if different && drawn[item.Key] {
			continue
		}
		drawn[item.Key] = true
		items = append(items, item)
	}
	return items, nil
}

// DrawOne draws one of the ids below a prefix, in an index by id; ok is false if
// there is none.
func DrawOne(v *View, index *firn.Index, prefix []byte) (item firn.Item, ok bool, err error) {
	drawn := append([]byte(nil), prefix...)
	for {
		first, ok, err := edgeItem(v, index, drawn, tuple.PrefixEnd(drawn), false)
		if err != nil || !ok {
			return first, false, err
		}
		last, ok, err := edgeItem(v, index, drawn, tuple.PrefixEnd(drawn), true)
		if err != nil || !ok || first.Key == last.Key {
			return first, ok, err
		}
		n := sharedBytes(first.Key, last.Key)
		if n == len(first.Key) {
			// The others are this key, a zero byte, and more: see escapedZero.
			if rand.IntN(2) == 0 {
				return first, true, nil
			}
			drawn = append([]byte(first.Key), escapedZero)
			continue
		}
		low, high := int(first.Key[n]), int(last.Key[n])
		shared := []byte(first.Key[:n])
		next, ok, err := seekAround(v, index, shared, byte(low+rand.IntN(high-low+1)))
		if err != nil || !ok {
			return next, false, err
		}
		drawn = []byte(next.Key[:n+1])
	}
}

// seekAround is the entry nearest to prefix and b, among those with the
// prefix: behind it, or as often before it, so that bytes far from all others
// do not draw their neighbours' share.
func seekAround(v *View, index *firn.Index, prefix []byte, b byte) (item firn.Item, ok bool, err error) {
	middle := append(bytes.Clone(prefix), b)
	if rand.IntN(2) == 0 {
		return edgeItem(v, index, middle, tuple.PrefixEnd(prefix), false)
	}
	return edgeItem(v, index, prefix, tuple.PrefixEnd(middle), true)
}

// edgeItem is the first entry of a range, or the last.
func edgeItem(v *View, index *firn.Index, from, to []byte, last bool) (item firn.Item, ok bool, err error) {
	r := firn.Range{Index: index, From: from, To: to, Reverse: last, Limit: 1}
	for item, err := range v.R.Scan(r) {
		return item, err == nil, err
	}
	return firn.Item{}, false, nil
}

// sharedBytes is how many leading bytes a and b share.
func sharedBytes(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

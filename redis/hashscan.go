package redis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/firndb/firn"
)

// Parts of hashes: HSCAN and HRANDFIELD.

func hScan(c *Call) error {
	return scanElements(c, kindHash, func(k *keyDoc, cursor uint64, o *scanOptions, l *list) (uint64, error) {
		if k.Encoding != large {
			// Like Redis, a small hash in one step: clients may rely on it.
			o.count, cursor = int(max(k.Length, 1)), 0
		}
		gone, err := endedFields(c.View, k)
		if err != nil {
			return 0, err
		}
		prefix := slices.Clone(c.prefixOf(k.UID))
		return step(c, c.elements.ByID(), prefix, cursor, o, func(item firn.Item) error {
			if gone != nil && gone[item.Key[len(prefix):]] {
				return nil
			}
			field, err := c.subKey(item.Key, len(prefix))
			if err == nil && o.matches(field) {
				l.add(field)
				l.add(item.Doc.Value)
			}
			return err
		})
	})
}

func hRandField(c *Call) error {
	if len(c.Args) == 1 {
		return randomField(c)
	}
	count, withValues, err := parseRandomCount(c.Args[1:], "WITHVALUES")
	if err != nil {
		return err
	}
	k, ok, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	if !ok || count == 0 {
		c.Reply.Array(0)
		return nil
	}
	fields, err := readLiveFields(c.View, &k)
	if err != nil {
		return err
	}
	ranks := randomRanks(fields.n, count)
	if withValues && c.Reply.Proto != 3 {
		c.Reply.Array(2 * len(ranks))
	} else {
		c.Reply.Array(len(ranks))
	}
	for _, rank := range ranks {
		if err := replyFieldAt(c, &k, fields, rank, withValues); err != nil {
			return err
		}
	}
	return nil
}

// randomField replies one field, or null if there is no hash.
func randomField(c *Call) error {
	k, ok, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	fields, err := readLiveFields(c.View, &k)
	if err != nil {
		return err
	}
	return replyFieldAt(c, &k, fields, rand.IntN(fields.n), false)
}

// liveFields are the fields of a hash that have not ended, by rank among each
// other.
type liveFields struct {
	all  *firn.Ordered
	gone []int // ranks among all of those that have ended, ascending
	n    int   // how many live, 1 and up
}

// readLiveFields orders the fields of a live hash. One that has not as many as its
// key says is errDamaged.
func readLiveFields(v *View, k *keyDoc) (f liveFields, err error) {
	ended, err := endedFields(v, k)
	if err != nil {
		return f, err
	}
	prefix := v.prefixOf(k.UID)
	if f.all, err = v.R.Ordered(v.elements.ByID(), prefix); err != nil {
		return f, err
	}
	for sub := range ended {
		if rank, found := f.all.Rank(append(prefix[:len(prefix):len(prefix)], sub...)); found {
			f.gone = append(f.gone, rank)
		}
	}
	slices.Sort(f.gone)
	f.n = f.all.Len() - len(f.gone)
	if f.n < 1 || int64(f.all.Len()) != k.Length || len(f.gone) != len(ended) {
		return f, fmt.Errorf("hash %d/%d has %d fields and %d ends, its key says %d: %w",
			k.UID.TS, k.UID.N, f.all.Len(), len(ended), k.Length, errDamaged)
	}
	return f, nil
}

// at is the i-th field that lives.
func (f *liveFields) at(i int) (firn.Item, error) {
	// The ended fields before it are those with at most i living ones before them.
	skipped := sort.Search(len(f.gone), func(g int) bool { return f.gone[g]-g > i })
	return f.all.At(i + skipped)
}

// replyFieldAt replies the field at a rank, and its value if asked: as a pair
// of its own in protocol 3.
func replyFieldAt(c *Call, k *keyDoc, fields liveFields, rank int, withValue bool) error {
	item, err := fields.at(rank)
	if err != nil {
		return err
	}
	field, err := c.subKey(item.Key, len(c.prefixOf(k.UID)))
	if err != nil {
		return err
	}
	if withValue && c.Reply.Proto == 3 {
		c.Reply.Array(2)
	}
	c.Reply.Bulk(field)
	if withValue {
		c.Reply.Bulk(item.Doc.Value)
	}
	return nil
}

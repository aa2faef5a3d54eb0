package redis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Parts of hashes: HSCAN and HRANDFIELD.

func hScan(c *Call) error {
	cursor, err := parseCursor(c.Args[1])
	if err != nil {
		return err
	}
	k, ok, err := c.findKind(c.Args[0], kindHash)
	if err != nil {
		return err
	}
	var l list
	if !ok {
		replyPage(c, 0, &l)
		return nil
	}
	o, err := parseScanOptions(c.Args[2:], false)
	if err != nil {
		return err
	}
	if k.Encoding != large {
		// Like Redis, a small hash in one step: clients may rely on it.
		o.count, cursor = listpackFields, 0
	}
	prefix := slices.Clone(c.elementPrefix(k.UID))
	next, err := c.step(c.work.elements.ByID(), prefix, cursor, &o, func(item firn.Item) error {
		field, err := c.subKey(item.Key, len(prefix))
		if err == nil && o.matches(field) {
			l.add(field)
			l.add(item.Doc.Value)
		}
		return err
	})
	if err != nil {
		return err
	}
	replyPage(c, next, &l)
	return nil
}

// maxRandomFields bounds HRANDFIELD with a negative count, whose reply grows
// with the number and not with the hash.
const maxRandomFields = 10_000_000

// errRandomCount is the answer to the one count that has no opposite.
const errRandomCount = Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")

// parseRandomCount reads HRANDFIELD's options.
func parseRandomCount(args [][]byte) (count int64, withValues bool, err error) {
	count, ok := resp.ParseInt(args[0])
	switch {
	case !ok:
		return 0, false, errNotInteger
	case count == math.MinInt64:
		return 0, false, errRandomCount
	case len(args) > 2 || len(args) == 2 && !is(args[1], "WITHVALUES"):
		return 0, false, errSyntax
	}
	withValues = len(args) == 2
	if withValues && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) || count < -maxRandomFields {
		return 0, false, errOutOfRange
	}
	return count, withValues, nil
}

func hRandField(c *Call) error {
	if len(c.Args) == 1 {
		return randomField(c)
	}
	count, withValues, err := parseRandomCount(c.Args[1:])
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
	fields, err := c.ordered(&k)
	if err != nil {
		return err
	}
	ranks := randomRanks(fields.Len(), count)
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
	fields, err := c.ordered(&k)
	if err != nil {
		return err
	}
	return replyFieldAt(c, &k, fields, rand.IntN(fields.Len()), false)
}

// ordered is the fields of a hash by rank. It has as many as k says, and at
// least one.
func (c *Call) ordered(k *keyDoc) (*firn.Ordered, error) {
	fields, err := c.R.Ordered(c.work.elements.ByID(), c.elementPrefix(k.UID))
	if err != nil {
		return nil, err
	}
	if n := fields.Len(); n == 0 || int64(n) != k.Length {
		return nil, fmt.Errorf("hash %d/%d has %d fields, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, errDamaged)
	}
	return fields, nil
}

// randomRanks chooses ranks below n: -count of any if count is negative, else
// count different ones, or all there are.
func randomRanks(n int, count int64) []int {
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

// replyFieldAt replies the field at a rank, and its value if asked: as a pair
// of its own in protocol 3.
func replyFieldAt(c *Call, k *keyDoc, fields *firn.Ordered, rank int, withValue bool) error {
	item, err := fields.At(rank)
	if err != nil {
		return err
	}
	field, err := c.subKey(item.Key, len(c.elementPrefix(k.UID)))
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

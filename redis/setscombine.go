package redis

import (
	"cmp"
	"math"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Several sets at once: SINTER, SUNION, SDIFF and what they store.
//
// What is looked up in a set is sought there, so a small set meets a large one
// without reading that. Sets that are read as a whole are read in the order of
// their bytes.

// sets reads the sets at keys; nil stands for one that is not there.
func sets(c *Call, keys [][]byte) ([]*keyDoc, error) {
	found := make([]*keyDoc, len(keys))
	for i, key := range keys {
		k, ok, err := c.findKind(key, kindSet)
		if err != nil {
			return nil, err
		}
		if ok {
			found[i] = &k
		}
	}
	return found, nil
}

// combined is a set that a command has made.
type combined struct {
	members []string // different ones, in the order that they are replied in
	form    encoding
}

// newCombined puts members in order: numbers if they would be an intset.
func newCombined(members []string, form encoding) combined {
	if form == large {
		slices.Sort(members)
	} else {
		sortIntegers(members)
	}
	return combined{members, form}
}

// formOf is the encoding of a set that gets these members.
func formOf(c *Call, members []string) encoding {
	if int64(len(members)) > c.encodings.intsetEntries.Load() || slices.ContainsFunc(members, notInteger) {
		return large
	}
	return compact
}

func notInteger(member string) bool {
	_, ok := resp.ParseInt([]byte(member))
	return !ok
}

// replyCombined replies what combine makes of the sets at all arguments.
func replyCombined(c *Call, combine func(*Call, []*keyDoc) (combined, error)) error {
	sets, err := sets(c, c.Args)
	if err != nil {
		return err
	}
	result, err := combine(c, sets)
	if err != nil {
		return err
	}
	c.Reply.Set(len(result.members))
	for _, member := range result.members {
		c.Reply.BulkString(member)
	}
	return nil
}

// storeCombined stores what combine makes of the sets at all arguments but the
// first, which is where, and replies how many members that are.
func storeCombined(c *Call, event string, combine func(*Call, []*keyDoc) (combined, error)) error {
	sets, err := sets(c, c.Args[1:])
	if err != nil {
		return err
	}
	result, err := combine(c, sets)
	if err != nil {
		return err
	}
	return storeSet(c, c.Args[0], event, result)
}

// storeSet makes key a set with these members, over whatever was there, and
// replies how many. Without members there is no key.
func storeSet(c *Call, key []byte, event string, result combined) error {
	s, err := c.open(key)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(result.members)))
	if len(result.members) == 0 {
		return c.clear(&s)
	}
	u := c.newUID()
	for _, member := range result.members {
		id := c.keep(tuple.AppendString(appendUID(c.room(), u), member))
		if err := c.Tx.Put(c.elements, id, noValue); err != nil {
			return err
		}
	}
	err = c.write(&s, keyDoc{
		Kind: kindSet, Encoding: result.form, Created: s.key.Created, Length: int64(len(result.members)), UID: u,
	})
	c.notify(eventSet, event, key)
	return err
}

// hasMember says whether a set has a member.
func hasMember(v *View, k *keyDoc, member string) (bool, error) {
	_, err := v.R.Get(v.elements, v.keep(tuple.AppendString(appendUID(v.room(), k.UID), member)))
	if err == firn.ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// intersectSets visits the members that all sets have, in the order of the
// smallest. It reorders sets.
func intersectSets(c *Call, sets []*keyDoc, visit func(member string) error) error {
	if slices.Contains(sets, nil) {
		return nil
	}
	slices.SortStableFunc(sets, func(a, b *keyDoc) int { return cmp.Compare(a.Length, b.Length) })
	others := otherSets(sets)
	return eachInSet(c.View, sets[0], func(member string) error {
		for _, other := range others {
			if had, err := hasMember(c.View, other, member); err != nil || !had {
				return err
			}
		}
		return visit(member)
	})
}

// otherSets is the sets that are there and are not the first one; each once
// if equal ones follow each other.
func otherSets(sets []*keyDoc) []*keyDoc {
	var others []*keyDoc
	for _, k := range sets[1:] {
		if k != nil && k.UID != sets[0].UID && (len(others) == 0 || k.UID != others[len(others)-1].UID) {
			others = append(others, k)
		}
	}
	return others
}

func sInter(c *Call) error {
	sets, err := sets(c, c.Args)
	if err != nil {
		return err
	}
	if len(sets) == 1 && sets[0] != nil {
		return replySetState(c.View, &c.Reply, sets[0])
	}
	var l list
	err = intersectSets(c, sets, func(member string) error {
		l.body.BulkString(member)
		l.n++
		return nil
	})
	if err != nil {
		return err
	}
	c.Reply.Set(l.n)
	c.Reply.Buf = append(c.Reply.Buf, l.body.Buf...)
	return nil
}

func sInterStore(c *Call) error {
	return storeCombined(c, "sinterstore", func(c *Call, sets []*keyDoc) (combined, error) {
		var members []string
		err := intersectSets(c, sets, func(member string) error {
			members = append(members, member)
			return nil
		})
		return combined{members, formOf(c, members)}, err
	})
}

const errNegativeLimit = resp.Error("ERR LIMIT can't be negative")

func sInterCard(c *Call) error {
	keys, rest, err := takeKeys(c.Args)
	if err != nil {
		return err
	}
	limit := int64(0)
	for ; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !is(rest[0], "LIMIT") {
			return errSyntax
		}
		var ok bool
		if limit, ok = resp.ParseInt(rest[1]); !ok || limit < 0 {
			return errNegativeLimit
		}
	}
	sets, err := sets(c, keys)
	if err != nil {
		return err
	}
	var n int64
	err = intersectSets(c, sets, func(string) error {
		n++
		if n == limit {
			return errStop
		}
		return nil
	})
	if err != nil && err != errStop {
		return err
	}
	c.Reply.Int(n)
	return nil
}

// takeKeys takes the keys that a number announces off args.
func takeKeys(args [][]byte) (keys, rest [][]byte, err error) {
	n, ok := resp.ParseInt(args[0])
	switch {
	case !ok || n < 1:
		return nil, nil, errNumKeys
	case n > int64(len(args)-1):
		return nil, nil, resp.Error("ERR Number of keys can't be greater than number of args")
	}
	return args[1 : n+1], args[n+1:], nil
}

// uniteSets is the members that any of the sets has.
func uniteSets(c *Call, sets []*keyDoc) (combined, error) {
	var members []string
	seen := map[string]struct{}{}
	visited := map[uid]bool{}
	for _, k := range sets {
		if k == nil || visited[k.UID] {
			continue
		}
		visited[k.UID] = true
		err := walkSet(c.View, k, 0, func(member string) error {
			if _, had := seen[member]; !had {
				seen[member] = struct{}{}
				members = append(members, member)
			}
			return nil
		})
		if err != nil {
			return combined{}, err
		}
	}
	return newCombined(members, formOf(c, members)), nil
}

// subtractSets is the members of the first set that none of the others has. Like
// Redis, it looks each of them up in the others, or reads the others, whatever
// is less work.
func subtractSets(c *Call, sets []*keyDoc) (combined, error) {
	first := sets[0]
	if first == nil {
		return combined{}, nil
	}
	var lookups, reads int64
	for i, k := range sets {
		if k == nil {
			continue
		}
		if i > 0 && k.UID == first.UID {
			return combined{}, nil
		}
		lookups += first.Length
		reads += k.Length
	}
	slices.SortStableFunc(sets[1:], func(a, b *keyDoc) int { return -cmp.Compare(lengthOf(a), lengthOf(b)) })
	others := otherSets(sets)
	if lookups/2 <= reads {
		return subtractByLookup(c, first, others)
	}
	return subtractByReading(c, first, others)
}

func lengthOf(k *keyDoc) int64 {
	if k == nil {
		return math.MinInt64
	}
	return k.Length
}

func subtractByLookup(c *Call, first *keyDoc, others []*keyDoc) (combined, error) {
	var members []string
	err := walkSet(c.View, first, 0, func(member string) error {
		for _, other := range others {
			if had, err := hasMember(c.View, other, member); err != nil || had {
				return err
			}
		}
		members = append(members, member)
		return nil
	})
	return newCombined(members, formOf(c, members)), err
}

// subtractByReading decides the encoding before anything is taken away, as
// Redis does.
func subtractByReading(c *Call, first *keyDoc, others []*keyDoc) (combined, error) {
	rest := make(map[string]struct{}, first.Length)
	form := compact
	if first.Length > c.encodings.intsetEntries.Load() {
		form = large
	}
	err := walkSet(c.View, first, 0, func(member string) error {
		rest[member] = struct{}{}
		if form == compact && notInteger(member) {
			form = large
		}
		return nil
	})
	for _, other := range others {
		if err != nil || len(rest) == 0 {
			break
		}
		err = walkSet(c.View, other, 0, func(member string) error {
			delete(rest, member)
			return nil
		})
	}
	members := make([]string, 0, len(rest))
	for member := range rest {
		members = append(members, member)
	}
	return newCombined(members, form), err
}

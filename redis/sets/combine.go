package sets

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Several sets at once: SINTER, SUNION, SDIFF and what they store.
//
// What is looked up in a set is sought there, so a small set meets a large one
// without reading that. Sets that are read as a whole are read in the order of
// their bytes.

// sets reads the sets at keys; nil stands for one that is not there.
func sets(c *command.Call, keys [][]byte) ([]*keyspace.KeyDoc, error) {
	found := make([]*keyspace.KeyDoc, len(keys))
	for i, key := range keys {
		k, ok, err := c.FindKind(key, keyspace.KindSet)
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
	form    keyspace.Encoding
}

// newCombined puts members in order: numbers if they would be an intset.
func newCombined(members []string, form keyspace.Encoding) combined {
	if form == keyspace.Large {
		slices.Sort(members)
	} else {
		keyspace.SortIntegers(members)
	}
	return combined{members, form}
}

// formOf is the encoding of a set that gets these members.
func formOf(c *command.Call, members []string) keyspace.Encoding {
	if int64(len(members)) > c.Encodings.IntsetEntries.Load() || slices.ContainsFunc(members, notInteger) {
		return keyspace.Large
	}
	return keyspace.Compact
}

func notInteger(member string) bool {
	_, ok := resp.ParseInt([]byte(member))
	return !ok
}

// replyCombined replies what combine makes of the sets at all arguments.
func replyCombined(c *command.Call, combine func(*command.Call, []*keyspace.KeyDoc) (combined, error)) error {
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
func storeCombined(c *command.Call, event string, combine func(*command.Call, []*keyspace.KeyDoc) (combined, error)) error {
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
func storeSet(c *command.Call, key []byte, event string, result combined) error {
	s, err := c.Open(key)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(len(result.members)))
	if len(result.members) == 0 {
		return c.Clear(&s)
	}
	u := c.NewUID()
	for _, member := range result.members {
		id := c.Keep(tuple.AppendString(keyspace.AppendUID(c.Room(), u), member))
		if err := c.Tx.Put(c.Elements, id, keyspace.NoValue); err != nil {
			return err
		}
	}
	err = c.Write(&s, keyspace.KeyDoc{
		Kind: keyspace.KindSet, Encoding: result.form, Created: s.Key.Created, Length: int64(len(result.members)), UID: u,
	})
	c.Notify(keyspace.EventSet, event, key)
	return err
}

// intersectSets visits the members that all sets have, in the order of the
// smallest. It reorders sets. A member is good during the visit.
func intersectSets(c *command.Call, sets []*keyspace.KeyDoc, visit func(member string) error) error {
	if slices.Contains(sets, nil) {
		return nil
	}
	slices.SortStableFunc(sets, func(a, b *keyspace.KeyDoc) int { return cmp.Compare(a.Length, b.Length) })
	others := otherSets(sets)
	return keyspace.EachInSet(c.View, sets[0], func(member string) error {
		for _, other := range others {
			if had, err := keyspace.HasMember(c.View, other, member); err != nil || !had {
				return err
			}
		}
		return visit(member)
	})
}

// otherSets is the sets that are there and are not the first one; each once
// if equal ones follow each other.
func otherSets(sets []*keyspace.KeyDoc) []*keyspace.KeyDoc {
	var others []*keyspace.KeyDoc
	for _, k := range sets[1:] {
		if k != nil && k.UID != sets[0].UID && (len(others) == 0 || k.UID != others[len(others)-1].UID) {
			others = append(others, k)
		}
	}
	return others
}

func sInter(c *command.Call) error {
	sets, err := sets(c, c.Args)
	if err != nil {
		return err
	}
	if len(sets) == 1 && sets[0] != nil {
		return ReplySetState(c.View, &c.Reply, sets[0])
	}
	var l command.List
	err = intersectSets(c, sets, func(member string) error {
		l.Body.BulkString(member)
		l.N++
		return nil
	})
	if err != nil {
		return err
	}
	c.Reply.Set(l.N)
	c.Reply.Buf = append(c.Reply.Buf, l.Body.Buf...)
	return nil
}

func sInterStore(c *command.Call) error {
	return storeCombined(c, "sinterstore", func(c *command.Call, sets []*keyspace.KeyDoc) (combined, error) {
		var members []string
		err := intersectSets(c, sets, func(member string) error {
			members = append(members, strings.Clone(member))
			return nil
		})
		return combined{members, formOf(c, members)}, err
	})
}

func sInterCard(c *command.Call) error {
	keys, rest, err := takeKeys(c.Args)
	if err != nil {
		return err
	}
	limit := int64(0)
	for ; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !command.Is(rest[0], "LIMIT") {
			return command.ErrSyntax
		}
		var ok bool
		if limit, ok = resp.ParseInt(rest[1]); !ok || limit < 0 {
			return command.ErrNegativeLimit
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
			return keyspace.ErrStop
		}
		return nil
	})
	if err != nil && err != keyspace.ErrStop {
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
		return nil, nil, command.ErrNumKeys
	case n > int64(len(args)-1):
		return nil, nil, resp.Error("ERR Number of keys can't be greater than number of args")
	}
	return args[1 : n+1], args[n+1:], nil
}

// uniteSets is the members that any of the sets has.
func uniteSets(c *command.Call, sets []*keyspace.KeyDoc) (combined, error) {
	var members []string
	seen := map[string]struct{}{}
	visited := map[keyspace.UID]bool{}
	for _, k := range sets {
		if k == nil || visited[k.UID] {
			continue
		}
		visited[k.UID] = true
		err := keyspace.WalkSet(c.View, k, 0, func(member string) error {
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
func subtractSets(c *command.Call, sets []*keyspace.KeyDoc) (combined, error) {
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
	slices.SortStableFunc(sets[1:], func(a, b *keyspace.KeyDoc) int { return -cmp.Compare(lengthOf(a), lengthOf(b)) })
	others := otherSets(sets)
	if lookups/2 <= reads {
		return subtractByLookup(c, first, others)
	}
	return subtractByReading(c, first, others)
}

func lengthOf(k *keyspace.KeyDoc) int64 {
	if k == nil {
		return math.MinInt64
	}
	return k.Length
}

func subtractByLookup(c *command.Call, first *keyspace.KeyDoc, others []*keyspace.KeyDoc) (combined, error) {
	var members []string
	err := keyspace.WalkSet(c.View, first, 0, func(member string) error {
		for _, other := range others {
			if had, err := keyspace.HasMember(c.View, other, member); err != nil || had {
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
func subtractByReading(c *command.Call, first *keyspace.KeyDoc, others []*keyspace.KeyDoc) (combined, error) {
	rest := make(map[string]struct{}, first.Length)
	form := keyspace.Compact
	if first.Length > c.Encodings.IntsetEntries.Load() {
		form = keyspace.Large
	}
	err := keyspace.WalkSet(c.View, first, 0, func(member string) error {
		rest[member] = struct{}{}
		if form == keyspace.Compact && notInteger(member) {
			form = keyspace.Large
		}
		return nil
	})
	for _, other := range others {
		if err != nil || len(rest) == 0 {
			break
		}
		err = keyspace.WalkSet(c.View, other, 0, func(member string) error {
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

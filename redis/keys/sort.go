package keys

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// What COMMAND INFO notes about keys that SORT is not told by name.
const (
	sortByNote    = "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the content of the key we sort"
	sortStoreNote = "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear anywhere in the argument array"
)

// SORT sorts the elements of a list, a set or a sorted set by their own value
// or by that of other keys.
var sortCommands = []command.Command{
	{
		Name: "SORT", Args: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] [STORE destination]", Min: 1,
		Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys: command.FirstKey(command.Reads).And(command.HiddenKeys(command.Reads).Noted(sortByNote)).
			And(command.HiddenKey(command.Overwrites, sortStore).Noted(sortStoreNote)),
		Categories: command.CatDangerous | command.CatSet | command.CatSortedSet | command.CatList,
		Group:      "generic", Since: "1.0.0", Complexity: "O(n · log n), n the elements; with BY nosort O(offset + count)",
		Summary: "Sorts the elements of a list, a set or a sorted set, and returns or stores them.",
		Differs: "ALPHA compares bytes, whatever the locale; elements that compare as equal keep their order. A set BY nosort goes in the order of its members' bytes. " +
			"A small sorted set keeps its encoding when it is sorted.",
		Run: func(c *command.Call) error { return sortKey(c, true) },
	},
	{
		Name: "SORT_RO", Args: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]", Min: 1, Max: -1,
		Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads).And(command.HiddenKeys(command.Reads).Noted(sortByNote)),
		Categories: command.CatDangerous | command.CatSet | command.CatSortedSet | command.CatList,
		Group:      "generic", Since: "7.0.0", Complexity: "O(n · log n), n the elements; with BY nosort O(offset + count)",
		Live:    command.Live{What: "any write to the key, and to the keys that BY and GET name"},
		Summary: "SORT that does not store, and so can be asked of the past.",
		Differs: "As SORT does.",
		Run:     func(c *command.Call) error { return sortKey(c, false) },
	},
}

// sortOptions are the options of SORT.
type sortOptions struct {
	by          []byte // nil: the elements themselves
	unsorted    bool   // by has no place for an element: keep the order
	get         [][]byte
	descending  bool
	alpha       bool
	offset, max int64 // max negative: all
	store       []byte
}

// limit is how many of n elements, from which on, are wanted.
func (o *sortOptions) limit(n int64) (from, to int64) {
	from = min(max(o.offset, 0), n)
	if o.max < 0 {
		return from, n
	}
	return from, from + min(o.max, n-from)
}

// Patterns reach keys that the command does not name.
const (
	errSortBy  = resp.Error("ERR BY option of SORT denied due to insufficient ACL permissions.")
	errSortGet = resp.Error("ERR GET option of SORT denied due to insufficient ACL permissions.")
)

func parseSortOptions(c *command.Call, mayStore bool) (o sortOptions, err error) {
	args := c.Args[1:]
	o.max = -1
	for i := 0; i < len(args); i++ {
		left := len(args) - i - 1
		switch arg := args[i]; {
		case command.Is(arg, "ASC"):
			o.descending = false
		case command.Is(arg, "DESC"):
			o.descending = true
		case command.Is(arg, "ALPHA"):
			o.alpha = true
		case command.Is(arg, "LIMIT") && left >= 2:
			var ok, ok2 bool
			o.offset, ok = resp.ParseInt(args[i+1])
			o.max, ok2 = resp.ParseInt(args[i+2])
			if !ok || !ok2 {
				return o, command.ErrNotInteger
			}
			i += 2
		case command.Is(arg, "STORE") && left >= 1 && mayStore:
			i++
			o.store = args[i]
		case command.Is(arg, "BY") && left >= 1:
			i++
			o.by = args[i]
			o.unsorted = o.unsorted || bytes.IndexByte(command.CString(o.by, len(o.by)), '*') < 0
			if !o.unsorted && !c.Client.ReadsAnyKey(c) {
				return o, errSortBy
			}
		case command.Is(arg, "GET") && left >= 1:
			i++
			o.get = append(o.get, args[i])
			if !c.Client.ReadsAnyKey(c) {
				return o, errSortGet
			}
		default:
			return o, command.ErrSyntax
		}
	}
	return o, nil
}

// sortStore is the index of the key that SORT stores to, of several the last;
// -1 if there is none. It has to know without a Call.
func sortStore(args [][]byte) int {
	at := -1
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case command.Is(arg, "LIMIT"):
			i += 2
		case command.Is(arg, "GET"), command.Is(arg, "BY"):
			i++
		case command.Is(arg, "STORE") && i+1 < len(args):
			i++
			at = i
		}
	}
	return at
}

func sortKey(c *command.Call, mayStore bool) error {
	o, err := parseSortOptions(c, mayStore)
	if err != nil {
		return err
	}
	k, ok, err := c.Find(c.Args[0])
	if err != nil {
		return err
	}
	if ok && k.Kind != keyspace.KindList && k.Kind != keyspace.KindSet && k.Kind != keyspace.KindZSet {
		return keyspace.ErrWrongType
	}
	if k.Kind == keyspace.KindSet && o.unsorted && o.store != nil {
		// What is stored does not depend on how a set happens to be kept.
		o.by, o.unsorted, o.alpha = nil, false, true
	}
	var items [][]byte
	if ok {
		if items, err = sorted(c, &k, &o); err != nil {
			return err
		}
	}
	if o.store != nil {
		return storeSorted(c, items, &o)
	}
	c.Reply.Array(len(items) * max(len(o.get), 1))
	for _, item := range items {
		if o.get == nil {
			c.Reply.Bulk(item)
		}
		for _, pattern := range o.get {
			value, there, err := follow(c, pattern, item)
			if err != nil {
				return err
			}
			command.BulkOrNull(c, value, there)
		}
	}
	return nil
}

// sorted is the elements that are wanted, in order.
func sorted(c *command.Call, k *keyspace.KeyDoc, o *sortOptions) ([][]byte, error) {
	from, to := o.limit(k.Length)
	if from == to && o.unsorted {
		return nil, nil
	}
	limit := int64(0)
	if o.unsorted {
		limit = to
	}
	items, err := sortable(c, k, limit, o.unsorted && o.descending)
	if err != nil {
		return nil, err
	}
	if !o.unsorted {
		if err := sortItems(c, items, o); err != nil {
			return nil, err
		}
	}
	from, to = o.limit(int64(len(items)))
	found := make([][]byte, 0, to-from)
	for i := range items[from:to] {
		found = append(found, items[int(from)+i].element)
	}
	return found, nil
}

// sortItem is an element and what it is sorted by.
type sortItem struct {
	element []byte
	by      []byte // with BY and ALPHA; nil: there is no such key, and it comes first
	score   float64
}

// sortable is the elements of a collection, at most limit (0: all). Those of a
// list are in its order, or against it, and so are those of a sorted set.
func sortable(c *command.Call, k *keyspace.KeyDoc, limit int64, reverse bool) (items []sortItem, err error) {
	switch k.Kind {
	case keyspace.KindList:
		err = keyspace.WalkList(c.View, k, limit, reverse, func(item []byte) error {
			items = append(items, sortItem{element: item})
			return nil
		})
	case keyspace.KindSet:
		err = keyspace.WalkSet(c.View, k, limit, func(member string) error {
			items = append(items, sortItem{element: []byte(member)})
			return nil
		})
	default:
		err = keyspace.WalkZSet(c.View, k, limit, reverse, func(member []byte, _ float64) error {
			items = append(items, sortItem{element: member})
			return nil
		})
	}
	return items, err
}

// sortItems looks up what to sort by, and sorts.
func sortItems(c *command.Call, items []sortItem, o *sortOptions) error {
	for i := range items {
		item := &items[i]
		by, ok := item.element, true
		if o.by != nil {
			var err error
			if by, ok, err = follow(c, o.by, item.element); err != nil {
				return err
			}
		}
		switch {
		case !ok:
		case o.alpha:
			item.by = by
		default:
			if item.score, ok = parseSortScore(by); !ok {
				return resp.Error("ERR One or more scores can't be converted into double")
			}
		}
	}
	slices.SortStableFunc(items, func(a, b sortItem) int {
		order := compareSorted(a, b, o)
		if o.descending {
			return -order
		}
		return order
	})
	return nil
}

// compareSorted compares two elements, upwards. Equal numbers are ordered by
// the elements; equal texts are not.
func compareSorted(a, b sortItem, o *sortOptions) int {
	if !o.alpha {
		if order := cmp.Compare(a.score, b.score); order != 0 {
			return order
		}
		return bytes.Compare(a.element, b.element)
	}
	switch {
	case a.by == nil || b.by == nil:
		return cmp.Compare(FlagInt(a.by != nil), FlagInt(b.by != nil))
	case o.by == nil && o.store != nil:
		return bytes.Compare(a.by, b.by)
	}
	// Redis collates C strings, which end at a NUL.
	return bytes.Compare(command.CString(a.by, len(a.by)), command.CString(b.by, len(b.by)))
}

func FlagInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parseSortScore reads a number as C's strtod does where it must use up the
// text: white space may precede it, a NUL ends it, and no text at all is 0.
func parseSortScore(b []byte) (float64, bool) {
	if n, ok := resp.ParseInt(b); ok {
		return float64(n), true
	}
	b = command.CString(b, len(b))
	if len(b) == 0 {
		return 0, true
	}
	score, ok := resp.ParseDouble(bytes.TrimLeft(b, " \t\n\v\f\r"))
	return score, ok && !math.IsNaN(score)
}

// follow is the value that a pattern leads to: the element itself for #, else
// the string, or the field of the hash, whose key is the pattern with the
// element for its first *. ok is false if there is none.
func follow(c *command.Call, pattern, element []byte) (value []byte, ok bool, err error) {
	if string(pattern) == "#" {
		return element, true, nil
	}
	before, after, found := bytes.Cut(pattern, []byte("*"))
	if !found {
		return nil, false, nil
	}
	var field []byte
	if i := bytes.Index(after, []byte("->")); i >= 0 && len(after) > i+2 {
		after, field = after[:i], after[i+2:]
	}
	name := slices.Concat(before, element, after)
	k, ok, err := c.Find(name)
	switch {
	case err != nil || !ok:
		return nil, false, err
	case field != nil && k.Kind == keyspace.KindHash:
		return keyspace.FieldValue(c.View, &k, field)
	case field != nil || k.Kind != keyspace.KindString:
		return nil, false, nil
	}
	return k.Value, true, nil
}

// storeSorted makes the destination a list of what was sorted; without
// elements it is removed.
func storeSorted(c *command.Call, items [][]byte, o *sortOptions) error {
	if len(o.get) > 0 {
		found := make([][]byte, 0, len(items)*len(o.get))
		for _, item := range items {
			for _, pattern := range o.get {
				value, _, err := follow(c, pattern, item)
				if err != nil {
					return err
				}
				found = append(found, value)
			}
		}
		items = found
	}
	c.Reply.Int(int64(len(items)))
	s, err := c.OpenIn(c.DB, o.store)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		err = keyspace.StoreList(c.View, &s, items)
		c.Notify(keyspace.EventList, "sortstore", o.store)
		return err
	}
	return c.Clear(&s)
}

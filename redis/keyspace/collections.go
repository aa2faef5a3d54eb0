package keyspace

import "github.com/firndb/firn"

// Whole collections, for the commands that take or make one of any type, such as
// SORT, DUMP and RESTORE. A limit of 0 is none.

// WalkList visits the items of a list in order, from the end if reverse. What
// is visited belongs to the store.
func WalkList(v *View, k *KeyDoc, limit int64, reverse bool, visit func(item []byte) error) error {
	q, err := SequenceOf(k)
	if err != nil {
		return err
	}
	for it, err := range q.Items(v, 0, limited(q.Length, limit), reverse) {
		if err != nil {
			return err
		}
		if err := visit(it.Value); err != nil {
			return err
		}
	}
	return nil
}

// WalkSet visits the members of a set in the order of their bytes. A set that
// has not as many as its key says is ErrDamaged.
func WalkSet(v *View, k *KeyDoc, limit int64, visit func(member string) error) error {
	return walkSet(v, k, limit, !lent, visit)
}

func walkSet(v *View, k *KeyDoc, limit int64, lent bool, visit func(member string) error) error {
	prefix := v.PrefixOf(k.UID)
	prefixBytes := len(prefix)
	r := firn.Range{Index: v.Elements.ByID(), Prefix: prefix, Limit: int(limit), Lent: lent}
	var n int64
	for item, err := range v.R.Scan(r) {
		if err != nil {
			return err
		}
		member, err := MemberOf(item.Key, prefixBytes)
		if err != nil {
			return err
		}
		if err := visit(member); err != nil {
			return err
		}
		n++
	}
	if n != limited(k.Length, limit) {
		return DamagedSet(k, n)
	}
	return nil
}

// WalkZSet visits the members of a sorted set by their scores, downwards if
// reverse.
func WalkZSet(v *View, k *KeyDoc, limit int64, reverse bool, visit func(member []byte, score float64) error) error {
	return eachByRank(v, k, 0, limited(k.Length, limit), reverse, func(m Rated) error {
		return visit([]byte(m.Member), m.Score)
	})
}

func limited(n, limit int64) int64 {
	if limit == 0 {
		return n
	}
	return min(n, limit)
}

// NewList stores the items of a list that begins, and returns the key document
// that it needs. They are copied; there is at least one.
func NewList(v *View, items [][]byte) (KeyDoc, error) {
	q := Sequence{UID: v.NewUID()}
	for _, item := range items {
		if err := q.Push(v, Own(item), true); err != nil {
			return KeyDoc{}, err
		}
	}
	return KeyDoc{Kind: KindList, UID: q.UID, Length: q.Length, Value: q.appendNote(nil)}, nil
}

// NewSet is NewList for the members of a set, which are different ones.
func NewSet(v *View, members [][]byte) (KeyDoc, error) {
	k := KeyDoc{Kind: KindSet, UID: v.NewUID(), Length: int64(len(members))}
	for _, member := range members {
		if !v.Encodings.setFits(k.Length, member) {
			k.Encoding = Large
		}
		if err := v.Tx.Put(v.Elements, v.ElementID(k.UID, member), NoValue); err != nil {
			return KeyDoc{}, err
		}
	}
	return k, nil
}

// NewZSet is NewSet for a sorted set. No score is NaN.
func NewZSet(v *View, members [][]byte, scores []float64) (KeyDoc, error) {
	var s Slot
	e := ReplaceZSet(v, &s)
	longest := 0
	for _, member := range members {
		longest = max(longest, len(member))
	}
	e.Foresee(len(members), longest)
	for i, member := range members {
		if err := e.Put(member, scores[i], 0, false); err != nil {
			return KeyDoc{}, err
		}
	}
	return s.Key, nil
}

// NewHash is NewSet for fields and values in turn. ends, if there are any, are
// those of the fields, in ms, 0 for never; the fields that have ended are left
// out, and the hash has no fields if all have.
func NewHash(v *View, items [][]byte, ends []int64) (KeyDoc, error) {
	h := OpenedHash{Slot: Slot{Key: KeyDoc{Kind: KindHash, UID: v.NewUID()}}}
	for i := 0; i < len(items); i += 2 {
		field, end := items[i], int64(0)
		if ends != nil {
			end = ends[i/2]
		}
		if end != 0 && end <= v.Now() {
			continue
		}
		if err := h.Put(v, v.ElementID(h.Key.UID, field), field, items[i+1], true); err != nil {
			return KeyDoc{}, err
		}
		if end == 0 {
			continue
		}
		if err := h.SetEnd(v, field, 0, end); err != nil {
			return KeyDoc{}, err
		}
	}
	h.Key.Value = h.Ends.encode()
	return h.Key, nil
}

// StoreList makes a list of items in place of whatever is in a slot.
func StoreList(v *View, s *Slot, items [][]byte) error {
	k, err := NewList(v, items)
	if err != nil {
		return err
	}
	k.Created = s.Key.Created
	return v.Write(s, k)
}

package redis

import "github.com/firndb/firn"

// Whole collections, for the commands that take or make one of any type, such as
// SORT, DUMP and RESTORE. A limit of 0 is none.

// walkList visits the items of a list in order, from the end if reverse. What
// is visited belongs to the store.
func walkList(v *View, k *keyDoc, limit int64, reverse bool, visit func(item []byte) error) error {
	q, err := sequenceOf(k)
	if err != nil {
		return err
	}
	for it, err := range q.items(v, 0, limited(q.length, limit), reverse) {
		if err != nil {
			return err
		}
		if err := visit(it.value); err != nil {
			return err
		}
	}
	return nil
}

// walkSet visits the members of a set in the order of their bytes. A set that
// has not as many as its key says is errDamaged.
func walkSet(v *View, k *keyDoc, limit int64, visit func(member string) error) error {
	prefix := v.prefixOf(k.UID)
	prefixBytes := len(prefix)
	r := firn.Range{Index: v.elements.ByID(), Prefix: prefix, Limit: int(limit)}
	var n int64
	for item, err := range v.R.Scan(r) {
		if err != nil {
			return err
		}
		member, err := memberOf(item.Key, prefixBytes)
		if err != nil {
			return err
		}
		if err := visit(member); err != nil {
			return err
		}
		n++
	}
	if n != limited(k.Length, limit) {
		return damagedSet(k, n)
	}
	return nil
}

// walkZSet visits the members of a sorted set by their scores, downwards if
// reverse.
func walkZSet(v *View, k *keyDoc, limit int64, reverse bool, visit func(member []byte, score float64) error) error {
	return eachByRank(v, k, 0, limited(k.Length, limit), reverse, func(m rated) error {
		return visit([]byte(m.member), m.score)
	})
}

func limited(n, limit int64) int64 {
	if limit == 0 {
		return n
	}
	return min(n, limit)
}

// newList stores the items of a list that begins, and returns the key document
// that it needs. They are copied; there is at least one.
func newList(v *View, items [][]byte) (keyDoc, error) {
	q := sequence{uid: v.newUID()}
	for _, item := range items {
		if err := q.push(v, own(item), true); err != nil {
			return keyDoc{}, err
		}
	}
	return keyDoc{Kind: kindList, UID: q.uid, Length: q.length, Value: q.appendNote(nil)}, nil
}

// newSet is newList for the members of a set, which are different ones.
func newSet(v *View, members [][]byte) (keyDoc, error) {
	k := keyDoc{Kind: kindSet, UID: v.newUID(), Length: int64(len(members))}
	for _, member := range members {
		if !v.encodings.setFits(k.Length, member) {
			k.Encoding = large
		}
		if err := v.Tx.Put(v.elements, v.elementID(k.UID, member), noValue); err != nil {
			return keyDoc{}, err
		}
	}
	return k, nil
}

// newZSet is newSet for a sorted set. No score is NaN.
func newZSet(v *View, members [][]byte, scores []float64) (keyDoc, error) {
	var s slot
	e := replaceZSet(v, &s)
	longest := 0
	for _, member := range members {
		longest = max(longest, len(member))
	}
	e.foresee(len(members), longest)
	for i, member := range members {
		if err := e.put(member, scores[i], 0, false); err != nil {
			return keyDoc{}, err
		}
	}
	return s.key, nil
}

// newHash is newSet for fields and values in turn. ends, if there are any, are
// those of the fields, in ms, 0 for never; the fields that have ended are left
// out, and the hash has no fields if all have.
func newHash(v *View, items [][]byte, ends []int64) (keyDoc, error) {
	h := openedHash{slot: slot{key: keyDoc{Kind: kindHash, UID: v.newUID()}}}
	for i := 0; i < len(items); i += 2 {
		field, end := items[i], int64(0)
		if ends != nil {
			end = ends[i/2]
		}
		if end != 0 && end <= v.now() {
			continue
		}
		if err := h.put(v, v.elementID(h.key.UID, field), field, items[i+1], true); err != nil {
			return keyDoc{}, err
		}
		if end == 0 {
			continue
		}
		if err := h.setEnd(v, field, 0, end); err != nil {
			return keyDoc{}, err
		}
	}
	h.key.Value = h.ends.encode()
	return h.key, nil
}

// storeList makes a list of items in place of whatever is in a slot.
func storeList(v *View, s *slot, items [][]byte) error {
	k, err := newList(v, items)
	if err != nil {
		return err
	}
	k.Created = s.key.Created
	return v.write(s, k)
}

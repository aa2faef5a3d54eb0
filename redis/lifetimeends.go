package redis

import (
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// A field that expires has a document in the table lifetimes, with the id that
// the field has in elements: its value is the field's end in milliseconds
// since the Unix epoch, as a MessagePack integer. The index end leads from
// (collection uid, end, field) to it.
//
// What a hash's key document keeps about all its lifetimes is its value, nil
// for a hash that has none: a MessagePack array of three integers,
//
//	0  int  how many fields have an end, 1 and up
//	1  int  the earliest end, in ms
//	2  int  the latest end, in ms
//
// For example, two fields that end at 1000 and 70000:
//
//	93 02 cd 03e8 ce 00011170
//
// Both ends are exact, so a key document alone says whether any field has
// ended and whether all have, in which case there is no such key. Reads judge
// fields by the moment that they read; the sweeper removes them afterwards.
// Until then they count in the key's length.

// fieldEnds is a hash's summary of its lifetimes. The zero value is that of a
// hash without any.
type fieldEnds struct {
	count       int64
	first, last int64 // ms; 0 if count is
}

// encode is the summary as a hash's key document keeps it.
func (e fieldEnds) encode() []byte {
	if e.count == 0 {
		return nil
	}
	b := append(make([]byte, 0, 1+sizeUint(e.count)+sizeUint(e.first)+sizeUint(e.last)), 0x93)
	b = appendUint(b, uint64(e.count))
	b = appendUint(b, uint64(e.first))
	return appendUint(b, uint64(e.last))
}

// parseFieldEnds undoes encode; ok is false if b is not what it writes.
func parseFieldEnds(b []byte) (e fieldEnds, ok bool) {
	if b == nil {
		return fieldEnds{}, true
	}
	d := decoder{b: b}
	d.expect(0x93)
	e = fieldEnds{d.int(), d.int(), d.int()}
	return e, !d.bad && len(d.b) == 0 && e.count > 0 && e.first <= e.last
}

// fieldEnds is the summary of a hash that parseKeyDoc has accepted.
func (k *keyDoc) fieldEnds() fieldEnds {
	if k.Value == nil || k.Kind != kindHash {
		return fieldEnds{}
	}
	e, _ := parseFieldEnds(k.Value)
	return e
}

// soundEnds says whether what a hash keeps about its lifetimes can be read.
func (k *keyDoc) soundEnds() bool {
	_, ok := parseFieldEnds(k.Value)
	return ok
}

// mayEnd says whether a key, or any of a hash's fields, has an end.
func (k *keyDoc) mayEnd() bool { return k.Expires != 0 || k.Kind == kindHash && k.Value != nil }

// firstEnd is when the first of a key and its fields ends, in ms; 0 if nothing
// does.
func (k *keyDoc) firstEnd() int64 {
	if k.Value == nil || k.Kind != kindHash {
		return k.Expires
	}
	if first := k.fieldEnds().first; first != 0 && (k.Expires == 0 || first < k.Expires) {
		return first
	}
	return k.Expires
}

// ended says whether a key is gone at now ms: it has expired, or it is a hash
// all of whose fields have.
func (k *keyDoc) ended(now int64) bool {
	if expired(k.Expires, now) {
		return true
	}
	if k.Value == nil || k.Kind != kindHash {
		return false
	}
	e := k.fieldEnds()
	return e.count == k.Length && expired(e.last, now)
}

// appendLifetime appends the value of a lifetime.
func appendLifetime(dst []byte, end int64) []byte { return appendUint(dst, uint64(end)) }

// parseLifetime undoes appendLifetime; ok is false if b is not what it writes.
func parseLifetime(b []byte) (end int64, ok bool) {
	d := decoder{b: b}
	end = d.int()
	return end, !d.bad && len(d.b) == 0
}

// endKeys finds the lifetime of a hash's field by its end. A damaged document
// is in no index: reading it is the error.
func endKeys(id string, value []byte, add func(key []byte)) {
	end, ok := parseLifetime(value)
	n, found := tuple.PrefixLen(id, 2)
	if !ok || !found {
		return
	}
	key := append(make([]byte, 0, 9+len(id)), id[:n]...)
	add(append(tuple.AppendInt(key, end), id[n:]...))
}

// noteBackdated tells the sweeper of an end that it may have passed.
func (t *catalog) noteBackdated(end int64) {
	for {
		noted := t.backdated.Load()
		if noted != 0 && noted <= end || t.backdated.CompareAndSwap(noted, end) {
			return
		}
	}
}

// endedRange is the lifetimes of a hash that have ended at now ms, earliest
// first, at most limit.
func (t *catalog) endedRange(u uid, e fieldEnds, now int64, limit int) firn.Range {
	prefix := appendUID(nil, u)
	return firn.Range{
		Index: t.byEnd,
		From:  tuple.AppendInt(prefix[:len(prefix):len(prefix)], e.first),
		To:    tuple.AppendInt(prefix[:len(prefix):len(prefix)], now),
		Limit: limit,
	}
}

// fieldEnd is when a field of a hash expires; 0 if it does not.
func fieldEnd(v *View, u uid, field []byte) (end int64, err error) {
	doc, err := v.R.Get(v.lifetimes, v.elementID(u, field))
	if err == firn.ErrNotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	end, ok := parseLifetime(doc.Value)
	if !ok {
		return 0, fmt.Errorf("lifetime %q at %d: %w", doc.ID, doc.TS, errDamaged)
	}
	return end, nil
}

// fieldValue reads a field of a live hash; ok is false if it is not there or has
// ended.
func fieldValue(v *View, k *keyDoc, name []byte) (value []byte, ok bool, err error) {
	value, ok, err = v.element(k.UID, name)
	if err != nil || !ok || k.Value == nil || !expired(k.fieldEnds().first, v.now()) {
		return value, ok, err
	}
	end, err := fieldEnd(v, k.UID, name)
	if err != nil || expired(end, v.now()) {
		return nil, false, err
	}
	return value, true, nil
}

// endedFields are the fields of a hash that have ended and were not swept
// yet, as they stand in ids behind the collection's uid; nil if there are none.
func endedFields(v *View, k *keyDoc) (map[string]bool, error) {
	if k.Value == nil {
		return nil, nil
	}
	e := k.fieldEnds()
	if !expired(e.first, v.now()) {
		return nil, nil
	}
	gone := map[string]bool{}
	prefix := len(appendUID(nil, k.UID))
	for item, err := range v.R.Scan(v.endedRange(k.UID, e, v.now(), 0)) {
		if err != nil {
			return nil, err
		}
		gone[item.Doc.ID[prefix:]] = true
	}
	return gone, nil
}

// hashLength is how many fields of a live hash are there; of another key it is
// the length.
func hashLength(v *View, k *keyDoc) (int64, error) {
	e := k.fieldEnds()
	if e.count == 0 || !expired(e.first, v.now()) {
		return k.Length, nil
	}
	gone, err := v.R.CountRange(v.endedRange(k.UID, e, v.now(), 0)) // and not swept yet
	return k.Length - int64(gone), err
}

// setEnd lets a field of an opened hash expire, which would have at old; 0 if
// it would not.
func (h *openedHash) setEnd(v *View, field []byte, old, end int64) error {
	h.forgetEnd(old)
	if h.ends.count == 0 {
		h.ends, h.stale = fieldEnds{first: end, last: end}, false
	}
	h.ends.count++
	h.ends.first, h.ends.last = min(h.ends.first, end), max(h.ends.last, end)
	return v.Tx.Put(v.lifetimes, v.elementID(h.key.UID, field), appendLifetime(nil, end))
}

// dropEnd lets a field of an opened hash expire no more, and returns when it
// would have; 0 if it would not.
func (h *openedHash) dropEnd(v *View, field []byte) (end int64, err error) {
	if h.ends.count == 0 {
		return 0, nil
	}
	end, err = fieldEnd(v, h.key.UID, field)
	if err != nil || end == 0 {
		return 0, err
	}
	return end, h.deleteEnd(v, field, end)
}

// deleteEnd is dropEnd for a field whose end is known.
func (h *openedHash) deleteEnd(v *View, field []byte, end int64) error {
	h.forgetEnd(end)
	return v.Tx.Delete(v.lifetimes, v.elementID(h.key.UID, field), nil)
}

// forgetEnd takes a field's end, if it has one, out of the summary.
func (h *openedHash) forgetEnd(end int64) {
	if end == 0 {
		return
	}
	h.ends.count--
	h.stale = h.stale || end == h.ends.first || end == h.ends.last
}

// refreshEnds makes the summary of an opened hash exact again, once per
// command: it looks at both ends of the index.
func (h *openedHash) refreshEnds(v *View) error {
	var err error
	h.ends, err = v.nearestEnds(v.R, h.key.UID, h.ends, h.from)
	h.stale = false
	return err
}

// nearestEnds looks up the earliest and the latest end of a hash, of which
// bounds are known. There is none before from, a key of the index, unless that
// is nil.
func (t *catalog) nearestEnds(r firn.Reader, u uid, bounds fieldEnds, from []byte) (fieldEnds, error) {
	if bounds.count == 0 {
		return fieldEnds{}, nil
	}
	prefix := appendUID(nil, u)
	near := firn.Range{
		Index: t.byEnd,
		From:  tuple.AppendInt(prefix[:len(prefix):len(prefix)], bounds.first),
		To:    tuple.AppendInt(prefix[:len(prefix):len(prefix)], bounds.last+1),
		Limit: 1,
	}
	if from != nil {
		near.From = from
	}
	exact := fieldEnds{count: bounds.count}
	for _, found := range []*int64{&exact.first, &exact.last} {
		for item, err := range r.Scan(near) {
			if err != nil {
				return exact, err
			}
			if *found, _, err = tuple.TakeInt(item.Key[len(prefix):]); err != nil {
				return exact, fmt.Errorf("end of a field: %w: %w", errDamaged, err)
			}
		}
		near.Reverse = true
	}
	if exact.first == 0 || exact.last == 0 {
		return exact, fmt.Errorf("hash %d/%d has no lifetimes, its key says %d: %w", u.TS, u.N, bounds.count, errDamaged)
	}
	return exact, nil
}

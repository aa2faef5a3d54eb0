package keyspace

import (
	"bytes"
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// operationFieldsExpired is the operation of the versions with which the
// sweeper removes fields that have ended.
const operationFieldsExpired = "hexpired"

// EndOf says whether a hash that may not be there has a field, and when
// that ends, 0 for never.
func (h *OpenedHash) EndOf(v *View, field []byte) (ok bool, end int64, err error) {
	if !h.Live {
		return false, 0, nil
	}
	if _, ok, err = v.Element(h.Key.UID, field); err != nil || !ok || h.Ends.Count == 0 && !v.R.Recorded() {
		return ok, 0, err
	}
	end, err = FieldEnd(v, h.Key.UID, field)
	return !Expired(end, v.Now()), end, err
}

// sweep removes up to limit fields that have ended from a hash that
// lives on, and returns how many. from is a key of their index: if it is of
// this hash, no field before it has an end. last is the key of the last field
// that was removed.
func (h *OpenedHash) sweep(v *View, from []byte, limit int) (n int, last []byte, err error) {
	ended := v.endedRange(h.Key.UID, h.Ends, v.Now(), limit)
	if bytes.HasPrefix(from, AppendUID(nil, h.Key.UID)) && bytes.Compare(from, ended.From) > 0 {
		ended.From = from
	}
	h.from = ended.From
	var due []*firn.Document
	for item, err := range v.R.Scan(ended) {
		if err != nil {
			return 0, nil, err
		}
		h.from = []byte(item.Key)
		due = append(due, item.Doc)
	}
	for _, doc := range due {
		end, _ := ParseLifetime(doc.Value)
		if err := h.dropEnded(v, []byte(doc.ID), end); err != nil {
			return 0, nil, err
		}
	}
	return len(due), h.from, h.Close(v)
}

// dropEnded removes a field that has ended, with the id that its element and
// its lifetime have in common.
func (h *OpenedHash) dropEnded(v *View, id []byte, end int64) error {
	h.forgetEnd(end)
	h.Key.Length--
	if err := v.Tx.Delete(v.lifetimes, id, nil); err != nil {
		return err
	}
	return v.Tx.Delete(v.Elements, id, nil)
}

// noteBackdated tells the sweeper of an end that it may have passed.
func (t *Catalog) noteBackdated(end int64) {
	for {
		noted := t.backdated.Load()
		if noted != 0 && noted <= end || t.backdated.CompareAndSwap(noted, end) {
			return
		}
	}
}

// endedRange is the lifetimes of a hash that have ended at now ms, earliest
// first, at most limit.
func (t *Catalog) endedRange(u UID, e FieldEnds, now int64, limit int) firn.Range {
	prefix := AppendUID(nil, u)
	return firn.Range{
		Index: t.ByEnd,
		From:  tuple.AppendInt(prefix[:len(prefix):len(prefix)], e.First),
		To:    tuple.AppendInt(prefix[:len(prefix):len(prefix)], now),
		Limit: limit,
	}
}

// FieldEnd is when a field of a hash expires; 0 if it does not.
func FieldEnd(v *View, u UID, field []byte) (end int64, err error) {
	doc, err := readDoc(v, v.lifetimes, v.ElementID(u, field))
	if err == firn.ErrNotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	end, ok := ParseLifetime(doc.Value)
	if !ok {
		return 0, fmt.Errorf("lifetime %q at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	until(v, end)
	return end, nil
}

// FieldValue reads a field of a live hash; ok is false if it is not there or has
// ended.
func FieldValue(v *View, k *KeyDoc, name []byte) (value []byte, ok bool, err error) {
	value, ok, err = v.Element(k.UID, name)
	if err != nil || !ok || !v.R.Recorded() && (k.Value == nil || !Expired(k.FieldEnds().First, v.Now())) {
		return value, ok, err
	}
	end, err := FieldEnd(v, k.UID, name)
	if err != nil || Expired(end, v.Now()) {
		return nil, false, err
	}
	return value, true, nil
}

// EndedFields are the fields of a hash that have ended and were not swept
// yet, as they stand in ids behind the collection's uid; nil if there are none.
func EndedFields(v *View, k *KeyDoc) (map[string]bool, error) {
	if k.Value == nil {
		return nil, nil
	}
	if err := untilNextEnd(v, k); err != nil {
		return nil, err
	}
	e := k.FieldEnds()
	if !Expired(e.First, v.Now()) {
		return nil, nil
	}
	gone := map[string]bool{}
	prefix := len(AppendUID(nil, k.UID))
	for item, err := range v.R.Scan(v.endedRange(k.UID, e, v.Now(), 0)) {
		if err != nil {
			return nil, err
		}
		gone[item.Doc.ID[prefix:]] = true
	}
	return gone, nil
}

// HashLength is how many fields of a live hash are there; of another key it is
// the length.
func HashLength(v *View, k *KeyDoc) (int64, error) {
	e := k.FieldEnds()
	if err := untilNextEnd(v, k); err != nil || e.Count == 0 || !Expired(e.First, v.Now()) {
		return k.Length, err
	}
	gone, err := v.R.CountRange(v.endedRange(k.UID, e, v.Now(), 0)) // and not swept yet
	return k.Length - int64(gone), err
}

// SetEnd lets a field of an opened hash expire, which would have at old; 0 if
// it would not.
func (h *OpenedHash) SetEnd(v *View, field []byte, old, end int64) error {
	h.forgetEnd(old)
	if h.Ends.Count == 0 {
		h.Ends, h.stale = FieldEnds{First: end, Last: end}, false
	}
	h.Ends.Count++
	h.Ends.First, h.Ends.Last = min(h.Ends.First, end), max(h.Ends.Last, end)
	return v.Tx.Put(v.lifetimes, v.ElementID(h.Key.UID, field), appendLifetime(nil, end))
}

// dropEnd lets a field of an opened hash expire no more, and returns when it
// would have; 0 if it would not.
func (h *OpenedHash) dropEnd(v *View, field []byte) (end int64, err error) {
	if h.Ends.Count == 0 {
		return 0, nil
	}
	end, err = FieldEnd(v, h.Key.UID, field)
	if err != nil || end == 0 {
		return 0, err
	}
	return end, h.DeleteEnd(v, field, end)
}

// DeleteEnd is dropEnd for a field whose end is known.
func (h *OpenedHash) DeleteEnd(v *View, field []byte, end int64) error {
	h.forgetEnd(end)
	return v.Tx.Delete(v.lifetimes, v.ElementID(h.Key.UID, field), nil)
}

// forgetEnd takes a field's end, if it has one, out of the summary.
func (h *OpenedHash) forgetEnd(end int64) {
	if end == 0 {
		return
	}
	h.Ends.Count--
	h.stale = h.stale || end == h.Ends.First || end == h.Ends.Last
}

// refreshEnds makes the summary of an opened hash exact again, once per
// command: it looks at both ends of the index.
func (h *OpenedHash) refreshEnds(v *View) error {
	var err error
	h.Ends, err = v.nearestEnds(v.R, h.Key.UID, h.Ends, h.from)
	h.stale = false
	return err
}

// nearestEnds looks up the earliest and the latest end of a hash, of which
// bounds are known. There is none before from, a key of the index, unless that
// is nil.
func (t *Catalog) nearestEnds(r firn.Reader, u UID, bounds FieldEnds, from []byte) (FieldEnds, error) {
	if bounds.Count == 0 {
		return FieldEnds{}, nil
	}
	prefix := AppendUID(nil, u)
	near := firn.Range{
		Index: t.ByEnd,
		From:  tuple.AppendInt(prefix[:len(prefix):len(prefix)], bounds.First),
		To:    tuple.AppendInt(prefix[:len(prefix):len(prefix)], bounds.Last+1),
		Limit: 1,
	}
	if from != nil {
		near.From = from
	}
	exact := FieldEnds{Count: bounds.Count}
	for _, found := range []*int64{&exact.First, &exact.Last} {
		for item, err := range r.Scan(near) {
			if err != nil {
				return exact, err
			}
			if *found, _, err = tuple.TakeInt(item.Key[len(prefix):]); err != nil {
				return exact, fmt.Errorf("end of a field: %w: %w", ErrDamaged, err)
			}
		}
		near.Reverse = true
	}
	if exact.First == 0 || exact.Last == 0 {
		return exact, fmt.Errorf("hash %d/%d has no lifetimes, its key says %d: %w", u.TS, u.N, bounds.Count, ErrDamaged)
	}
	return exact, nil
}

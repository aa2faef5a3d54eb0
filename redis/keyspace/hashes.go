package keyspace

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Element is the value of one element of a collection; ok is false if it is
// not there.
func (v *View) Element(u UID, sub []byte) (value []byte, ok bool, err error) {
	doc, err := readDoc(v, v.Elements, tuple.AppendBytes(AppendUID(v.Room(), u), sub)) // read at once, so not kept
	if err == firn.ErrNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return doc.Value, true, nil
}

// OpenedHash is a hash that a command is about to write.
type OpenedHash struct {
	Slot
	Ends  FieldEnds // what becomes of the key's value
	stale bool      // ends.first or ends.last may no longer be exact
	from  []byte    // a key of the index of ends, before which the hash has none; nil: that is not known
}

// OpenFields opens a key to change the fields of the hash there. It may not be there.
func OpenFields(v *View, key []byte) (h OpenedHash, err error) {
	h.Slot, err = v.OpenKind(key, KindHash)
	if err == nil && h.Live {
		h.Ends = h.Key.FieldEnds()
	}
	return h, err
}

// OpenHash opens a key to add fields to the hash there. A key that is not there becomes
// a hash without fields, which the command must not leave so.
func OpenHash(v *View, key []byte) (OpenedHash, error) {
	h, err := OpenFields(v, key)
	if err == nil && !h.Live {
		h.Key = KeyDoc{Kind: KindHash, UID: v.NewUID()}
	}
	return h, err
}

// Close writes the key of a hash whose fields have changed; one without
// fields that live it removes.
func (h *OpenedHash) Close(v *View) error {
	if h.stale {
		if err := h.refreshEnds(v); err != nil {
			return err
		}
	}
	h.Key.Value = h.Ends.encode()
	if h.Key.Length > 0 && !h.Key.Ended(v.Now()) {
		return v.Write(&h.Slot, h.Key)
	}
	return v.Delete(&h.Slot)
}

// Set stores a field in h.key, whose document the caller writes after the
// last one, and says whether it is new. A field that would expire does so no
// more. One that has the value already is not written again: the key's new
// version says that the command came.
func (h *OpenedHash) Set(v *View, field, value []byte) (added bool, err error) {
	id := v.ElementID(h.Key.UID, field)
	doc, err := readDoc(v, v.Elements, id)
	if err != nil && err != firn.ErrNotFound {
		return false, err
	}
	added = err != nil
	if !added && h.Ends.Count > 0 {
		end, err := h.dropEnd(v, field)
		if err != nil {
			return false, err
		}
		if added = Expired(end, v.Now()); added {
			h.Key.Length--
		}
	}
	if !added && bytes.Equal(doc.Value, value) {
		return false, nil
	}
	return added, h.Put(v, id, field, value, added)
}

// Put stores a field of which it is known whether it is new.
func (h *OpenedHash) Put(v *View, id, field, value []byte, added bool) error {
	if added {
		h.Key.Length++
	}
	if !v.Encodings.hashFits(h.Key.Length, field, value) {
		h.Key.Encoding = Large
	}
	return v.Tx.Put(v.Elements, id, Own(value))
}

// Drop removes a field that is there.
func (h *OpenedHash) Drop(v *View, field []byte) error {
	if _, err := h.dropEnd(v, field); err != nil {
		return err
	}
	h.Key.Length--
	return v.Tx.Delete(v.Elements, v.ElementID(h.Key.UID, field), nil)
}

// EachField visits all fields of a hash that have not ended, in the order of
// their bytes. Both are good during the visit only. A hash that has not
// as many as its key says is ErrDamaged.
func EachField(v *View, k *KeyDoc, visit func(field, value []byte) error) error {
	gone, err := EndedFields(v, k)
	if err != nil {
		return err
	}
	prefix := v.PrefixOf(k.UID)
	n := len(prefix)
	var seen int64
	for item, err := range v.R.Scan(firn.Range{Index: v.Elements.ByID(), Prefix: prefix, Lent: true}) {
		if err != nil {
			return err
		}
		seen++
		if gone != nil && gone[item.Key[n:]] {
			continue
		}
		field, err := v.SubKey(item.Key, n)
		if err != nil {
			return err
		}
		if err := visit(field, item.Doc.Value); err != nil {
			return err
		}
	}
	if seen != k.Length {
		return fmt.Errorf("hash %d/%d has %d fields, its key says %d: %w", k.UID.TS, k.UID.N, seen, k.Length, ErrDamaged)
	}
	return nil
}

// LiveFields are the fields of a hash that have not ended, by rank among each
// other.
type LiveFields struct {
	All  *firn.Ordered
	Gone []int // ranks among all of those that have ended, ascending
	N    int   // how many live, 1 and up
}

// ReadLiveFields orders the fields of a live hash. One that has not as many as its
// key says is ErrDamaged.
func ReadLiveFields(v *View, k *KeyDoc) (f LiveFields, err error) {
	ended, err := EndedFields(v, k)
	if err != nil {
		return f, err
	}
	prefix := v.PrefixOf(k.UID)
	if f.All, err = v.R.Ordered(v.Elements.ByID(), prefix); err != nil {
		return f, err
	}
	for sub := range ended {
		rank, found, err := f.All.Rank(append(prefix[:len(prefix):len(prefix)], sub...))
		if err != nil {
			return f, err
		}
		if found {
			f.Gone = append(f.Gone, rank)
		}
	}
	slices.Sort(f.Gone)
	f.N = f.All.Len() - len(f.Gone)
	if f.N < 1 || int64(f.All.Len()) != k.Length || len(f.Gone) != len(ended) {
		return f, fmt.Errorf("hash %d/%d has %d fields and %d ends, its key says %d: %w",
			k.UID.TS, k.UID.N, f.All.Len(), len(ended), k.Length, ErrDamaged)
	}
	return f, nil
}

// At is the i-th field that lives.
func (f *LiveFields) At(i int) (firn.Item, error) {
	// The ended fields before it are those with at most i living ones before them.
	skipped := sort.Search(len(f.Gone), func(g int) bool { return f.Gone[g]-g > i })
	return f.All.At(i + skipped)
}

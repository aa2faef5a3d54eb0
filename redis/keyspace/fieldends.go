package keyspace

import (
	"github.com/firndb/firn/internal/pack"
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

// FieldEnds is a hash's summary of its lifetimes. The zero value is that of a
// hash without any.
type FieldEnds struct {
	Count       int64
	First, Last int64 // ms; 0 if count is
}

// encode is the summary as a hash's key document keeps it.
func (e FieldEnds) encode() []byte {
	if e.Count == 0 {
		return nil
	}
	b := append(make([]byte, 0, 1+pack.SizeUint(e.Count)+pack.SizeUint(e.First)+pack.SizeUint(e.Last)), 0x93)
	b = pack.AppendUint(b, uint64(e.Count))
	b = pack.AppendUint(b, uint64(e.First))
	return pack.AppendUint(b, uint64(e.Last))
}

// parseFieldEnds undoes encode; ok is false if b is not what it writes.
func parseFieldEnds(b []byte) (e FieldEnds, ok bool) {
	if b == nil {
		return FieldEnds{}, true
	}
	d := pack.Decoder{B: b}
	d.Expect(0x93)
	e = FieldEnds{d.Int(), d.Int(), d.Int()}
	return e, !d.Bad && len(d.B) == 0 && e.Count > 0 && e.First <= e.Last
}

// FieldEnds is the summary of a hash that ParseKeyDoc has accepted.
func (k *KeyDoc) FieldEnds() FieldEnds {
	if k.Value == nil || k.Kind != KindHash {
		return FieldEnds{}
	}
	e, _ := parseFieldEnds(k.Value)
	return e
}

// soundEnds says whether what a hash keeps about its lifetimes can be read.
func (k *KeyDoc) soundEnds() bool {
	_, ok := parseFieldEnds(k.Value)
	return ok
}

// MayEnd says whether a key, or any of a hash's fields, has an end.
func (k *KeyDoc) MayEnd() bool { return k.Expires != 0 || k.Kind == KindHash && k.Value != nil }

// firstEnd is when the first of a key and its fields ends, in ms; 0 if nothing
// does.
func (k *KeyDoc) firstEnd() int64 {
	if k.Value == nil || k.Kind != KindHash {
		return k.Expires
	}
	if first := k.FieldEnds().First; first != 0 && (k.Expires == 0 || first < k.Expires) {
		return first
	}
	return k.Expires
}

// Ended says whether a key is gone at now ms: it has expired, or it is a hash
// all of whose fields have.
func (k *KeyDoc) Ended(now int64) bool {
	if Expired(k.Expires, now) {
		return true
	}
	if k.Value == nil || k.Kind != KindHash {
		return false
	}
	e := k.FieldEnds()
	return e.Count == k.Length && Expired(e.Last, now)
}

// appendLifetime appends the value of a lifetime.
func appendLifetime(dst []byte, end int64) []byte { return pack.AppendUint(dst, uint64(end)) }

// ParseLifetime undoes appendLifetime; ok is false if b is not what it writes.
func ParseLifetime(b []byte) (end int64, ok bool) {
	d := pack.Decoder{B: b}
	end = d.Int()
	return end, !d.Bad && len(d.B) == 0
}

// endKeys finds the lifetime of a hash's field by its end. A damaged document
// is in no index: reading it is the error.
func endKeys(id string, value []byte, add func(key []byte)) {
	end, ok := ParseLifetime(value)
	n, found := tuple.PrefixLen(id, 2)
	if !ok || !found {
		return
	}
	key := append(make([]byte, 0, 9+len(id)), id[:n]...)
	add(append(tuple.AppendInt(key, end), id[n:]...))
}

// Expired says whether a key that ends at expires ms is gone at now ms. Like
// Redis's, a key lives through the millisecond that it ends in.
func Expired(expires, now int64) bool { return expires != 0 && expires < now }

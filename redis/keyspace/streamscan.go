package keyspace

import (
	"iter"
	"slices"

	"github.com/firndb/firn"
)

// IDSpan is an interval of ids, both ends included.
type IDSpan struct{ From, To StreamID }

// Whole is all of a stream, which begins at its first entry.
func (st *Stream) Whole() IDSpan { return IDSpan{st.First, st.Last} }

// within cuts an interval down to where the stream has entries, unless it is
// open behind its last one; ok is false if nothing is left.
func (st *Stream) within(s IDSpan, open bool) (IDSpan, bool) {
	if s.From.Less(st.First) {
		s.From = st.First
	}
	if st.Last.Less(s.To) && !open {
		s.To = st.Last
	}
	return s, st.First != (StreamID{}) && !s.To.Less(s.From)
}

// A stream with no more entries than smallStream, alive and dead, is read as
// a whole when it is read, and then stays in memory; of a larger one only what
// was asked for is looked up.
const smallStream = 512

// StreamEntries walks over the entries of a stream in an interval, at most
// limit of them; 0 is all.
func StreamEntries(v *View, k *KeyDoc, st *Stream, s IDSpan, reverse bool, limit int64) iter.Seq2[StreamEntry, error] {
	recorded := v.R.Recorded()
	s, some := st.within(s, recorded)
	some = some && k.Length > 0
	u, small := k.UID, !recorded && k.Length <= smallStream && st.Added <= k.Length+smallStream
	return func(yield func(StreamEntry, error) bool) {
		if !some {
			return
		}
		prefixBytes := len(v.PrefixOf(u))
		items, err := entryItems(v, u, small, s, reverse)
		if err != nil {
			yield(StreamEntry{}, err)
			return
		}
		n := int64(0)
		for item, err := range items {
			var e StreamEntry
			if err == nil {
				e, err = ParseStreamEntry(item.Doc, prefixBytes)
			}
			if err != nil {
				yield(e, err)
				return
			}
			if s.To.Less(e.ID) || e.ID.Less(s.From) || !yield(e, nil) {
				return
			}
			if n++; n == limit {
				return
			}
		}
	}
}

// entryItems are the documents of entries from one end of an interval on, to
// its other end or beyond.
func entryItems(v *View, u UID, small bool, s IDSpan, reverse bool) (iter.Seq2[firn.Item, error], error) {
	index := v.Elements.ByID()
	from := slices.Clone(EntryID(v, u, s.From))
	to := slices.Clone(EntryID(v, u, s.To))
	if !small {
		return v.R.Scan(firn.Range{Index: index, From: from, To: append(to, 0), Reverse: reverse}), nil
	}
	all, err := v.R.Ordered(index, v.PrefixOf(u))
	switch {
	case err != nil:
		return nil, err
	case reverse:
		return all.Descend(to), nil
	}
	return all.Ascend(from), nil
}

// EntryAt is the entry of an id; ok is false if it is not there.
func EntryAt(v *View, k *KeyDoc, st *Stream, id StreamID) (e StreamEntry, ok bool, err error) {
	if id.Less(st.First) || st.Last.Less(id) || k.Length == 0 {
		return e, false, nil
	}
	prefixBytes := len(v.PrefixOf(k.UID))
	doc, err := readDoc(v, v.Elements, EntryID(v, k.UID, id))
	if err == firn.ErrNotFound {
		return e, false, nil
	}
	if err == nil {
		e, err = ParseStreamEntry(doc, prefixBytes)
	}
	return e, err == nil, err
}

// EntryID is the id of an entry's document.
func EntryID(v *View, u UID, id StreamID) []byte {
	return v.Keep(id.AppendKey(AppendUID(v.Room(), u)))
}

// entryAfter is the first entry after an id; ok is false if there is none.
func entryAfter(v *View, k *KeyDoc, st *Stream, id StreamID) (e StreamEntry, ok bool, err error) {
	from, some := id.Next()
	if !some {
		return e, false, nil
	}
	for e, err := range StreamEntries(v, k, st, IDSpan{from, st.Last}, false, 1) {
		return e, err == nil, err
	}
	return e, false, nil
}

// LastEntry is the id of the last entry; zero if there is none.
func LastEntry(v *View, k *KeyDoc, st *Stream) (id StreamID, err error) {
	for e, err := range StreamEntries(v, k, st, st.Whole(), true, 1) {
		return e.ID, err
	}
	return StreamID{}, nil
}

// ParseIDSpan reads both ends of an interval.
func ParseIDSpan(from, to []byte) (s IDSpan, err error) {
	if s.From, err = ParseFirstID(from); err != nil {
		return s, err
	}
	s.To, err = parseLastID(to)
	return s, err
}

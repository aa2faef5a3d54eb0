package firn

import (
	"fmt"
	"iter"

	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// Reader is what a Snapshot and a Tx have in common: reading the store at one
// moment.
type Reader interface {
	// Moment is the moment that is read, by which anything that expires is
	// judged: for the present, now.
	Moment() Timestamp

	// Get is a document's live version; ErrNotFound, bare, if there is none.
	Get(t *Table, id []byte) (*Document, error)

	// GetInto is Get for who reads much and keeps nothing: what it returns is
	// into, with the content in the memory of into.Value if that suffices, or a
	// document that is shared. It is good until into is used again, and must
	// not be modified.
	GetInto(t *Table, id []byte, into *Document) (*Document, error)

	// GetAspect is GetInto for who reads only one of the table's aspects, see
	// TableSpec.Aspects, of which the first is 1: where it is recorded what is
	// read, that. 0 is the whole document.
	GetAspect(t *Table, id []byte, aspect int, into *Document) (*Document, error)

	// Until says that what is read holds until a moment at most, because that
	// ends something: where it is recorded what is read, the answer is stale
	// then.
	Until(ts Timestamp)

	// Recorded says that it is recorded what is read.
	Recorded() bool

	// Last is a document's newest version, also when that is a tombstone;
	// ErrNotFound, bare, if there never was one.
	Last(t *Table, id []byte) (*Document, error)

	// Scan walks live documents in the order of an index. The iteration ends
	// after an error.
	Scan(r Range) iter.Seq2[Item, error]

	// Ordered is a whole range with the operations of a sorted list. prefix
	// has as many elements as the table, or the index, declares. It is counted
	// for that, and kept in memory as far as it fits.
	Ordered(x *Index, prefix []byte) (*Ordered, error)

	// Keys walks the keys of a range without reading the documents, all but
	// the first skip. What it yields in a Tx is valid until the next write, and
	// so is the walk.
	Keys(r Range, skip int) iter.Seq2[string, error]

	// CountRange is the number of entries of a range, whatever its Limit. It
	// counts them, unless the range is in memory.
	CountRange(r Range) (int, error)

	// Warm does what Ordered does to bring a range into memory, if it has
	// about n entries and their counts fit there, and says whether it is there
	// now. With n 0 it does so only if the file has the counts, as it has of
	// large ranges: that takes some milliseconds.
	Warm(x *Index, prefix []byte, n int) (held bool, err error)

	// Count is the number of live documents whose id has a prefix.
	Count(t *Table, prefix []byte) (int, error)

	// InMemory reports whether Ordered would find the range in memory.
	InMemory(x *Index, prefix []byte) bool

	// Versions walks the versions of one document, tombstones included, as far
	// back as it can be read, without a gap. With a Limit it costs as much as it
	// yields: the oldest version is found at once, however many there are.
	Versions(t *Table, id []byte, r VersionRange) iter.Seq2[*Document, error]

	// Author is who wrote a version; nobody if that was not said. A version
	// newer than what is read may be a *FutureError.
	Author(doc *Document) (Author, error)
}

// Range selects entries of an index: those with Prefix, or, if that is nil,
// those from From, inclusive, to To, exclusive, where nil is open. Reverse
// walks from the end. Limit is the most that is returned; 0 is all. Lent is for
// who scans much and keeps nothing: an Item, its key and its document are good
// until the loop's body has ended, and must not be modified.
type Range struct {
	Index    *Index
	Prefix   []byte
	From, To []byte
	Reverse  bool
	Limit    int
	Lent     bool

	// Whole is how many entries begin with the elements by which the index is
	// ordered, if the caller knows it and 0 otherwise. CountRange may then
	// count the others, if they are fewer.
	Whole int
}

// Item is one entry of a range.
//
//	type Item struct {
//		Key string    // of the index; of the index by id, the id
//		Doc *Document // that it leads to
//	}
type Item = reader.Item

// Ordered is a whole range in key order, with element at rank and rank of a
// key in logarithmic time. What of it is not in memory is read, some hundred
// keys at a time. That of a Snapshot does not change; that of a Tx is valid until
// the transaction's next write.
//
//	func (o *Ordered) Len() int
//	func (o *Ordered) At(i int) (Item, error)                         // the element at rank i, from 0; ErrNotFound, bare, if there is none
//	func (o *Ordered) KeyAt(i int) (string, error)                    // its key, without reading the document
//	func (o *Ordered) Rank(key []byte) (rank int, found bool, err error) // how many keys come before key
//	func (o *Ordered) Ascend(from []byte) iter.Seq2[Item, error]      // from the first key at or after from
//	func (o *Ordered) Descend(from []byte) iter.Seq2[Item, error]     // from the last key at or before from; nil is the end
type Ordered = reader.Ordered

// VersionRange selects versions of a document. The zero VersionRange selects
// all, oldest first.
//
//	type VersionRange struct {
//		From, To Timestamp // From <= TS <= To; 0 is open
//		Newest   bool      // newest first
//		Limit    int       // 0 is no limit
//	}
type VersionRange = reader.VersionRange

// readAt reads the store at one moment: what a Snapshot and a Tx have in
// common. A transaction's gate lets
// everything pass.
type readAt struct {
	store *Store
	view  *reader.View // nil, or ended, once it must not be used any more
	gate  gate
	rec   *journal.Recorder // nil: nobody records what is read
}

// Get implements Reader.
func (r *readAt) Get(t *Table, id []byte) (*Document, error) { return r.GetInto(t, id, nil) }

// GetInto implements Reader.
func (r *readAt) GetInto(t *Table, id []byte, into *Document) (*Document, error) {
	return r.GetAspect(t, id, journal.Whole, into)
}

// GetAspect implements Reader.
func (r *readAt) GetAspect(t *Table, id []byte, aspect int, into *Document) (*Document, error) {
	if err := r.mayRead(t, id); err != nil {
		return nil, err
	}
	doc, err := r.view.GetInto(t.def, id, into)
	if r.rec != nil {
		r.notes(t).Found(id, aspect, doc)
	}
	return doc, err
}

// Until implements Reader.
func (r *readAt) Until(ts Timestamp) {
	if r.rec != nil {
		r.rec.Until(ts)
	}
}

// Recorded implements Reader.
func (r *readAt) Recorded() bool { return r.rec != nil }

// Touch brings documents into the processor's caches that are about to be read
// or written, if they are in memory. That changes nothing, and takes a quarter
// of the time that it takes to look for one after the other.
func (r *readAt) Touch(t *Table, ids [][]byte) {
	if usable(r.view, t != nil) == nil {
		r.view.Touch(t.def, ids)
	}
}

// Last implements Reader.
func (r *readAt) Last(t *Table, id []byte) (*Document, error) {
	if err := r.mayRead(t, id); err != nil {
		return nil, err
	}
	doc, err := r.view.Last(t.def, id)
	if r.rec != nil {
		r.notes(t).Found(id, journal.Whole, doc)
	}
	return doc, err
}

// notes is where it is recorded what is read of a table.
func (r *readAt) notes(t *Table) journal.Notes {
	return journal.Notes{Recorder: r.rec, Table: t.def, Aspects: t.spec.Aspects}
}

// mayRead refuses what a caller may get wrong, and what is forgotten.
func (r *readAt) mayRead(t *Table, id []byte) error {
	if err := usable(r.view, t != nil); err != nil || !r.gate.mixed {
		return err
	}
	return r.gate.document(r.view, t, string(id))
}

// mayWalk is mayRead for a range. leaves says that the walk has to leave out
// what is forgotten.
func (r *readAt) mayWalk(in *Range) (leaves bool, err error) {
	if err := usable(r.view, in.Index != nil); err != nil || !r.gate.mixed {
		return false, err
	}
	return r.gate.walk(in)
}

// mayHold is mayWalk for a range as a whole, of which nothing can be left out.
func (r *readAt) mayHold(x *Index, prefix []byte) error {
	in := Range{Index: x, Prefix: prefix}
	leaves, err := r.mayWalk(&in)
	if leaves {
		return r.gate.group(&in)
	}
	return err
}

// Scan implements Reader. Whether a Tx sees what is written while it scans is
// not said.
func (r *readAt) Scan(in Range) iter.Seq2[Item, error] {
	leaves, err := r.mayWalk(&in)
	switch {
	case err != nil:
		return func(yield func(Item, error) bool) { yield(Item{}, err) }
	case in.empty():
		return func(func(Item, error) bool) {}
	case leaves:
		t := in.Index.table
		return r.notes(t).Scan(in.keys(), in.Limit, r.gate.known(r.view, t, in.Limit, r.view.Scan(t.def, in.keys(), 0)))
	}
	t, keys := in.Index.table, in.keys()
	if in.Lent {
		return r.notes(t).Scan(keys, in.Limit, r.view.Lend(t.def, keys, in.Limit))
	}
	return r.notes(t).Scan(keys, in.Limit, r.view.Scan(t.def, keys, in.Limit))
}

// Keys implements Reader.
func (r *readAt) Keys(in Range, skip int) iter.Seq2[string, error] {
	leaves, err := r.mayWalk(&in)
	switch {
	case err != nil:
		return func(yield func(string, error) bool) { yield("", err) }
	case in.empty():
		return func(func(string, error) bool) {}
	case leaves:
		return keysOf(r.Scan(in), skip)
	}
	t, keys := in.Index.table, in.keys()
	return r.notes(t).Walk(keys, in.Limit, r.view.Keys(t.def, keys, skip, in.Limit))
}

// keysOf is the keys of a walk, all but the first skip.
func keysOf(items iter.Seq2[Item, error], skip int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item, err := range items {
			if skip--; skip >= 0 && err == nil {
				continue
			}
			if !yield(item.Key, err) {
				return
			}
		}
	}
}

// CountRange implements Reader.
func (r *readAt) CountRange(in Range) (int, error) {
	leaves, err := r.mayWalk(&in)
	switch {
	case err != nil || in.empty():
		return 0, err
	case leaves:
		in.Limit = 0
		return countOf(r.Scan(in))
	}
	if r.rec != nil {
		r.notes(in.Index.table).Keys(in.keys())
	}
	return r.view.CountRange(in.Index.table.def, in.keys(), in.Whole)
}

// Count implements Reader.
func (r *readAt) Count(t *Table, prefix []byte) (int, error) {
	in := Range{Index: t.ByID(), Prefix: prefix}
	leaves, err := r.mayWalk(&in)
	switch {
	case err != nil:
		return 0, err
	case leaves:
		return countOf(r.Scan(in))
	}
	if r.rec != nil {
		r.notes(t).Keys(in.keys())
	}
	return r.view.Count(t.def, string(prefix))
}

// countOf is how long a walk is.
func countOf(items iter.Seq2[Item, error]) (n int, err error) {
	for _, err := range items {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Ordered implements Reader. What it returns is valid until the next write of a
// Tx.
func (r *readAt) Ordered(x *Index, prefix []byte) (*Ordered, error) {
	if err := r.mayHold(x, prefix); err != nil {
		return nil, err
	}
	o, err := r.view.Ordered(x.table.def, x.id, string(prefix))
	if r.rec != nil && err == nil {
		in := Range{Index: x, Prefix: prefix}
		r.notes(x.table).Ordered(in.keys(), o)
	}
	return o, err
}

// Warm implements Reader.
func (r *readAt) Warm(x *Index, prefix []byte, n int) (held bool, err error) {
	if err := r.mayHold(x, prefix); err != nil {
		return false, err
	}
	return r.view.Warm(x.table.def, x.id, string(prefix), n)
}

// InMemory implements Reader.
func (r *readAt) InMemory(x *Index, prefix []byte) bool {
	return usable(r.view, x != nil) == nil && r.view.InMemory(x.id, string(prefix))
}

// Versions implements Reader. It hides what was replaced before the document's
// horizon: that may be deleted at any time, and only what was visible at the
// horizon is sure to be there.
func (r *readAt) Versions(t *Table, id []byte, in VersionRange) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		if err := usable(r.view, t != nil); err != nil {
			yield(nil, err)
			return
		}
		if r.rec != nil {
			r.notes(t).Found(id, journal.Whole, nil)
		}
		oldest, err := r.gate.history(r.view, t, string(id))
		if err != nil {
			yield(nil, err)
			return
		}
		oldest = max(oldest, 1) // 0 would be open
		for doc, err := range r.view.Versions(t.def, string(id), VersionRange{To: oldest, Newest: true, Limit: 1}) {
			if err != nil {
				yield(nil, err)
				return
			}
			oldest = doc.TS
		}
		in.From = max(in.From, oldest)
		r.view.Versions(t.def, string(id), in)(yield)
	}
}

// keys is the range of keys that r selects, unless it is empty.
func (r *Range) keys() schema.KeyRange {
	kr := schema.KeyRange{Index: r.Index.id, From: string(r.From), To: string(r.To), Reverse: r.Reverse}
	if r.Prefix != nil {
		kr.From, kr.To = string(r.Prefix), string(tuple.PrefixEnd(r.Prefix))
	}
	return kr
}

// empty says that no key is in r: none is less than the empty one.
func (r *Range) empty() bool { return r.To != nil && len(r.To) == 0 }

var (
	// errNoTable is what a nil *Table or *Index gets: its name was not declared.
	errNoTable = fmt.Errorf("%w: the table or index is not declared", ErrTable)

	// errEnded is what a Snapshot or Tx says that was kept for too long.
	errEnded = reader.ErrEnded
)

// usable refuses what a caller may get wrong.
func usable(v *reader.View, declared bool) error {
	switch {
	case v.Ended():
		return errEnded
	case !declared:
		return errNoTable
	}
	return nil
}

package firn

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// Reader is what a Snapshot and a Tx have in common: reading the store at one
// moment.
type Reader interface {
	// Moment is the moment that is read, by which anything that expires is
	// judged: for the present, now.
	Moment() Timestamp

	// Get is a document's live version; ErrNotFound, bare, if there is none.
	Get(t *Table, id []byte) (*Document, error)

	// Last is a document's newest version, also when that is a tombstone;
	// ErrNotFound, bare, if there never was one.
	Last(t *Table, id []byte) (*Document, error)

	// Scan walks live documents in the order of an index. The iteration ends
	// after an error.
	Scan(r Range) iter.Seq2[Item, error]

	// Ordered is a whole range with the operations of a sorted list. prefix
	// has as many elements as the table, or the index, declares. It is loaded
	// into memory for that.
	Ordered(x *Index, prefix []byte) (*Ordered, error)

	// Keys walks the keys of a range without reading the documents, all but
	// the first skip. What it yields in a Tx is valid until the next write, and
	// so is the walk.
	Keys(r Range, skip int) iter.Seq2[string, error]

	// CountRange is the number of entries of a range, whatever its Limit. It
	// counts them, unless the range is in memory.
	CountRange(r Range) (int, error)

	// Warm does what Ordered does to bring a range into memory, if it has
	// about n entries and they fit there, and says whether it is there now.
	Warm(x *Index, prefix []byte, n int) (held bool, err error)

	// Count is the number of live documents whose id has a prefix.
	Count(t *Table, prefix []byte) (int, error)

	// Holds says whether Ordered would find the range in memory.
	Holds(x *Index, prefix []byte) bool

	// Versions walks the versions of one document, tombstones included.
	Versions(t *Table, id []byte, r VersionRange) iter.Seq2[*Document, error]

	// Author is who wrote a version; nobody if that was not said. A version
	// newer than what is read may be a *FutureError.
	Author(doc *Document) (Author, error)
}

// Range selects entries of an index: those with Prefix, or, if that is nil,
// those from From, inclusive, to To, exclusive, where nil is open. Reverse
// walks from the end. Limit is the most that is returned; 0 is all.
type Range struct {
	Index    *Index
	Prefix   []byte
	From, To []byte
	Reverse  bool
	Limit    int
}

// Item is one entry of a range: the index's key and the document under it.
type Item = reader.Item

// Ordered is a whole range in key order, with element at rank and rank of a
// key in logarithmic time.
type Ordered = reader.Ordered

// VersionRange selects versions of a document by timestamp.
type VersionRange = reader.VersionRange

// Snapshot reads the store at one moment. It belongs to one goroutine, and is
// valid inside the function that it was given to.
type Snapshot struct {
	store  *Store
	view   reader.View
	moment Timestamp // 0: the present
}

var _ Reader = (*Snapshot)(nil)

var snapshots = sync.Pool{New: func() any { return new(Snapshot) }}

func (s *Snapshot) close() {
	s.view.Close()
	*s = Snapshot{}
	snapshots.Put(s)
}

// Timestamp is the moment that was asked for; in the present, the newest
// commit's.
func (s *Snapshot) Timestamp() Timestamp { return s.view.Timestamp() }

// Moment implements Reader.
func (s *Snapshot) Moment() Timestamp {
	if s.moment != 0 || s.view.Ended() {
		return s.moment
	}
	s.moment = s.store.writer.Clock().Now()
	return s.moment
}

// Get implements Reader.
func (s *Snapshot) Get(t *Table, id []byte) (*Document, error) { return get(&s.view, t, id) }

// Last implements Reader.
func (s *Snapshot) Last(t *Table, id []byte) (*Document, error) { return last(&s.view, t, id) }

// Scan implements Reader.
func (s *Snapshot) Scan(r Range) iter.Seq2[Item, error] { return scan(&s.view, r) }

// Ordered implements Reader.
func (s *Snapshot) Ordered(x *Index, prefix []byte) (*Ordered, error) {
	return ordered(&s.view, x, prefix)
}

// Keys implements Reader.
func (s *Snapshot) Keys(r Range, skip int) iter.Seq2[string, error] { return keys(&s.view, r, skip) }

// CountRange implements Reader.
func (s *Snapshot) CountRange(r Range) (int, error) { return countRange(&s.view, r) }

// Warm implements Reader.
func (s *Snapshot) Warm(x *Index, prefix []byte, n int) (held bool, err error) {
	return warm(&s.view, x, prefix, n)
}

// Count implements Reader.
func (s *Snapshot) Count(t *Table, prefix []byte) (int, error) { return count(&s.view, t, prefix) }

// Holds implements Reader.
func (s *Snapshot) Holds(x *Index, prefix []byte) bool { return holds(&s.view, x, prefix) }

// Versions implements Reader.
func (s *Snapshot) Versions(t *Table, id []byte, r VersionRange) iter.Seq2[*Document, error] {
	return versions(&s.view, s.store, t, id, r)
}

func get(v *reader.View, t *Table, id []byte) (*Document, error) {
	if err := usable(v, t != nil); err != nil {
		return nil, err
	}
	return v.Get(t.def, id)
}

func last(v *reader.View, t *Table, id []byte) (*Document, error) {
	if err := usable(v, t != nil); err != nil {
		return nil, err
	}
	return v.Last(t.def, id)
}

var (
	// errNoTable is what a nil *Table or *Index gets: its name was not declared.
	errNoTable = fmt.Errorf("%w: the table or index is not declared", ErrTable)

	// errEnded is what a Snapshot or Tx says that was kept for too long.
	errEnded = errors.New("firn: used after the function that it was given to")
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

func scan(v *reader.View, r Range) iter.Seq2[Item, error] {
	if err := usable(v, r.Index != nil); err != nil {
		return func(yield func(Item, error) bool) { yield(Item{}, err) }
	}
	if r.empty() {
		return func(func(Item, error) bool) {}
	}
	return v.Scan(r.Index.table.def, r.keys(), r.Limit)
}

// keys is the range of keys that r selects, unless it is empty.
func (r *Range) keys() schema.KeyRange {
	kr := schema.KeyRange{Index: r.Index.id, From: string(r.From), To: string(r.To), Reverse: r.Reverse}
	if r.Prefix != nil {
		kr.From, kr.To = string(r.Prefix), string(schema.PrefixEnd(r.Prefix))
	}
	return kr
}

// empty says that no key is in r: none is less than the empty one.
func (r *Range) empty() bool { return r.To != nil && len(r.To) == 0 }

func keys(v *reader.View, r Range, skip int) iter.Seq2[string, error] {
	if err := usable(v, r.Index != nil); err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	if r.empty() {
		return func(func(string, error) bool) {}
	}
	return v.Keys(r.Index.table.def, r.keys(), skip, r.Limit)
}

func countRange(v *reader.View, r Range) (int, error) {
	if err := usable(v, r.Index != nil); err != nil || r.empty() {
		return 0, err
	}
	return v.CountRange(r.Index.table.def, r.keys())
}

func warm(v *reader.View, x *Index, prefix []byte, n int) (held bool, err error) {
	if err := usable(v, x != nil); err != nil {
		return false, err
	}
	return v.Warm(x.table.def, x.id, string(prefix), n)
}

func ordered(v *reader.View, x *Index, prefix []byte) (*Ordered, error) {
	if err := usable(v, x != nil); err != nil {
		return nil, err
	}
	return v.Ordered(x.table.def, x.id, string(prefix))
}

func count(v *reader.View, t *Table, prefix []byte) (int, error) {
	if err := usable(v, t != nil); err != nil {
		return 0, err
	}
	return v.Count(t.def, string(prefix))
}

func holds(v *reader.View, x *Index, prefix []byte) bool {
	return usable(v, x != nil) == nil && v.Holds(x.id, string(prefix))
}

// versions hides what was replaced before the horizon: it may be pruned at
// any time, and only what was visible at the horizon is sure to be there.
func versions(v *reader.View, s *Store, t *Table, id []byte, r VersionRange) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		if err := usable(v, t != nil); err != nil {
			yield(nil, err)
			return
		}
		oldest := max(s.horizon.Oldest(), 1) // 0 would be open
		for doc, err := range v.Versions(t.def, string(id), VersionRange{To: oldest, Newest: true, Limit: 1}) {
			if err != nil {
				yield(nil, err)
				return
			}
			oldest = doc.TS
		}
		r.From = max(r.From, oldest)
		v.Versions(t.def, string(id), r)(yield)
	}
}

package firn

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
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
// walks from the end. Limit is the most that is returned; 0 is all.
type Range struct {
	Index    *Index
	Prefix   []byte
	From, To []byte
	Reverse  bool
	Limit    int
}

// Item is one entry of a range.
//
//	type Item struct {
//		Key string    // of the index; of the index by id, the id
//		Doc *Document // that it leads to
//	}
type Item = reader.Item

// Ordered is a whole range in key order, with element at rank and rank of a
// key in logarithmic time. That of a Snapshot does not change; that of a Tx is
// valid until the transaction's next write.
//
//	func (o *Ordered) Len() int
//	func (o *Ordered) At(i int) (Item, error)                         // the element at rank i, from 0; ErrNotFound, bare, if there is none
//	func (o *Ordered) Rank(key []byte) (rank int, found bool)         // how many keys come before key
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

// Snapshot reads the store at one moment. It belongs to one goroutine, and is
// valid inside the function that it was given to.
type Snapshot struct {
	store  *Store
	view   reader.View
	moment Timestamp // 0: the present
	past   bool      // made by At
	mixed  bool      // some scopes cannot be read at moment: each read looks at its own

	// What the view sees, and what it does from the versions on that were
	// asked for, is pinned while the function runs.
	pin    retention.Pin
	pinned Timestamp
	seat   uint32 // for Pin: it stays with the Snapshot, which is used again by the same processor
}

var _ Reader = (*Snapshot)(nil)

var snapshots = sync.Pool{New: func() any { return &Snapshot{seat: rand.Uint32()} }}

func (s *Snapshot) close() {
	s.view.Close()
	s.pin.Release()
	*s = Snapshot{seat: s.seat}
	snapshots.Put(s)
}

func (s *Snapshot) pinTo(ts Timestamp) {
	s.pinned = ts
	s.pin.Set(ts)
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
func (s *Snapshot) Get(t *Table, id []byte) (*Document, error) {
	if err := s.documentReached(t, id); err != nil {
		return nil, err
	}
	return get(&s.view, t, id)
}

// Last implements Reader.
func (s *Snapshot) Last(t *Table, id []byte) (*Document, error) {
	if err := s.documentReached(t, id); err != nil {
		return nil, err
	}
	return last(&s.view, t, id)
}

// Scan implements Reader.
func (s *Snapshot) Scan(r Range) iter.Seq2[Item, error] {
	if err := s.rangeReached(r); err != nil {
		return func(yield func(Item, error) bool) { yield(Item{}, err) }
	}
	return scan(&s.view, r)
}

// Ordered implements Reader.
func (s *Snapshot) Ordered(x *Index, prefix []byte) (*Ordered, error) {
	if err := s.rangeReached(Range{Index: x, Prefix: prefix}); err != nil {
		return nil, err
	}
	return ordered(&s.view, x, prefix)
}

// Keys implements Reader.
func (s *Snapshot) Keys(r Range, skip int) iter.Seq2[string, error] {
	if err := s.rangeReached(r); err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return keys(&s.view, r, skip)
}

// CountRange implements Reader.
func (s *Snapshot) CountRange(r Range) (int, error) {
	if err := s.rangeReached(r); err != nil {
		return 0, err
	}
	return countRange(&s.view, r)
}

// Warm implements Reader.
func (s *Snapshot) Warm(x *Index, prefix []byte, n int) (held bool, err error) {
	if err := s.rangeReached(Range{Index: x, Prefix: prefix}); err != nil {
		return false, err
	}
	return warm(&s.view, x, prefix, n)
}

// Count implements Reader.
func (s *Snapshot) Count(t *Table, prefix []byte) (int, error) {
	if err := s.rangeReached(Range{Index: t.ByID(), Prefix: prefix}); err != nil {
		return 0, err
	}
	return count(&s.view, t, prefix)
}

// Holds implements Reader.
func (s *Snapshot) Holds(x *Index, prefix []byte) bool { return holds(&s.view, x, prefix) }

// Versions implements Reader.
func (s *Snapshot) Versions(t *Table, id []byte, r VersionRange) iter.Seq2[*Document, error] {
	return versions(&s.view, t, id, r, func() (Timestamp, error) { return s.history(t, id) })
}

// documentReached refuses a document whose scope is forgotten at the
// snapshot's moment.
func (s *Snapshot) documentReached(t *Table, id []byte) error {
	if !s.mixed || t == nil || t.follows() {
		return nil
	}
	oldest, _, versions := s.store.state.Horizon(t.scope(string(id)))
	if versions > 0 {
		s.pin.Block()
		defer s.pin.Set(s.pinned)
		var err error
		if oldest, err = s.oldest(t, id); err != nil {
			return err
		}
	}
	return s.reached(oldest)
}

// reached refuses what can be read from a later moment on.
func (s *Snapshot) reached(oldest Timestamp) error {
	if s.moment < oldest {
		return &CompactedError{Asked: s.moment, Oldest: oldest}
	}
	return nil
}

// rangeReached refuses a range of whose group anything is forgotten at the
// snapshot's moment. The keys of a declared index do not tell the group.
func (s *Snapshot) rangeReached(r Range) error {
	if !s.mixed || r.Index == nil || r.Index.table.follows() {
		return nil
	}
	t, first := r.Index.table, r.Prefix
	if first == nil && r.To != nil {
		first = r.From
	}
	group := ""
	if t.spec.Scope == nil || r.Index.id.Number() == 0 {
		group = t.scope(string(first)).Group
	}
	return s.reached(s.store.state.GroupHorizon(group))
}

// history is the oldest moment from which on a document's versions can be
// walked; a *CompactedError if the snapshot's is before it. Nothing of the
// document that is not older is deleted while the snapshot is used: the
// horizon is looked at while everything is pinned, and what it leaves stays so.
func (s *Snapshot) history(t *Table, id []byte) (oldest Timestamp, err error) {
	s.pin.Block()
	defer func() { s.pinTo(min(s.pinned, max(oldest, s.store.state.Floor()))) }()
	oldest, err = s.oldest(t, id)
	switch {
	case err != nil || !s.past:
	case s.mixed:
		err = s.reached(oldest)
	default:
		oldest = min(oldest, s.moment) // which is pinned, should the horizon have passed it since
	}
	return oldest, err
}

// oldest is the oldest moment at which a document can be read now. Everything
// is pinned meanwhile.
func (s *Snapshot) oldest(t *Table, id []byte) (Timestamp, error) {
	if !s.past {
		return s.store.oldest(&s.view, t, string(id))
	}
	var present reader.View
	present.Reset(s.store.head, false)
	defer present.Close()
	return s.store.oldest(&present, t, string(id))
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
		kr.From, kr.To = string(r.Prefix), string(tuple.PrefixEnd(r.Prefix))
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

// versions hides what was replaced before the document's horizon: it may be
// deleted at any time, and only what was visible at the horizon is sure to be
// there.
func versions(v *reader.View, t *Table, id []byte, r VersionRange, horizon func() (Timestamp, error)) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		if err := usable(v, t != nil); err != nil {
			yield(nil, err)
			return
		}
		oldest, err := horizon()
		if err != nil {
			yield(nil, err)
			return
		}
		oldest = max(oldest, 1) // 0 would be open
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

package reader

import (
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// View is the store at one timestamp. It is cheap to make; it borrows a read
// session when it first needs the file, and Close returns it. A View belongs
// to one goroutine.
type View struct {
	head    *Head
	at      schema.Timestamp
	runs    index.Runs
	present bool // at was the newest timestamp when the view was made
	hot     bool // memory only: ErrCold instead of a read of the file
	tx      bool // the view of the running transactions: sees what is staged
	file    schema.Session
}

// Reset makes v the view of the present. hot confines it to memory. v must be
// new or closed.
func (v *View) Reset(h *Head, hot bool) {
	h.mu.RLock()
	at := h.newest
	h.mu.RUnlock()
	*v = View{head: h, at: at, runs: h.tail.Runs(), present: true, hot: hot}
}

// ResetAt makes v the view at a timestamp, which must not be newer than the
// newest published one unless nothing will be published in between.
func (v *View) ResetAt(h *Head, at schema.Timestamp) {
	*v = View{head: h, at: at, runs: h.tail.Runs()}
}

// Transaction is the view that transactions read through: the newest version
// of everything, staged ones included. Its caller holds Lock. It is closed by
// Seal and by Publish.
func (h *Head) Transaction() *View { return h.transactionView() }

func (h *Head) transactionView() *View {
	if h.staged.view == nil {
		h.staged.view = &View{head: h, tx: true, at: schema.MaxTimestamp}
	}
	if v := h.staged.view; v.file == nil {
		v.runs = h.tail.Runs()
	}
	return h.staged.view
}

// Timestamp is the moment that the view reads at.
func (v *View) Timestamp() schema.Timestamp { return v.at }

// Ended says that the view can no longer be used: there is none, or it was
// set to zero.
func (v *View) Ended() bool { return v == nil || v.head == nil }

// Close returns what the view has borrowed.
func (v *View) Close() {
	if !v.tx {
		v.release()
	}
}

func (v *View) release() {
	if v.file == nil {
		return
	}
	s := v.file
	v.file = nil
	endReading(v.head, s) // one that fails is closed, and another one opened
}

// session is the view's read session, with a read transaction begun after the
// runs were taken, so that no entry falls between the two.
func (v *View) session() (schema.Session, error) {
	if v.file != nil {
		return v.file, nil
	}
	if v.hot {
		return nil, ErrCold
	}
	s, err := v.head.take()
	if err != nil {
		return nil, fmt.Errorf("open read session: %w", err)
	}
	if err := s.Begin(); err != nil {
		s.Close()
		return nil, fmt.Errorf("begin reading: %w", err)
	}
	v.file = s
	return s, nil
}

// Get is a document's live version; ErrNotFound, bare, if there is none.
func (v *View) Get(t *index.Table, id []byte) (*schema.Row, error) { return v.GetInto(t, id, nil) }

// GetInto is Get for a caller with memory to use again: what it returns is
// into, with the content in the memory of into.Value if that suffices, or a
// row that is shared. nil is Get.
func (v *View) GetInto(t *index.Table, id []byte, into *schema.Row) (*schema.Row, error) {
	row, err := v.newest(t, id, true, into)
	if err == nil && (row == nil || row.Deleted) {
		return nil, ErrNotFound
	}
	return row, err
}

// Last is a document's newest version, also when that is a tombstone;
// ErrNotFound, bare, if there never was one.
func (v *View) Last(t *index.Table, id []byte) (*schema.Row, error) {
	row, err := v.newest(t, id, false, nil)
	if err == nil && row == nil {
		return nil, ErrNotFound
	}
	return row, err
}

// Touch brings documents of the head into the processor's caches.
func (v *View) Touch(t *index.Table, ids [][]byte) {
	for len(ids) > 0 {
		n := min(len(ids), touchMost)
		v.head.touch(t.ID, ids[:n])
		ids = ids[n:]
	}
}

// newest is a document's version as of the view; nil if there is none, or, if
// only a live one is asked for, if it is dead.
func (v *View) newest(t *index.Table, id []byte, live bool, into *schema.Row) (*schema.Row, error) {
	if v.tx {
		row, err := v.head.lookUp(v, v.head.docs.hash(t.ID, textOf(id)), t, id, live, into)
		return known(row), err
	}
	if row, ok := v.head.find(t, id, v.at, live, into); ok {
		return row, nil
	}
	return v.cold(t, id)
}

// cold looks a document up in the tail and the file; nil if it is in neither.
func (v *View) cold(t *index.Table, key []byte) (*schema.Row, error) {
	if v.head.learning.known.New(t.ID, key) {
		return nil, nil // nor was it ever
	}
	if v.hot {
		return nil, ErrCold
	}
	id := string(key)
	row, err := v.coldRow(t, id)
	if err != nil {
		return nil, fmt.Errorf("read %q in %s at %d: %w", id, t.Name, v.at, err)
	}
	if !v.present && !v.tx {
		return row, nil
	}
	if row == nil {
		v.head.fill(absent(t, id), v.at)
		return nil, nil
	}
	v.head.fill(row, v.at)
	return row, nil
}

func (v *View) coldRow(t *index.Table, id string) (*schema.Row, error) {
	e, ok := v.tailEntry(schema.ByID(t.ID), id)
	s, err := v.session()
	if err != nil {
		return nil, err
	}
	if !ok {
		row, err := s.Get(t.ID, id, v.at)
		if row == nil && err == nil && (v.present || v.tx) {
			v.head.learning.missed()
		}
		return row, err
	}
	row, err := s.Row(t.ID, id, e.TS)
	if row == nil && err == nil {
		err = fmt.Errorf("%w: no row at %d", schema.ErrCorrupt, e.TS)
	}
	return row, err
}

// tailEntry is the newest entry of a key in the tail at or before the view's
// moment.
func (v *View) tailEntry(x schema.IndexID, key string) (schema.Entry, bool) {
	e, ok := v.runs.Active.At(x, key, v.at)
	if !ok && v.runs.Frozen != nil {
		e, ok = v.runs.Frozen.At(x, key, v.at)
	}
	return e, ok
}

// version is a document's version at exactly ts, which an index entry led to.
func (v *View) version(t *index.Table, id string, ts schema.Timestamp) (*schema.Row, error) {
	if v.tx {
		if row := v.head.stagedVersion(t, id, ts); row != nil {
			return row, nil
		}
	}
	if row := v.head.findVersion(t, id, ts); row != nil {
		return row, nil
	}
	s, err := v.session()
	if err != nil {
		return nil, err
	}
	row, err := s.Row(t.ID, id, ts)
	if row == nil && err == nil {
		err = fmt.Errorf("%w: index entry of %q at %d has no row", schema.ErrCorrupt, id, ts)
	}
	return row, err
}

package index

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// A replay reads no value but those that it must derive keys from and those
// that its owner wants to see, one at a time, and keeps none: only what was
// derived from it.

// replayPage is how many rows of the log are read in one read transaction.
const replayPage = 1024

// Replayer derives the entries of the log behind the watermark, when a store
// opens or its indexes are rebuilt.
type Replayer struct {
	// Tables are all tables of the store, by id. A row of a table that is not
	// here is an error: its entries could not be derived.
	Tables  map[schema.TableID]*Table
	Session schema.Session
	Tail    *Tail
	Counts  Counts // as of the watermark; Run brings them up to date

	// Fresh says that the file's indexes have nothing behind the watermark.
	Fresh bool

	// Full, if set, is called between rows, when nothing is staged, with the
	// timestamp that everything up to is derived; for merging when the tail
	// has grown large.
	Full func(upTo schema.Timestamp) error

	// Row, if set, is shown every row, in the log's order.
	Row func(*schema.Visit) error

	last    map[document]derived // what newest rows of documents were
	deriver Deriver
	entries []schema.Entry // scratch
}

type document struct {
	table schema.TableID
	id    string
}

// derived is what a replay knows of a version; that of none is zero.
type derived struct {
	live bool
	keys []Key
}

// Run replays the log behind after and returns the log's last timestamp, or
// after if nothing is behind it.
func (r *Replayer) Run(after schema.Timestamp) (schema.Timestamp, error) {
	cursor, done := schema.Cursor{TS: after + 1}, false
	r.last = map[document]derived{}
	for !done {
		var err error
		if cursor, done, err = r.page(&after, cursor); err != nil {
			return 0, fmt.Errorf("replay log behind %d: %w", after, err)
		}
	}
	return after, nil
}

// page replays the rows behind the cursor that are read at once. They share a
// read transaction, which makes looking up what they replace three times as
// fast, and which is short enough for the write-ahead log.
func (r *Replayer) page(after *schema.Timestamp, cursor schema.Cursor) (next schema.Cursor, done bool, err error) {
	if err := r.Session.Begin(); err != nil {
		return cursor, false, err
	}
	defer func() { err = errors.Join(err, r.Session.End()) }()
	return r.Session.Walk(cursor, schema.MaxTimestamp, replayPage, func(v *schema.Visit) (bool, error) {
		if v.TS != *after && r.Full != nil {
			if err := r.full(*after); err != nil {
				return false, err
			}
		}
		*after = v.TS
		if err := r.replay(v); err != nil {
			return false, fmt.Errorf("row at %d: %w", v.TS, err)
		}
		r.Tail.Insert(r.entries)
		if !r.Fresh {
			r.Tail.replayed.Store(int64(v.TS))
		}
		return true, nil
	})
}

func (r *Replayer) full(upTo schema.Timestamp) error {
	before := r.Tail.Watermark()
	if err := r.Full(upTo); err != nil {
		return err
	}
	if r.Tail.Watermark() != before {
		clear(r.last) // bounded by the tail: older rows are looked up
	}
	return nil
}

// replay derives what a row makes. What it replaces is read before its value,
// so that there are never two values at once.
func (r *Replayer) replay(v *schema.Visit) error {
	table := r.Tables[v.Table]
	if table == nil {
		return fmt.Errorf("%w: the log has rows of table %d, which is not declared", ErrDeclaration, v.Table)
	}
	old, err := r.old(table, &v.Row)
	if err != nil {
		return err
	}
	keys, err := r.keys(table, v)
	if err != nil {
		return err
	}
	if table.Prefix > 0 || len(table.Indexes) > 0 {
		r.last[document{v.Table, v.ID}] = derived{!v.Deleted, keys}
	}
	if r.Counts != nil {
		table.count(r.Counts, old.live, &v.Row)
	}
	r.entries = DeriveKeys(r.entries[:0], &v.Row, old.live, old.keys, keys)
	if r.Row == nil {
		return nil
	}
	return r.Row(v)
}

// keys are those of a row in the declared indexes of its table.
func (r *Replayer) keys(table *Table, v *schema.Visit) ([]Key, error) {
	if len(table.Indexes) == 0 || v.Deleted {
		return nil, nil
	}
	value, err := v.Value()
	if err != nil {
		return nil, err
	}
	row := v.Row
	row.Value = value
	return r.deriver.Keys(nil, table, &row), nil
}

// old is what row replaced, where the table needs it.
func (r *Replayer) old(table *Table, row *schema.Row) (old derived, err error) {
	if row.Prev == 0 || table.Prefix == 0 && len(table.Indexes) == 0 {
		return derived{}, nil
	}
	if old, ok := r.last[document{row.Table, row.ID}]; ok {
		return old, nil
	}
	if len(table.Indexes) == 0 {
		return r.oldEntry(row)
	}
	// It is not there if the compactor has removed it: then it was condemned,
	// and its keys with it.
	_, err = r.Session.Peek(row.Table, row.ID, row.Prev, func(v *schema.Visit) (err error) {
		old.live = !v.Deleted
		old.keys, err = r.keys(table, v)
		return err
	})
	return old, err
}

// oldEntry is old by the entry by id, which costs half: the file has it, since
// no replayed row has replaced it. A tombstone is only written where something
// lives.
func (r *Replayer) oldEntry(row *schema.Row) (derived, error) {
	if row.Deleted {
		return derived{live: true}, nil
	}
	e, ok, err := r.Session.Entry(schema.ByID(row.Table), row.ID, row.Prev)
	if err != nil || !ok || e.TS != row.Prev {
		return derived{}, err // the compactor has removed it, see old
	}
	return derived{live: !e.Deleted}, nil
}

// count adds to counts what changes when next replaces a version that was live
// or not.
func (t *Table) count(counts Counts, wasLive bool, next *schema.Row) {
	delta := t.delta(wasLive, !next.Deleted)
	if delta == 0 {
		return
	}
	if n, ok := tuple.PrefixLen(next.ID, t.Prefix); ok {
		counts.Add(t.ID, next.ID[:n], delta)
	}
}

// Delta is the change in the number of live documents: -1, 0 or 1; 0 in a
// table that is not counted.
func (t *Table) Delta(old, next *schema.Row) int64 {
	return t.delta(old != nil && !old.Deleted, !next.Deleted)
}

func (t *Table) delta(wasLive, isLive bool) int64 {
	switch {
	case !t.Counted || wasLive == isLive:
		return 0
	case isLive:
		return 1
	default:
		return -1
	}
}

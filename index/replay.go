package index

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// replayPage is how many rows of the log are read at once.
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
	Row func(*schema.Row)

	last    map[document]*schema.Row // newest row of each document seen
	deriver Deriver
	rows    []*schema.Row // scratch
	entries []schema.Entry
}

type document struct {
	table schema.TableID
	id    string
}

// Run replays the log behind after and returns the log's last timestamp, or
// after if nothing is behind it.
func (r *Replayer) Run(after schema.Timestamp) (schema.Timestamp, error) {
	cursor := schema.Cursor{TS: after + 1}
	r.last = map[document]*schema.Row{}
	for {
		rows, err := r.page(&after, cursor)
		if err != nil {
			return 0, fmt.Errorf("replay log behind %d: %w", cursor.TS, err)
		}
		if len(rows) == 0 {
			return after, nil
		}
		end := rows[len(rows)-1]
		cursor = schema.Cursor{TS: end.TS, Table: end.Table, ID: end.ID}
	}
}

// page replays the rows behind the cursor that are read at once. They share a
// read transaction, which makes looking up what they replace three times as
// fast, and which is short enough for the write-ahead log.
func (r *Replayer) page(after *schema.Timestamp, cursor schema.Cursor) (rows []*schema.Row, err error) {
	if err := r.Session.Begin(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Session.End()) }()
	if rows, err = r.Session.Log(r.rows[:0], cursor, schema.MaxTimestamp, replayPage); err != nil {
		return nil, err
	}
	r.rows = rows
	for _, row := range rows {
		if row.TS != *after && r.Full != nil {
			if err := r.full(*after); err != nil {
				return nil, err
			}
		}
		*after = row.TS
		if r.entries, err = r.replay(r.entries[:0], row); err != nil {
			return nil, err
		}
		r.Tail.Insert(r.entries)
		if !r.Fresh {
			r.Tail.replayed.Store(int64(row.TS))
		}
	}
	return rows, nil
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

func (r *Replayer) replay(entries []schema.Entry, row *schema.Row) ([]schema.Entry, error) {
	table := r.Tables[row.Table]
	if table == nil {
		return nil, fmt.Errorf("%w: the log has rows of table %d, which is not declared", ErrDeclaration, row.Table)
	}
	old, err := r.old(table, row)
	if err != nil {
		return nil, err
	}
	if table.Prefix > 0 || len(table.Indexes) > 0 {
		r.last[document{row.Table, row.ID}] = table.remembered(row)
	}
	if r.Counts != nil {
		table.Count(r.Counts, old, row)
	}
	if r.Row != nil {
		r.Row(row)
	}
	return r.deriver.Derive(entries, table, old, row), nil
}

// The rows that are remembered where only deletedness counts.
var liveRow, deadRow = &schema.Row{}, &schema.Row{Deleted: true}

// remembered is what must be known of a row once it is replaced.
func (t *Table) remembered(row *schema.Row) *schema.Row {
	switch {
	case len(t.Indexes) > 0:
		return row
	case row.Deleted:
		return deadRow
	default:
		return liveRow
	}
}

// old is the row that row replaces, where the table needs it. A table without
// declared indexes only needs to know whether it was deleted.
func (r *Replayer) old(table *Table, row *schema.Row) (*schema.Row, error) {
	if row.Prev == 0 || table.Prefix == 0 && len(table.Indexes) == 0 {
		return nil, nil
	}
	if old := r.last[document{row.Table, row.ID}]; old != nil {
		return old, nil
	}
	if len(table.Indexes) == 0 {
		return r.oldEntry(row)
	}
	old, err := r.Session.Row(row.Table, row.ID, row.Prev)
	if err != nil {
		return nil, fmt.Errorf("replay row at %d: %w", row.TS, err)
	}
	return old, nil // nil if the compactor has removed it: then it was condemned, and its keys with it
}

// oldEntry is old by the entry by id, which costs half: the file has it, since
// no replayed row has replaced it. A tombstone is only written where something
// lives.
func (r *Replayer) oldEntry(row *schema.Row) (*schema.Row, error) {
	if row.Deleted {
		return liveRow, nil
	}
	e, ok, err := r.Session.Entry(schema.ByID(row.Table), row.ID, row.Prev)
	if err != nil {
		return nil, fmt.Errorf("replay row at %d: %w", row.TS, err)
	}
	if !ok || e.TS != row.Prev {
		return nil, nil // the compactor has removed it, see old
	}
	if e.Deleted {
		return deadRow, nil
	}
	return liveRow, nil
}

// Count adds to counts what changes when next replaces old, which is nil when
// there was no version before.
func (t *Table) Count(counts Counts, old, next *schema.Row) {
	delta := t.Delta(old, next)
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
	wasLive, isLive := old != nil && !old.Deleted, !next.Deleted
	switch {
	case !t.Counted || wasLive == isLive:
		return 0
	case isLive:
		return 1
	default:
		return -1
	}
}

package schema

import (
	"fmt"
	"math"

	"zombiezen.com/go/sqlite"
)

// createFences counts the keys of large ordered ranges, interval by interval.
// Like indexes it is derived: a range whose fences are dropped is counted by
// walking it.
//
//	column    type     meaning
//	index_id  BLOB     IndexID, as in indexes
//	key       BLOB     where an interval of keys begins
//	live      INTEGER  keys of the interval that lead somewhere; NULL: not counted
//	ts        INTEGER  since when it has been so many
const createFences = `
CREATE TABLE fences (
	index_id BLOB    NOT NULL,
	key      BLOB    NOT NULL,
	live     INTEGER CHECK (live >= 0),
	ts       INTEGER NOT NULL CHECK (ts >= 0),
	PRIMARY KEY (index_id, key)
) STRICT, WITHOUT ROWID`

// sqlFences walks the fences of an index from the one that a key lies behind,
// if that is not before the beginning of a range.
const sqlFences = `
SELECT key, live, ts
  FROM fences
 WHERE index_id = :index AND key >= coalesce((
	SELECT key
	  FROM fences
	 WHERE index_id = :index AND key <= :from AND key >= :begin
	 ORDER BY key DESC
	 LIMIT 1), :from)
 ORDER BY key`

// sqlSetFence counts an interval, or counts it anew.
const sqlSetFence = `
INSERT OR REPLACE INTO fences (index_id, key, live, ts)
VALUES (:index, :key, :live, :ts)`

// The fences of an interval, and those behind a key.
const (
	sqlDropFences = `
DELETE FROM fences
 WHERE index_id = :index AND key >= :from`

	sqlDropFencesTo = `
DELETE FROM fences
 WHERE index_id = :index AND key >= :from AND key < :to`
)

// sqlDropAllFences empties the table.
const sqlDropAllFences = `DELETE FROM fences`

func (s *session) Fences(dst []Fence, r KeyRange, from string, limit int) ([]Fence, error) {
	stmt, err := s.stmt(stmtFences)
	if err == nil {
		dst, err = readFences(dst, stmt, r, from, limit)
	}
	if err != nil {
		return dst, fmt.Errorf("read fences of index %d: %w", r.Index, mapError(err))
	}
	return dst, nil
}

func readFences(dst []Fence, stmt *sqlite.Stmt, r KeyRange, from string, limit int) ([]Fence, error) {
	var id [4]byte
	stmt.BindBytes(1, appendID(id[:0], uint32(r.Index)))
	stmt.BindBytes(2, bytesOf(max(from, r.From)))
	stmt.BindBytes(3, bytesOf(r.From))
	for start := len(dst); limit <= 0 || len(dst)-start < limit; {
		found, err := stmt.Step()
		if err != nil || !found {
			return dst, resetAfter(stmt, err)
		}
		f := Fence{Index: r.Index, Key: readString(stmt, 0), Live: Uncounted, TS: Timestamp(stmt.ColumnInt64(2))}
		if stmt.ColumnType(1) != sqlite.TypeNull {
			f.Live = stmt.ColumnInt64(1)
		}
		if r.To != "" && f.Key >= r.To {
			break
		}
		dst = append(dst, f)
	}
	return dst, stmt.Reset()
}

// Tally is a Scan that keeps nothing: it costs half.
func (s *session) Tally(fences []Fence, to string, at Timestamp) error {
	if len(fences) == 0 || to != "" && fences[0].Key >= to {
		return nil
	}
	sc := &s.scan
	*sc = scanner{
		session: s, r: KeyRange{Index: fences[0].Index, From: fences[0].Key, To: to}, at: at, limit: math.MaxInt, keys: math.MaxInt, bytes: math.MaxInt, tally: fences,
		key: sc.key[:0], id: sc.id[:0], scratch: sc.scratch[:0], more: sc.more[:0],
	}
	err := sc.run()
	sc.tally, sc.r = nil, KeyRange{}
	if err != nil {
		return fmt.Errorf("count keys of index %d at %d: %w", fences[0].Index, at, mapError(err))
	}
	return nil
}

// fencer keeps the fences, in the transactions of an appender.
type fencer struct {
	set, drop, dropTo, dropAll *sqlite.Stmt
	reads                      session // on the appender's connection: sees what the transaction wrote
}

func (f *fencer) statements() []held {
	return []held{{&f.set, sqlSetFence}, {&f.drop, sqlDropFences}, {&f.dropTo, sqlDropFencesTo}, {&f.dropAll, sqlDropAllFences}}
}

func (a *appender) Fences(dst []Fence, r KeyRange, from string, limit int) ([]Fence, error) {
	if err := a.inTransaction(); err != nil {
		return dst, fmt.Errorf("read fences of index %d: %w", r.Index, err)
	}
	return a.fences.reads.Fences(dst, r, from, limit)
}

func (a *appender) Keys(dst []Entry, r KeyRange, limit int) ([]Entry, KeyRange, bool, error) {
	if err := a.inTransaction(); err != nil {
		return dst, r, false, fmt.Errorf("walk index %d: %w", r.Index, err)
	}
	return a.fences.reads.keys(dst, r, limit)
}

func (a *appender) SetFences(fences []Fence) error {
	err := a.inTransaction()
	for i := 0; err == nil && i < len(fences); i++ {
		err = a.fences.put(&fences[i])
	}
	if err != nil {
		return fmt.Errorf("set %d fences: %w", len(fences), mapError(err))
	}
	return nil
}

func (f *fencer) put(fence *Fence) error {
	var id [4]byte
	f.set.BindBytes(1, appendID(id[:0], uint32(fence.Index)))
	f.set.BindBytes(2, bytesOf(fence.Key))
	if fence.Live == Uncounted {
		f.set.BindNull(3)
	} else {
		f.set.BindInt64(3, fence.Live)
	}
	f.set.BindInt64(4, int64(fence.TS))
	return run(f.set)
}

func (a *appender) DropFences(r KeyRange) error {
	err := a.inTransaction()
	if err == nil {
		err = a.fences.forget(r)
	}
	if err != nil {
		return fmt.Errorf("drop fences of index %d: %w", r.Index, mapError(err))
	}
	return nil
}

func (f *fencer) forget(r KeyRange) error {
	stmt := f.drop
	if r.To != "" {
		stmt = f.dropTo
		stmt.BindBytes(3, bytesOf(r.To))
	}
	var id [4]byte
	stmt.BindBytes(1, appendID(id[:0], uint32(r.Index)))
	stmt.BindBytes(2, bytesOf(r.From))
	return run(stmt)
}

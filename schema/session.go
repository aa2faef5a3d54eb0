package schema

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// session is one read connection with its statements.
type session struct {
	conn    *sqlite.Conn
	open    bool     // between Begin and End
	more    []byte   // scratch
	moments []moment // scratch
	stmts   [statementCount]*sqlite.Stmt
	scan    scanner // its buffers
	visit   visitor // of the walk under way
	peeked  visitor // of a peek, also within a walk
	walking bool
}

var _ Session = (*session)(nil)

// statement numbers a session's statements. They are prepared when they are
// first needed, and then held.
type statement int

const (
	stmtBegin statement = iota
	stmtEnd
	stmtRow
	stmtEntry
	stmtScan
	stmtScanTo
	stmtScanBack
	stmtScanBackTo
	stmtVersions
	stmtVersionsBack
	stmtWalk
	stmtWalkValue
	stmtPeek
	stmtPeekValue
	stmtEntries
	stmtLast
	stmtGlobal
	stmtFences
	statementCount
)

var sessionSQL = [statementCount]string{
	stmtBegin:        `BEGIN`,
	stmtEnd:          `COMMIT`,
	stmtRow:          sqlRow,
	stmtEntry:        sqlEntryRow,
	stmtScan:         sqlScan,
	stmtScanTo:       sqlScanTo,
	stmtScanBack:     sqlScanBack,
	stmtScanBackTo:   sqlScanBackTo,
	stmtVersions:     sqlVersions,
	stmtVersionsBack: sqlVersionsBack,
	stmtWalk:         sqlWalk,
	stmtWalkValue:    sqlWalkValue,
	stmtPeek:         sqlPeek,
	stmtPeekValue:    sqlPeekValue,
	stmtEntries:      sqlEntries,
	stmtLast:         sqlLast,
	stmtGlobal:       sqlGlobal,
	stmtFences:       sqlFences,
}

func (s *session) stmt(n statement) (*sqlite.Stmt, error) {
	if s.stmts[n] == nil {
		stmt, err := s.conn.Prepare(sessionSQL[n])
		if err != nil {
			return nil, mapError(err)
		}
		s.stmts[n] = stmt
	}
	return s.stmts[n], nil
}

func (s *session) Begin() error {
	if s.open {
		return fmt.Errorf("begin read: %w", errNested)
	}
	if err := s.control(stmtBegin); err != nil {
		return fmt.Errorf("begin read: %w", err)
	}
	s.open = true
	return nil
}

func (s *session) End() error {
	if !s.open {
		return nil
	}
	s.open = false
	if err := s.control(stmtEnd); err != nil {
		return fmt.Errorf("end read: %w", err)
	}
	return nil
}

func (s *session) control(n statement) error {
	stmt, err := s.stmt(n)
	if err != nil {
		return err
	}
	return mapError(run(stmt))
}

func (s *session) Close() error {
	if err := s.conn.Close(); err != nil {
		return fmt.Errorf("close session: %w", err)
	}
	return nil
}

func (s *session) Get(table TableID, id string, at Timestamp) (*Row, error) {
	row, err := s.get(table, id, at)
	if err != nil {
		return nil, fmt.Errorf("read %d/%.40q at %d: %w", table, id, at, mapError(err))
	}
	return row, nil
}

// get is two descents: one of indexes, for the moment, and one of documents.
// Both see one state of the file, or a version that is pruned between them
// would look like corruption.
func (s *session) get(table TableID, id string, at Timestamp) (_ *Row, err error) {
	if !s.open {
		if err := s.Begin(); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.End()) }()
	}
	e, ok, err := s.entry(ByID(table), bytesOf(id), at)
	if err != nil || !ok {
		return nil, err
	}
	row, err := s.row(table, id, e.TS)
	switch {
	case err != nil:
		return nil, err
	case row == nil:
		return nil, fmt.Errorf("%w: index entry at %d without a row", ErrCorrupt, e.TS)
	case row.Deleted != e.Deleted:
		return nil, fmt.Errorf("%w: index entry and row at %d disagree on the deletion", ErrCorrupt, e.TS)
	}
	return row, nil
}

// sqlRow finds one version.
const sqlRow = `
SELECT deleted, prev_ts, json_value, author
  FROM documents
 WHERE ts = :ts AND table_id = :table AND id = :id`

func (s *session) Row(table TableID, id string, ts Timestamp) (*Row, error) {
	row, err := s.row(table, id, ts)
	if err != nil {
		return nil, fmt.Errorf("read version %d/%.40q at %d: %w", table, id, ts, mapError(err))
	}
	return row, nil
}

func (s *session) row(table TableID, id string, ts Timestamp) (*Row, error) {
	stmt, err := s.stmt(stmtRow)
	if err != nil {
		return nil, err
	}
	var buf [4]byte
	stmt.BindInt64(1, int64(ts))
	stmt.BindBytes(2, appendID(buf[:0], uint32(table)))
	stmt.BindBytes(3, bytesOf(id))
	found, err := stmt.Step()
	if err != nil || !found {
		return nil, resetAfter(stmt, err)
	}
	row := &Row{
		TS:      ts,
		Prev:    Timestamp(stmt.ColumnInt64(1)),
		Table:   table,
		Deleted: stmt.ColumnBool(0),
		Author:  stmt.ColumnInt64(3), // NULL is 0
		ID:      id,
	}
	row.JSON, row.Value = readValue(stmt, 2)
	return row, stmt.Reset()
}

// sqlLast finds the newest row's timestamp.
const sqlLast = `
SELECT ts
  FROM documents
 ORDER BY ts DESC, table_id DESC, id DESC
 LIMIT 1`

func (s *session) Last() (ts Timestamp, err error) {
	stmt, err := s.stmt(stmtLast)
	found := false
	if err == nil {
		if found, err = stmt.Step(); found {
			ts = Timestamp(stmt.ColumnInt64(0))
		}
		err = resetAfter(stmt, err)
	}
	if err != nil {
		return 0, fmt.Errorf("read the newest row: %w", mapError(err))
	}
	return ts, nil
}

// sqlGlobal finds a named fact.
const sqlGlobal = `
SELECT json_value
  FROM globals
 WHERE key = :key`

func (s *session) Global(key string) (json string, ok bool, err error) {
	stmt, err := s.stmt(stmtGlobal)
	if err == nil {
		stmt.BindText(1, key)
		if ok, err = stmt.Step(); ok {
			json = stmt.ColumnText(0)
		}
		err = resetAfter(stmt, err)
	}
	if err != nil {
		return "", false, fmt.Errorf("read global %q: %w", key, mapError(err))
	}
	return json, ok, nil
}

// The pragmas that measure a file.
const (
	sqlPageBytes = `PRAGMA page_size`
	sqlPages     = `PRAGMA page_count`
	sqlFreePages = `PRAGMA freelist_count`
)

func (s *session) Space() (Space, error) {
	space, err := s.space()
	if err != nil {
		return Space{}, fmt.Errorf("measure space: %w", mapError(err))
	}
	return space, nil
}

// space asks three times, and all see one state of the file.
func (s *session) space() (space Space, err error) {
	if !s.open {
		if err := s.Begin(); err != nil {
			return space, err
		}
		defer func() { err = errors.Join(err, s.End()) }()
	}
	for sql, n := range map[string]*int64{sqlPageBytes: &space.PageBytes, sqlPages: &space.Pages, sqlFreePages: &space.FreePages} {
		if *n, err = queryInt(s.conn, sql); err != nil {
			return space, err
		}
	}
	return space, nil
}

// sqlCheck reads every page and compares what refers to what.
const sqlCheck = `PRAGMA integrity_check(10)`

func (s *session) Check() error {
	var complaints []string
	err := query(s.conn, sqlCheck, func(stmt *sqlite.Stmt) {
		complaints = append(complaints, stmt.ColumnText(0))
	})
	if err != nil {
		return fmt.Errorf("check: %w", mapError(err))
	}
	if len(complaints) != 1 || complaints[0] != "ok" {
		return fmt.Errorf("check: %w: %q", ErrCorrupt, complaints)
	}
	return nil
}

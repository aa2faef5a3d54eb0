package schema

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// A walk reads the log without its values, which may be larger than memory,
// and a value only when its visitor asks for it.

// inlineBytes is up to which size a value comes with its row. A larger one is
// found a second time when it is asked for, and not read otherwise.
const inlineBytes = 64 << 10

// sqlWalk walks the log behind a cursor, sqlPeek finds one version. SQLite
// takes the size and the type of a value from the row's header, and does not
// follow it through its pages.
const (
	sqlWalk = `
SELECT ts, table_id, id, deleted, prev_ts, author,
       octet_length(json_value), typeof(json_value) = 'text',
       CASE WHEN octet_length(json_value) <= :inline THEN json_value END
  FROM documents
 WHERE (ts, table_id, id) > (:ts, :table, :id) AND ts <= :to
 ORDER BY ts, table_id, id`

	sqlPeek = `
SELECT ts, table_id, id, deleted, prev_ts, author,
       octet_length(json_value), typeof(json_value) = 'text',
       CASE WHEN octet_length(json_value) <= :inline THEN json_value END
  FROM documents
 WHERE ts = :ts AND table_id = :table AND id = :id`
)

// The columns of sqlWalk and sqlPeek from the value on.
const (
	columnBytes = 6
	columnJSON  = 7
	columnValue = 8
)

// sqlWalkValue and sqlPeekValue find the value of one version. A connection
// has one statement of a text, and here two are open at once.
const (
	sqlWalkValue = `
SELECT json_value
  FROM documents
 WHERE ts = :ts AND table_id = :table AND id = :id`

	sqlPeekValue = sqlWalkValue + `
 LIMIT 1`
)

// visitor stands at a row of sqlWalk or sqlPeek.
type visitor struct {
	Visit
	session *session
	stmt    *sqlite.Stmt
	large   statement // reads a value that did not come with the row
	open    bool      // large does
	null    bool
	room    []byte // for a value that did; scratch
}

func (v *visitor) value() ([]byte, error) {
	switch {
	case v.null:
		return nil, nil
	case v.ValueBytes == 0:
		return []byte{}, nil
	case v.ValueBytes <= inlineBytes:
		v.room = readInto(v.room, v.stmt, columnValue)
		return v.room, nil
	}
	stmt, err := v.session.stmt(v.large)
	if err != nil {
		return nil, err
	}
	v.close()
	var id [4]byte
	stmt.BindInt64(1, int64(v.TS))
	stmt.BindBytes(2, appendID(id[:0], uint32(v.Table)))
	stmt.BindBytes(3, bytesOf(v.ID))
	found, err := stmt.Step()
	if err != nil {
		return nil, mapError(err)
	}
	v.open = true
	if !found || stmt.ColumnLen(0) != v.ValueBytes {
		return nil, fmt.Errorf("%w: the value of %d/%.40q at %d is not what its row says", ErrCorrupt, v.Table, v.ID, v.TS)
	}
	var b borrowed
	stmt.ColumnReader(0).WriteTo(&b)
	return b, nil
}

// borrowed keeps the bytes that it is given, where a writer would copy them.
type borrowed []byte

func (b *borrowed) Write(p []byte) (int, error) {
	*b = p
	return len(p), nil
}

// close lets go of a large value.
func (v *visitor) close() error {
	if !v.open {
		return nil
	}
	v.open = false
	return v.session.stmts[v.large].Reset()
}

// at makes the visit that of the row at hand.
func (v *visitor) at(stmt *sqlite.Stmt) error {
	table, err := readID(stmt, 1)
	if err != nil {
		return err
	}
	v.from, v.stmt, v.null = v, stmt, stmt.ColumnIsNull(columnBytes)
	v.ValueBytes = stmt.ColumnInt(columnBytes) // NULL is 0
	v.Row = Row{
		TS:      Timestamp(stmt.ColumnInt64(0)),
		Prev:    Timestamp(stmt.ColumnInt64(4)),
		Table:   TableID(table),
		Deleted: stmt.ColumnBool(3),
		JSON:    stmt.ColumnBool(columnJSON),
		Author:  stmt.ColumnInt64(5), // NULL is 0
		ID:      readString(stmt, 2),
	}
	return nil
}

func (s *session) Walk(after Cursor, to Timestamp, limit int, visit func(*Visit) (more bool, err error)) (next Cursor, done bool, err error) {
	if s.walking {
		return after, false, errors.New("schema: walk within a walk")
	}
	s.walking = true
	defer func() { s.walking = false }()
	next, done, err = s.walk(after, to, limit, visit)
	if err != nil {
		return next, false, fmt.Errorf("walk the log behind %d up to %d: %w", after.TS, to, mapError(err))
	}
	return next, done, nil
}

func (s *session) walk(next Cursor, to Timestamp, limit int, visit func(*Visit) (bool, error)) (_ Cursor, done bool, err error) {
	stmt, err := s.stmt(stmtWalk)
	if err != nil {
		return next, false, err
	}
	var id [4]byte
	stmt.BindInt64(1, inlineBytes)
	stmt.BindInt64(2, int64(next.TS))
	stmt.BindBytes(3, appendID(id[:0], uint32(next.Table)))
	stmt.BindBytes(4, bytesOf(next.ID))
	stmt.BindInt64(5, int64(to))
	v := &s.visit
	v.session, v.large = s, stmtWalkValue
	for n := 0; ; {
		found, err := stmt.Step()
		if err != nil || !found {
			return next, true, resetAfter(stmt, err)
		}
		more := false
		if err = v.at(stmt); err == nil {
			more, err = visit(&v.Visit)
		}
		if err = errors.Join(err, v.close()); err != nil {
			stmt.Reset()
			return next, false, err
		}
		if more {
			next = Behind(&v.Row)
			n++
		}
		if !more || n == limit {
			return next, false, stmt.Reset()
		}
	}
}

func (s *session) Peek(table TableID, id string, ts Timestamp, visit func(*Visit) error) (found bool, err error) {
	if found, err = s.peek(table, id, ts, visit); err != nil {
		return found, fmt.Errorf("read version %d/%.40q at %d: %w", table, id, ts, mapError(err))
	}
	return found, nil
}

func (s *session) peek(table TableID, id string, ts Timestamp, visit func(*Visit) error) (bool, error) {
	stmt, err := s.stmt(stmtPeek)
	if err != nil {
		return false, err
	}
	var buf [4]byte
	stmt.BindInt64(1, inlineBytes)
	stmt.BindInt64(2, int64(ts))
	stmt.BindBytes(3, appendID(buf[:0], uint32(table)))
	stmt.BindBytes(4, bytesOf(id))
	found, err := stmt.Step()
	if err != nil || !found {
		return false, resetAfter(stmt, err)
	}
	v := &s.peeked
	v.session, v.large = s, stmtPeekValue
	if err = v.at(stmt); err == nil && visit != nil {
		err = visit(&v.Visit)
	}
	return true, errors.Join(err, v.close(), stmt.Reset())
}

// Log is a walk that keeps what it finds.
func (s *session) Log(dst []*Row, after Cursor, to Timestamp, limit int) ([]*Row, error) {
	if limit <= 0 {
		return dst, nil
	}
	_, _, err := WalkPage(s, after, to, limit, func(v *Visit) error {
		row, err := v.Copy()
		if err == nil {
			dst = append(dst, row)
		}
		return err
	})
	return dst, err
}

// WalkPage walks at most limit rows, and PageBytes of ids and values, but at
// least a row, if there is one.
func WalkPage(s Session, after Cursor, to Timestamp, limit int, visit func(*Visit) error) (next Cursor, done bool, err error) {
	bytes := 0
	return s.Walk(after, to, limit, func(v *Visit) (more bool, err error) {
		before := bytes
		bytes += len(v.ID) + v.ValueBytes
		if bytes > PageBytes && before > 0 {
			return false, nil
		}
		return true, visit(v)
	})
}

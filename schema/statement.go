package schema

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// execute runs one statement that is needed once.
func execute(conn *sqlite.Conn, sql string, args ...string) error {
	return query(conn, sql, nil, args...)
}

// query runs one statement that is needed once, with text arguments.
func query(conn *sqlite.Conn, sql string, row func(*sqlite.Stmt), args ...string) error {
	stmt, trailing, err := conn.PrepareTransient(sql)
	if err != nil {
		return err
	}
	defer stmt.Finalize()
	if trailing != 0 {
		return fmt.Errorf("schema: %q has %d trailing bytes", sql, trailing)
	}
	for i, arg := range args {
		stmt.BindText(i+1, arg)
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if row != nil {
			row(stmt)
		}
	}
}

func queryInt(conn *sqlite.Conn, sql string) (n int64, err error) {
	err = query(conn, sql, func(stmt *sqlite.Stmt) { n = stmt.ColumnInt64(0) })
	return n, err
}

// mapError gives an error of SQLite the sentinel that callers test for.
func mapError(err error) error {
	if err == nil {
		return nil
	}
	sentinel := error(nil)
	switch code := sqlite.ErrCode(err); code.ToPrimary() {
	case sqlite.ResultFull:
		sentinel = ErrFull
	case sqlite.ResultBusy, sqlite.ResultLocked:
		sentinel = ErrBusy
	case sqlite.ResultCorrupt:
		sentinel = ErrCorrupt
	case sqlite.ResultNotADB:
		sentinel = ErrCorrupt
	case sqlite.ResultConstraint:
		if code == sqlite.ResultConstraintPrimaryKey {
			sentinel = ErrDuplicate
		}
	}
	if sentinel == nil || errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// run steps a held statement that returns no rows.
func run(stmt *sqlite.Stmt) error {
	if _, err := stmt.Step(); err != nil {
		return err
	}
	return stmt.Reset()
}

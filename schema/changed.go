package schema

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// ErrChanged means that another connection than this engine's has written to
// the file. What the engine's user keeps in memory is not true any more. In a
// file where other programs keep tables of their own, only a newer row of the
// log is a change.
var ErrChanged = errors.New("schema: the file was changed by another process")

// sqlDataVersion tells whether another connection has written: the number
// changes then, and with nothing that this connection commits.
const sqlDataVersion = `PRAGMA data_version`

// witness notices when somebody else writes to the file.
type witness struct {
	version int64
	newest  Timestamp // of the rows that this connection has found or appended
	written bool      // something was written in the open transaction
	unsure  bool      // a transaction was undone, which may change the number
}

// dataVersion steps the held statement.
func (a *appender) dataVersion() (int64, error) {
	found, err := a.version.Step()
	n := int64(0)
	if found {
		n = a.version.ColumnInt64(0)
	}
	return n, resetAfter(a.version, err)
}

// watch remembers the file as it is.
func (a *appender) watch() error {
	newest, err := a.newest()
	if err == nil {
		a.seen.newest = newest
		a.seen.version, err = a.dataVersion()
	}
	return mapError(err)
}

// newest is the timestamp of the log's last row; 0 if there is none.
func (a *appender) newest() (ts Timestamp, err error) {
	err = query(a.conn, sqlLast, func(stmt *sqlite.Stmt) { ts = Timestamp(stmt.ColumnInt64(0)) })
	return ts, err
}

// unchanged is asked within a new transaction: ErrChanged if somebody else has
// written since the last one. The transaction is undone then.
func (a *appender) unchanged() error {
	version, err := a.dataVersion()
	if err == nil && version != a.seen.version && !a.seen.unsure {
		return a.explain()
	}
	if err != nil {
		return errors.Join(mapError(err), a.Rollback())
	}
	a.seen.version, a.seen.unsure = version, false
	return nil
}

// sqlForeignTables counts the tables of other programs, Litestream for one.
const sqlForeignTables = `
SELECT count(*)
  FROM sqlite_schema
 WHERE type = 'table' AND name NOT IN ('documents', 'indexes', 'globals', 'fences')`

// explain begins again if what happened is harmless: another process has
// emptied the write-ahead log, or a program that keeps tables of its own in
// the file has written. In both cases no row is newer than those we know.
func (a *appender) explain() error {
	if err := a.Rollback(); err != nil {
		return err
	}
	newest, err := a.newest()
	if err != nil {
		return mapError(err)
	}
	pages, err := a.WALPages()
	if err != nil {
		return err
	}
	others, err := queryInt(a.conn, sqlForeignTables)
	if err != nil {
		return mapError(err)
	}
	if newest > a.seen.newest || pages > 0 && others == 0 {
		return fmt.Errorf("%w: %s", ErrChanged, a.engine.path)
	}
	a.seen.unsure = true
	return a.begins()
}

package schema

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// appender is the one write session. All its statements are prepared once and
// held: looking them up by text costs more than running them.
type appender struct {
	engine  *SQLite
	conn    *sqlite.Conn // nil on a read-only engine
	hurried bool         // the busy timeout is off
	seen    witness      // of what others write

	begin, commit, rollback *sqlite.Stmt
	version                 *sqlite.Stmt
	deleteRow               *sqlite.Stmt
	deleteSingle            *sqlite.Stmt
	findRun, deleteRun      *sqlite.Stmt
	dropIndexes, setGlobal  *sqlite.Stmt

	appends inserter // rows of the log
	merges  inserter // index entries
	forgets forgetter
	fences  fencer
}

var _ Appender = (*appender)(nil)

func newAppender(s *SQLite, conn *sqlite.Conn) *appender {
	return &appender{engine: s, conn: conn}
}

// IMMEDIATE takes the write lock at once, so that nothing later can be busy.
const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`
)

// sqlDeleteRow forgets one version. A statement for 64 of them, by a list of
// row values, takes 20 % longer, and twice as long when rows between them stay.
const sqlDeleteRow = `
DELETE FROM documents
 WHERE ts = :ts AND table_id = :table AND id = :id`

// sqlDropIndexes empties the table. Without a WHERE, SQLite frees its pages
// and does not look at rows.
const sqlDropIndexes = `DELETE FROM indexes`

// sqlSetGlobal names a fact, or replaces it.
const sqlSetGlobal = `
INSERT INTO globals (key, json_value)
VALUES (:key, :json)
    ON CONFLICT (key) DO UPDATE SET json_value = excluded.json_value`

// held is where a statement is kept.
type held struct {
	stmt **sqlite.Stmt
	sql  string
}

// statements are all but the inserters'.
func (a *appender) statements() []held {
	return append(a.fences.statements(), []held{
		{&a.begin, sqlBegin}, {&a.commit, sqlCommit}, {&a.rollback, sqlRollback}, {&a.version, sqlDataVersion},
		{&a.deleteRow, sqlDeleteRow}, {&a.findRun, sqlVersions}, {&a.deleteRun, sqlDeleteRun}, {&a.deleteSingle, sqlDeleteSingle},
		{&a.dropIndexes, sqlDropIndexes}, {&a.setGlobal, sqlSetGlobal},
	}...)
}

func (a *appender) prepare() (err error) {
	for _, p := range a.statements() {
		if *p.stmt, err = a.conn.Prepare(p.sql); err != nil {
			return mapError(err)
		}
	}
	if err := a.appends.prepare(a.conn, sqlAppend, rowColumns); err != nil {
		return mapError(err)
	}
	if err := a.merges.prepare(a.conn, sqlMerge, entryColumns); err != nil {
		return mapError(err)
	}
	a.ownStatements()
	a.forgets = forgetter{conn: a.conn, single: a.deleteSingle, walk: a.findRun, drop: a.deleteRun, put: &a.merges}
	a.fences.reads = session{conn: a.conn, open: true}
	return nil
}

// ownStatements finds the statements that insert, to which bytes are lent. The
// rows of those that write the log come in order, so they may fill their pages:
// a group of 32 changes 5.8 pages and not 7, and the file is a tenth smaller.
func (a *appender) ownStatements() (all bool) {
	all = true
	for i, n := range insertSizes {
		s := &a.appends.sizes[i]
		s.own = a.engine.gather.Statement(insertSQL(sqlAppend, rowColumns, n))
		all = s.own.FillLeaves() && all
		a.merges.sizes[i].own = a.engine.gather.Statement(insertSQL(sqlMerge, entryColumns, n))
	}
	return all
}

func (a *appender) close() error {
	if a.conn == nil {
		return nil
	}
	conn := a.conn
	a.conn = nil
	return conn.Close()
}

func (a *appender) Begin() error { return a.beginWaiting(true) }

func (a *appender) TryBegin() error { return a.beginWaiting(false) }

// wait says whether the connection waits for other processes from now on.
// Mostly it is as it was, which is cheaper than telling SQLite each time.
func (a *appender) wait(patient bool) {
	if patient != a.hurried {
		return
	}
	a.hurried = !patient
	if patient {
		a.conn.SetBusyTimeout(a.engine.opts.BusyTimeout)
	} else {
		a.conn.SetBusyTimeout(0)
	}
}

func (a *appender) beginWaiting(patient bool) error {
	if a.conn == nil {
		return fmt.Errorf("begin: %w", ErrReadOnly)
	}
	a.wait(patient)
	if err := a.begins(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

func (a *appender) begins() error {
	if err := run(a.begin); err != nil {
		return mapError(err)
	}
	a.seen.written = false
	return a.unchanged()
}

func (a *appender) Commit() error {
	if a.conn == nil {
		return fmt.Errorf("commit: %w", ErrReadOnly)
	}
	if err := run(a.commit); err != nil {
		return fmt.Errorf("commit: %w", mapError(err))
	}
	if a.engine.opts.Sync != SyncFull {
		return nil // Sync looks
	}
	if err := a.engine.InPlace(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (a *appender) Rollback() error {
	if a.conn == nil {
		return nil
	}
	a.seen.unsure = a.seen.unsure || a.seen.written
	if a.conn.AutocommitEnabled() {
		return nil
	}
	if err := run(a.rollback); err != nil {
		return fmt.Errorf("rollback: %w", mapError(err))
	}
	return nil
}

// inTransaction refuses a write outside Begin and Commit: SQLite would commit
// it on its own. It is so too when SQLite has rolled back by itself.
func (a *appender) inTransaction() error {
	if a.conn == nil {
		return ErrReadOnly
	}
	if a.conn.AutocommitEnabled() {
		return errNoTransaction
	}
	a.seen.written = true
	return nil
}

var errNoTransaction = errors.New("schema: write outside a transaction")

func (a *appender) Append(rows []*Row) error {
	if err := a.inTransaction(); err != nil {
		return fmt.Errorf("append %d rows: %w", len(rows), err)
	}
	if err := a.appends.rows(rows); err != nil {
		return fmt.Errorf("append %d rows: %w", len(rows), mapError(err))
	}
	for _, r := range rows {
		a.seen.newest = max(a.seen.newest, r.TS)
	}
	return nil
}

func (a *appender) Merge(entries []Entry) error {
	if err := a.inTransaction(); err != nil {
		return fmt.Errorf("merge %d entries: %w", len(entries), err)
	}
	if err := a.merges.entries(entries); err != nil {
		return fmt.Errorf("merge %d entries: %w", len(entries), mapError(err))
	}
	return nil
}

func (a *appender) Remerge(entries []Entry) error {
	if err := a.DeleteEntries(entries); err != nil {
		return err
	}
	return a.Merge(entries)
}

func (a *appender) DeleteRows(rows []*Row) error {
	if err := a.inTransaction(); err != nil {
		return fmt.Errorf("delete %d rows: %w", len(rows), err)
	}
	var id [4]byte
	for _, r := range rows {
		a.deleteRow.BindInt64(1, int64(r.TS))
		a.deleteRow.BindBytes(2, appendID(id[:0], uint32(r.Table)))
		a.deleteRow.BindBytes(3, bytesOf(r.ID))
		if err := run(a.deleteRow); err != nil {
			return fmt.Errorf("delete row %d/%q at %d: %w", r.Table, r.ID, r.TS, mapError(err))
		}
	}
	return nil
}

func (a *appender) DeleteEntries(entries []Entry) error {
	if err := a.inTransaction(); err != nil {
		return fmt.Errorf("delete %d entries: %w", len(entries), err)
	}
	if err := a.forgets.each(entries); err != nil {
		return fmt.Errorf("delete %d entries: %w", len(entries), mapError(err))
	}
	return nil
}

func (a *appender) Forget(entries []Entry) error {
	if err := a.inTransaction(); err != nil {
		return fmt.Errorf("forget %d keys: %w", len(entries), err)
	}
	if err := a.forgets.upTo(entries); err != nil {
		return fmt.Errorf("forget %d keys: %w", len(entries), mapError(err))
	}
	return nil
}

func (a *appender) DropIndexes() error {
	err := a.inTransaction()
	if err == nil {
		err = run(a.dropIndexes)
	}
	if err == nil {
		err = run(a.fences.dropAll)
	}
	if err != nil {
		return fmt.Errorf("drop indexes: %w", mapError(err))
	}
	return nil
}

func (a *appender) SetGlobal(key, json string) error {
	err := a.inTransaction()
	if err == nil {
		a.setGlobal.BindText(1, key)
		a.setGlobal.BindText(2, json)
		err = run(a.setGlobal)
	}
	if err != nil {
		return fmt.Errorf("set global %q: %w", key, mapError(err))
	}
	return nil
}

func (a *appender) Checkpoint() (CheckpointResult, error) {
	return a.checkpoint(sqlCheckpointPassive)
}

// Truncate asks with the busy timeout off: a reader is not waited for.
func (a *appender) Truncate() (CheckpointResult, error) {
	if a.conn == nil {
		return CheckpointResult{}, fmt.Errorf("checkpoint: %w", ErrReadOnly)
	}
	a.wait(false)
	return a.checkpoint(sqlCheckpointTruncate)
}

func (a *appender) checkpoint(sql string) (CheckpointResult, error) {
	if a.conn == nil {
		return CheckpointResult{}, fmt.Errorf("checkpoint: %w", ErrReadOnly)
	}
	return checkpoint(a.conn, sql)
}

// Vacuum costs 4 µs a page where the free pages are the last ones of the file.
// Where others must be moved into them it is 6 to 37 µs, more the more pages
// are free, and 0.5 KB of write-ahead log: 100 pages take some 4 to 25 ms, for
// which the writer waits.
func (a *appender) Vacuum(pages int) (left int64, err error) {
	if a.conn == nil {
		return 0, fmt.Errorf("vacuum: %w", ErrReadOnly)
	}
	a.wait(false)
	if pages > 0 {
		// 0 would mean all of them.
		if err := execute(a.conn, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages)); err != nil {
			return 0, fmt.Errorf("vacuum %d pages: %w", pages, mapError(err))
		}
	}
	if left, err = queryInt(a.conn, sqlFreePages); err != nil {
		return 0, fmt.Errorf("count free pages: %w", mapError(err))
	}
	return left, nil
}

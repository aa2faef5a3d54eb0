package schema

// What is particular to the engine on SQLite: its plans, settings, files and
// the errors that the file system and other processes cause.

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
)

func openTest(t testing.TB, o Options) *SQLite {
	t.Helper()
	return openPath(t, filepath.Join(t.TempDir(), "test.db"), o)
}

func openPath(t testing.TB, path string, o Options) *SQLite {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openSession(t testing.TB, s *SQLite) Session {
	t.Helper()
	r, err := s.Session()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// writeSample writes a document with two versions.
func writeSample(t testing.TB, s *SQLite) {
	t.Helper()
	a := s.Appender()
	must(t, a.Begin(), a.Append([]*Row{
		{TS: 5, Table: 1, ID: "a", Value: []byte("one")},
		{TS: 6, Prev: 5, Table: 1, ID: "a", Value: []byte(`{"two":2}`), JSON: true},
	}), a.Merge([]Entry{{Index: ByID(1), TS: 5, Key: "a"}, {Index: ByID(1), TS: 6, Key: "a"}}), a.Commit())
}

// TestPlans pins the query plans: the wrong index is a bug, not a slow day.
func TestPlans(t *testing.T) {
	s := openTest(t, Options{})
	const (
		byKey     = "SEARCH indexes USING PRIMARY KEY (index_id=? AND key=? AND ts<?)"
		between   = "SEARCH indexes USING PRIMARY KEY (index_id=? AND key=? AND ts>? AND ts<?)"
		from      = "SEARCH indexes USING PRIMARY KEY (index_id=? AND key>?)"
		fromTo    = "SEARCH indexes USING PRIMARY KEY (index_id=? AND key>? AND key<?)"
		newestRow = "; SCALAR SUBQUERY 1; " + byKey
		row       = "SEARCH documents USING PRIMARY KEY (ts=? AND table_id=? AND id=?)"
	)
	want := map[string]string{
		sqlBegin: "", sqlCommit: "", sqlRollback: "", sqlDataVersion: "", `BEGIN`: "",
		sqlDeleteRow:    row,
		sqlDeleteSingle: "SEARCH indexes USING PRIMARY KEY (index_id=? AND key=? AND ts=?)",
		sqlDeleteRun:    between,
		sqlDropIndexes:  "", // the table's pages, not its rows

		sqlFences:        "SEARCH fences USING PRIMARY KEY (index_id=? AND key>?); SCALAR SUBQUERY 1; SEARCH fences USING PRIMARY KEY (index_id=? AND key>? AND key<?)",
		sqlSetFence:      "",
		sqlDropFences:    "SEARCH fences USING PRIMARY KEY (index_id=? AND key>?)",
		sqlDropFencesTo:  "SEARCH fences USING PRIMARY KEY (index_id=? AND key>? AND key<?)",
		sqlDropAllFences: "",
		sqlSetGlobal:     "",
		sqlRow:           row,
		sqlEntryRow:      byKey,
		sqlScan:          from,
		sqlScanTo:        fromTo,
		sqlScanBack:      from,
		sqlScanBackTo:    fromTo,
		sqlVersions:      between + newestRow,
		sqlVersionsBack:  between + newestRow,
		sqlWalk:          "SEARCH documents USING PRIMARY KEY ((ts,table_id,id)>(?,?,?) AND ts<?)",
		sqlPeek:          row,
		sqlWalkValue:     row,
		sqlPeekValue:     row,
		sqlEntries:       "SEARCH indexes USING PRIMARY KEY ((index_id,key,ts)>(?,?,?))" + newestRow + "; REUSE SUBQUERY 1",
		sqlLast:          "SCAN documents",
		sqlGlobal:        "SEARCH globals USING PRIMARY KEY (key=?)",
	}
	queries := slices.Clone(sessionSQL[:])
	for _, p := range s.app.statements() {
		queries = append(queries, p.sql)
	}
	for _, query := range queries {
		expected, ok := want[query]
		if !ok {
			t.Errorf("no plan is pinned for %s", query)
		}
		if got := plan(t, s.app.conn, query); got != expected {
			t.Errorf("plan of %s:\n got %s\nwant %s", query, got, expected)
		}
	}
	for head, columns := range map[string]int{sqlAppend: rowColumns, sqlMerge: entryColumns} {
		tuple := "(?" + strings.Repeat(", ?", columns-1) + ")"
		if got, want := plan(t, s.app.conn, head+tuple), ""; got != want {
			t.Errorf("plan of one row's insert:\n got %s\nwant %s", got, want)
		}
		if got, want := plan(t, s.app.conn, head+tuple+", "+tuple), "SCAN 2-ROW VALUES CLAUSE"; !strings.HasSuffix(got, want) {
			t.Errorf("plan of two rows' insert:\n got %s\nwant %s", got, want)
		}
	}
}

func plan(t *testing.T, conn *sqlite.Conn, sql string) string {
	t.Helper()
	var steps []string
	must(t, query(conn, "EXPLAIN QUERY PLAN "+sql, func(stmt *sqlite.Stmt) {
		steps = append(steps, stmt.ColumnText(3))
	}))
	return strings.Join(steps, "; ")
}

// TestPragmas asks every kind of connection for its settings: one that is set
// on some of them only is a bug that shows up late.
func TestPragmas(t *testing.T) {
	s := openTest(t, Options{MaxPages: 1234, WriterCacheBytes: 4 << 20, ReaderCacheBytes: 1 << 20})
	r := openSession(t, s).(*session)
	common := map[string]int64{
		"application_id": applicationID, "user_version": FormatVersion, "page_size": 4096, "auto_vacuum": 2,
		"synchronous": 2, "wal_autocheckpoint": 0, "foreign_keys": 1, "busy_timeout": 5000, "temp_store": 2, "trusted_schema": 0,
	}
	for name, c := range map[string]struct {
		conn  *sqlite.Conn
		extra map[string]int64
	}{
		"writer":       {s.app.conn, map[string]int64{"cache_size": -4096, "max_page_count": 1234}},
		"checkpointer": {s.checkpointer, map[string]int64{"cache_size": -1024}},
		"reader":       {r.conn, map[string]int64{"cache_size": -1024}},
	} {
		for _, settings := range []map[string]int64{common, c.extra} {
			for pragma, want := range settings {
				if got, err := queryInt(c.conn, "PRAGMA "+pragma); got != want || err != nil {
					t.Errorf("%s of the %s: got %d, %v, want %d", pragma, name, got, err, want)
				}
			}
		}
		mode := ""
		must(t, query(c.conn, "PRAGMA journal_mode", func(stmt *sqlite.Stmt) { mode = stmt.ColumnText(0) }))
		if mode != "wal" {
			t.Errorf("journal mode of the %s: got %q, want wal", name, mode)
		}
	}
	if err := execute(r.conn, "DELETE FROM documents"); err == nil {
		t.Error("write by a reader: got no error, want one")
	}
}

func TestSyncNormalIsASetting(t *testing.T) {
	s := openTest(t, Options{Sync: SyncNormal})
	if got, err := queryInt(s.app.conn, "PRAGMA synchronous"); got != 1 || err != nil {
		t.Errorf("synchronous: got %d, %v, want 1", got, err)
	}
	must(t, s.Sync()) // nothing written yet
	writeSample(t, s)
	must(t, s.Sync(), s.Sync())
}

// TestReadsLetGoOfTheFile empties the log after every kind of read: a
// statement that is not reset would keep its transaction, and the log growing.
func TestReadsLetGoOfTheFile(t *testing.T) {
	s := openTest(t, Options{})
	r := openSession(t, s)
	byID := ByID(1)
	pass := func(v *Visit) (bool, error) { _, err := v.Value(); return true, err }
	stop := func(*Visit) (bool, error) { return false, nil }
	reads := map[string]func() error{
		"Get":         func() error { _, err := r.Get(1, "a", 9); return err },
		"Get none":    func() error { _, err := r.Get(1, "b", 9); return err },
		"Get corrupt": func() error { r.Get(1, "dangling", 9); return nil },
		"Row":         func() error { _, err := r.Row(1, "a", 5); return err },
		"Entry":       func() error { _, _, err := r.Entry(byID, "a", 5); return err },
		"Scan":        func() error { _, _, _, err := r.Scan(nil, KeyRange{Index: byID}, 9, 1); return err },
		"Scan back":   func() error { _, _, _, err := r.Scan(nil, KeyRange{Index: byID, Reverse: true}, 9, 1); return err },
		"Versions":    func() error { _, err := r.Versions(nil, byID, "a", 0, 9, false, 1); return err },
		"Log":         func() error { _, err := r.Log(nil, Cursor{}, 9, 1); return err },
		"Entries":     func() error { _, err := r.Entries(nil, Entry{}, 1); return err },
		"Walk":        func() error { _, _, err := r.Walk(Cursor{}, 9, 1, pass); return err },
		"Walk stops":  func() error { _, _, err := r.Walk(Cursor{}, 9, 0, stop); return err },
		"Peek":        func() error { _, err := r.Peek(1, "a", 5, nil); return err },
		"Last":        func() error { _, err := r.Last(); return err },
		"Global":      func() error { _, _, err := r.Global(GlobalIncarnation); return err },
		"Space":       func() error { _, err := r.Space(); return err },
		"Check":       r.Check,
	}
	a := s.Appender()
	must(t, a.Begin(), a.Merge([]Entry{{Index: byID, TS: 1, Key: "dangling"}}), a.Commit())
	writeSample(t, s)
	for name, read := range reads {
		must(t, read())
		must(t, a.Begin(), a.SetGlobal("read", strconv.Quote(name)), a.Commit()) // the same value would write nothing
		if got, err := a.Truncate(); got.Busy || err != nil {
			t.Errorf("Truncate after %s: got %+v, %v, want not busy", name, got, err)
		}
		if got := s.WALBytes(); got != 0 {
			t.Errorf("log after %s: got %d bytes, want 0", name, got)
		}
	}
}

// TestFullDisk fills the file: the transaction is lost as a whole, what was
// committed stays, and the store works on once there is room.
func TestFullDisk(t *testing.T) {
	s := openTest(t, Options{MaxPages: 40})
	writeSample(t, s)
	a := s.Appender()
	must(t, a.Begin())
	var err error
	for i := 0; err == nil; i++ {
		if i == 1000 {
			t.Fatal("1000 rows of 10 KB in 40 pages: got no error, want ErrFull")
		}
		err = a.Append([]*Row{{TS: Timestamp(10 + i), Table: 1, ID: "big", Value: make([]byte, 10_000)}})
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("append to a full disk: got %v, want ErrFull", err)
	}
	must(t, a.Rollback())
	must(t, a.Begin(), a.Append([]*Row{{TS: 7, Prev: 6, Table: 1, ID: "a"}}), a.Commit())
	rows, err := openSession(t, s).Log(nil, Cursor{}, MaxTimestamp, 100)
	if len(rows) != 3 || err != nil {
		t.Fatalf("log after the full disk: got %d rows, %v, want 3", len(rows), err)
	}
	must(t, execute(s.app.conn, "PRAGMA max_page_count = 1000"))
	must(t, a.Begin(), a.Append([]*Row{{TS: 8, Table: 1, ID: "big", Value: make([]byte, 1_000_000)}}), a.Commit())
}

// TestAnotherProcessIsBusy holds the write lock as the sqlite3 shell could.
func TestAnotherProcessIsBusy(t *testing.T) {
	s := openTest(t, Options{BusyTimeout: -1})
	shell, err := sqlite.OpenConn(s.Path(), sqlite.OpenReadWrite)
	must(t, err)
	defer shell.Close()
	must(t, execute(shell, "BEGIN IMMEDIATE"))
	a := s.Appender()
	if err := a.Begin(); !errors.Is(err, ErrBusy) {
		t.Fatalf("Begin beside a writer: got %v, want ErrBusy", err)
	}
	if r, err := a.Truncate(); !r.Busy || err != nil {
		t.Fatalf("Truncate beside a writer: got %+v, %v, want busy", r, err)
	}
	must(t, execute(shell, "ROLLBACK"))
	writeSample(t, s)
}

func TestSecondWriterIsRefused(t *testing.T) {
	s := openTest(t, Options{})
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(s.Path(), link))
	for _, path := range []string{s.Path(), link} {
		second, err := Open(path, Options{})
		if !errors.Is(err, ErrLocked) {
			if err == nil {
				second.Close()
			}
			t.Fatalf("second Open of %s: got %v, want ErrLocked", path, err)
		}
		if !strings.Contains(err.Error(), s.Path()) {
			t.Errorf("the refusal does not name the path: got %v", err)
		}
	}
	writeSample(t, s) // the first one is unharmed
	must(t, s.Close())
	openPath(t, s.Path(), Options{})
}

// TestReadOnlyReadsBesideAWriter opens a store that another engine is writing.
func TestReadOnlyReadsBesideAWriter(t *testing.T) {
	s := openTest(t, Options{})
	writeSample(t, s)
	ro := openPath(t, s.Path(), Options{ReadOnly: true})
	r := openSession(t, ro)
	row, err := r.Get(1, "a", 9)
	if err != nil || row == nil || row.TS != 6 {
		t.Fatalf("Get beside the writer: got %v, %v, want the version at 6", row, err)
	}
	must(t, r.Check(), ro.Sync())
	a := ro.Appender()
	_, truncate := a.Truncate()
	_, checkpoint := a.Checkpoint()
	_, vacuum := a.Vacuum(1)
	_, other := ro.Checkpoint()
	for name, err := range map[string]error{
		"Begin": a.Begin(), "Append": a.Append(nil), "Merge": a.Merge(nil), "Commit": a.Commit(), "Forget": a.Forget(nil), "DropIndexes": a.DropIndexes(),
		"Truncate": truncate, "Checkpoint": checkpoint, "Vacuum": vacuum, "Engine.Checkpoint": other,
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s on a read-only engine: got %v, want ErrReadOnly", name, err)
		}
	}
	must(t, a.Rollback())
}

// TestForeignFilesAreLeftAlone refuses what is not a store, names it, and
// changes no byte of it and, unless read only, nothing beside it.
func TestForeignFilesAreLeftAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(t *testing.T, path string)
		want error
	}{
		"text":           {func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("hello"), 0o644)) }, ErrForeign},
		"noise":          {func(t *testing.T, path string) { must(t, os.WriteFile(path, bytes.Repeat([]byte{7}, 5000), 0o644)) }, ErrForeign},
		"zeros":          {func(t *testing.T, path string) { must(t, os.WriteFile(path, make([]byte, 5000), 0o644)) }, ErrForeign},
		"no id":          {database("CREATE TABLE x (y)"), ErrForeign},
		"another id":     {database("CREATE TABLE x (y)", "PRAGMA application_id = 7"), ErrForeign},
		"another in wal": {database("PRAGMA journal_mode = WAL", "CREATE TABLE x (y)"), ErrForeign},
		"newer":          {database("CREATE TABLE x (y)", fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", FormatVersion+1)), ErrNewer},
		"version 0":      {database("CREATE TABLE x (y)", fmt.Sprintf("PRAGMA application_id = %d", applicationID)), ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "other.db")
			tt.make(t, path)
			before := files(t, path)
			for _, o := range []Options{{}, {ReadOnly: true}} {
				_, err := Open(path, o)
				if !errors.Is(err, tt.want) {
					t.Fatalf("Open, read only %t: got %v, want %v", o.ReadOnly, err, tt.want)
				}
				if !strings.Contains(err.Error(), path) {
					t.Errorf("the refusal does not name the path: got %v", err)
				}
				got := files(t, path)
				if o.ReadOnly {
					// SQLite may leave a log's empty companions behind.
					got, before = strings.Split(got, "\nother.db-")[0], strings.TrimSuffix(before, "\n")
					got = strings.TrimSuffix(got, "\n")
				}
				if got != before {
					t.Errorf("files after Open, read only %t:\n got %.200q\nwant %.200q", o.ReadOnly, got, before)
				}
			}
		})
	}
}

// database makes a database by a script.
func database(script ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
		must(t, err)
		defer conn.Close()
		for _, sql := range script {
			must(t, execute(conn, sql))
		}
	}
}

// files is everything that lies in a file's directory.
func files(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	var all strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		must(t, err)
		fmt.Fprintf(&all, "%s: %s\n", e.Name(), content)
	}
	return all.String()
}

func TestPathsThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none", "x.db"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open in no directory: got %v, want fs.ErrNotExist", err)
	}
	if _, err := Open(filepath.Join(dir, "none.db"), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read-only Open of no file: got %v, want fs.ErrNotExist", err)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("Open of a directory: got no error, want one")
	}
	for _, o := range []Options{{PageSize: 1000}, {PageSize: 1 << 20}, {Sync: 7}, {MaxPages: -1}, {ReaderCacheBytes: -1}, {CreatedAt: -1}} {
		if _, err := Open(filepath.Join(dir, "x.db"), o); err == nil {
			t.Errorf("Open with %+v: got no error, want one", o)
		}
	}
	if os.Geteuid() == 0 {
		return // permissions do not bind the superuser
	}
	path := filepath.Join(dir, "read-only.db")
	must(t, os.WriteFile(path, nil, 0o444))
	if _, err := Open(path, Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Open of a read-only file: got %v, want fs.ErrPermission", err)
	}
}

// TestEmptyFileBecomesAStore also covers what a crash while creating leaves.
func TestEmptyFileBecomesAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.db")
	must(t, os.WriteFile(path, nil, 0o644))
	if _, err := Open(path, Options{ReadOnly: true}); !errors.Is(err, ErrForeign) {
		t.Errorf("read-only Open of an empty file: got %v, want ErrForeign", err)
	}
	s := openPath(t, path, Options{CreatedAt: 77})
	if got, ok, err := openSession(t, s).Global(GlobalCreated); got != "77" || !ok || err != nil {
		t.Errorf("created: got %q, %t, %v, want 77", got, ok, err)
	}
	header, err := os.ReadFile(path)
	must(t, err)
	if err := checkHeader(header[:headerBytes]); err != nil {
		t.Errorf("header of a store whose log was never checkpointed: got %v, want no error", err)
	}
}

func TestOldSQLiteIsRefused(t *testing.T) {
	for number, want := range map[int]bool{3_051_002: false, 3_051_003: true, 3_053_004: true, 3_049_002: false} {
		if err := checkVersion(number); (err == nil) != want {
			t.Errorf("SQLite %d: got %v, want accepted %t", number, err, want)
		}
	}
}

func TestDamageIsCorruption(t *testing.T) {
	s := openTest(t, Options{})
	writeSample(t, s)
	must(t, s.Close())
	content, err := os.ReadFile(s.Path())
	must(t, err)
	for i := 4096; i < len(content); i++ {
		content[i] ^= 0x5a
	}
	must(t, os.WriteFile(s.Path(), content, 0o644))
	damaged := openPath(t, s.Path(), Options{ReadOnly: true})
	r := openSession(t, damaged)
	if err := r.Check(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Check of a damaged file: got %v, want ErrCorrupt", err)
	}
	if _, err := r.Log(nil, Cursor{}, 9, 9); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Log of a damaged file: got %v, want ErrCorrupt", err)
	}
}

// TestCloseLeavesNothingOpen counts file descriptors, also after refusals.
func TestCloseLeavesNothingOpen(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("the system does not list open files")
		}
		return len(entries)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	must(t, os.WriteFile(foreign, []byte("hello"), 0o644))
	before := count()
	for range 3 {
		s, err := Open(path, Options{})
		must(t, err)
		writeSample(t, s)
		r, err := s.Session()
		must(t, err)
		_, err = r.Last()
		must(t, err, s.Sync())
		for _, other := range []string{path, foreign} {
			if _, err := Open(other, Options{}); err == nil {
				t.Errorf("Open of %s: got no error, want one", other)
			}
		}
		must(t, r.Close(), s.Close(), s.Close())
		must(t, os.Remove(path))
	}
	if got := count(); got != before {
		t.Errorf("open files after Close: got %d, want %d", got, before)
	}
}

// TestCheckpointSyncsTheFile: whoever moves the last pages does not wait until
// all are on the disk.
func TestCheckpointSyncsTheFile(t *testing.T) {
	s := openTest(t, Options{Sync: SyncNormal})
	writeSample(t, s)
	must(t, s.inode.sync())
	file := s.inode.file
	defer func() { s.inode.file = file }()
	pipe, other, err := os.Pipe() // cannot be synced
	must(t, err)
	defer pipe.Close()
	defer other.Close()
	s.inode.file = other
	if r, err := s.Checkpoint(); err == nil || r.MovedPages == 0 {
		t.Errorf("checkpoint of a file that cannot be synced: got %+v and no error, want pages and an error", r)
	}
	s.inode.file = file
	if _, err := s.Checkpoint(); err != nil {
		t.Errorf("checkpoint: got %v, want no error", err)
	}
}

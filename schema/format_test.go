package schema

// A file that an earlier version wrote reads the same for ever. There is one
// frozen file per format version; UPDATE=1 writes that of the present one.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/firndb/firn/tuple"
)

// frozenFences came with version 4.
func frozenFences(version int) []Fence {
	if version < 4 {
		return nil
	}
	prefix := string(tuple.AppendString(nil, "hello"))
	return []Fence{
		{Index: Index(1, 1), Key: prefix, Live: 256, TS: 1_700_000_000_000_004},
		{Index: Index(1, 1), Key: prefix + "\x29\x07", Live: Uncounted, TS: 1_700_000_000_000_001},
	}
}

// frozenRows are what the frozen file of a version holds. Authors came with
// version 3.
func frozenRows(version int) []*Row {
	rows := []*Row{
		{TS: 1_700_000_000_000_001, Table: 1, ID: "greeting", Value: []byte(`{"text":"hello"}`), JSON: true},
		{TS: 1_700_000_000_000_002, Table: 1, ID: "zero\x00byte", Value: []byte{0, 1, 0xff}},
		{TS: 1_700_000_000_000_002, Table: 2, ID: "greeting", Value: []byte{}},
		{TS: 1_700_000_000_000_003, Prev: 1_700_000_000_000_001, Table: 1, ID: "greeting", Value: []byte(`{"text":"hello again"}`), JSON: true},
		{TS: 1_700_000_000_000_004, Prev: 1_700_000_000_000_003, Table: 1, ID: "greeting", Deleted: true},
		{TS: 1_700_000_000_000_005, Table: 300, ID: "far", Value: nil},
	}
	if version >= 3 {
		rows[0].Author, rows[3].Author, rows[4].Author = 1, 300, 1<<62
	}
	return rows
}

func frozenEntries(version int) []Entry {
	var entries []Entry
	for _, r := range frozenRows(version) {
		entries = append(entries, Entry{Index: ByID(r.Table), TS: r.TS, Key: r.ID, Deleted: r.Deleted})
	}
	byText := string(tuple.AppendInt(tuple.AppendString(nil, "hello"), 7))
	return append(entries,
		Entry{Index: Index(1, 1), TS: 1_700_000_000_000_001, Key: byText, ID: "greeting"},
		Entry{Index: Index(1, 1), TS: 1_700_000_000_000_004, Key: byText, Deleted: true})
}

func TestFrozenFilesOpenAndRead(t *testing.T) {
	current := filepath.Join("testdata", fmt.Sprintf("v%d.db", FormatVersion))
	if os.Getenv("UPDATE") == "1" {
		freeze(t, current)
	}
	for version := 1; version <= FormatVersion; version++ {
		content, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.db", version)))
		must(t, err)
		path := filepath.Join(t.TempDir(), "copy.db")
		must(t, os.WriteFile(path, content, 0o644))
		if version < FormatVersion {
			if _, err := Open(path, Options{ReadOnly: true}); !errors.Is(err, ErrOlder) {
				t.Errorf("read-only Open of a file of version %d: got %v, want ErrOlder", version, err)
			}
		}
		s := openPath(t, path, Options{})
		checkFrozen(t, s, version)
		if got, err := queryInt(s.app.conn, "PRAGMA user_version"); got != FormatVersion || err != nil {
			t.Errorf("version of a file of version %d, opened: got %d, %v, want %d", version, got, err, FormatVersion)
		}
		writeSample(t, s)
		must(t, s.app.Begin(), s.app.Append([]*Row{{TS: 7, Table: 1, ID: "b", Author: 5}}), s.app.Commit())
		if row, err := openSession(t, s).Row(1, "b", 7); err != nil || row == nil || row.Author != 5 {
			t.Errorf("author in a file of version %d, opened: got %+v, %v, want 5", version, row, err)
		}
	}
}

// freeze writes the frozen file of the present format.
func freeze(t *testing.T, path string) {
	t.Helper()
	made := filepath.Join(t.TempDir(), "frozen.db")
	s, err := Open(made, Options{PageSize: 512, CreatedAt: 1_700_000_000_000_000})
	must(t, err)
	a := s.Appender()
	must(t, a.Begin(), a.Append(frozenRows(FormatVersion)), a.Merge(frozenEntries(FormatVersion)), a.SetFences(frozenFences(FormatVersion)), a.SetGlobal("indexed_ts", "1700000000000005"), a.Commit(), s.Close())
	content, err := os.ReadFile(made)
	must(t, err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644))
}

func checkFrozen(t *testing.T, s *SQLite, version int) {
	t.Helper()
	r := openSession(t, s)
	rows, err := r.Log(nil, Cursor{}, MaxTimestamp, 100)
	must(t, err)
	show := func(rows []*Row) string {
		var b strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&b, "%+v nil=%t\n", *r, r.Value == nil)
		}
		return b.String()
	}
	if got, want := show(rows), show(frozenRows(version)); got != want {
		t.Errorf("frozen log of version %d:\n got %s\nwant %s", version, got, want)
	}
	for _, want := range frozenEntries(version) {
		if got, ok, err := r.Entry(want.Index, want.Key, want.TS); got != want || !ok || err != nil {
			t.Errorf("frozen entry: got %v, %t, %v, want %v", got, ok, err, want)
		}
	}
	hello := string(tuple.AppendString(nil, "hello"))
	fences, err := r.Fences(nil, KeyRange{Index: Index(1, 1), From: hello, To: hello + "\xff"}, "", 0)
	if must(t, err); !slices.Equal(fences, frozenFences(version)) {
		t.Errorf("frozen fences of version %d: got %v, want %v", version, fences, frozenFences(version))
	}
	for key, want := range map[string]string{GlobalCreated: "1700000000000000", "indexed_ts": "1700000000000005"} {
		if got, _, err := r.Global(key); got != want || err != nil {
			t.Errorf("frozen global %q: got %q, %v, want %q", key, got, err, want)
		}
	}
	must(t, r.Check())
}

// TestTablesOfLitestreamAreTolerated adds the tables of a replicator.
func TestTablesOfLitestreamAreTolerated(t *testing.T) {
	s := openTest(t, Options{})
	writeSample(t, s)
	must(t, s.Close())
	conn, err := sqlite.OpenConn(s.Path(), sqlite.OpenReadWrite)
	must(t, err)
	must(t, execute(conn, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)"),
		execute(conn, "CREATE TABLE _litestream_lock (id INTEGER)"), conn.Close())
	again := openPath(t, s.Path(), Options{})
	must(t, again.app.Begin(), again.app.Append([]*Row{{TS: 7, Table: 1, ID: "b"}}), again.app.Commit())
}

// TestTheTableRefusesNonsense goes around the appender: what the table checks
// holds for every writer, the sqlite3 shell included.
func TestTheTableRefusesNonsense(t *testing.T) {
	s := openTest(t, Options{})
	for _, values := range []string{
		"x'', 1, x'01', NULL, 0, NULL", "NULL, 1, x'01', NULL, 0, NULL", "x'61', 0, x'01', NULL, 0, NULL", "x'61', 'late', x'01', NULL, 0, NULL",
		"x'61', 1, NULL, NULL, 0, NULL", "x'61', 1, x'01', NULL, 2, NULL", "x'61', 1, x'01', NULL, 0, 1", "x'61', 1, x'01', NULL, 0, 0",
		"'text', 1, x'01', NULL, 0, NULL", "x'61', 1, 'text', NULL, 0, NULL", "x'61', 1, x'01', 1.5, 0, NULL",
	} {
		sql := "INSERT INTO documents (id, ts, table_id, json_value, deleted, prev_ts) VALUES (" + values + ")"
		if err := execute(s.app.conn, sql); err == nil {
			t.Errorf("%s: got no error, want one", sql)
		}
	}
	for _, values := range []string{
		"x'0100', x'61', 0, 0, NULL, NULL", "x'0100', NULL, 1, 0, NULL, NULL", "x'0100', 'text', 1, 0, NULL, NULL", "x'0100', x'61', 1, 2, NULL, NULL",
	} {
		sql := "INSERT INTO indexes (index_id, key, ts, deleted, table_id, document_id) VALUES (" + values + ")"
		if err := execute(s.app.conn, sql); err == nil {
			t.Errorf("%s: got no error, want one", sql)
		}
	}
	for _, values := range []string{"x'0100', x'61', -1, 1", "x'0100', NULL, 1, 1", "x'0100', x'61', 1, NULL", "x'0100', 'text', 1, 1", "x'0100', x'61', 1, -1"} {
		if err := execute(s.app.conn, "INSERT INTO fences (index_id, key, live, ts) VALUES ("+values+")"); err == nil {
			t.Errorf("fence %s: got no error, want one", values)
		}
	}
}

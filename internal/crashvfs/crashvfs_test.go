package crashvfs

// What was synced is there after a cut, what was not is there by halves, and
// the same seed cuts the same way. That a store survives it is tested where
// the store is, in package schema.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func register(t *testing.T) *Disk {
	t.Helper()
	d, err := Register("crash-" + t.Name())
	must(t, err)
	t.Cleanup(d.Unregister)
	return d
}

// connect opens a database on the disk.
func connect(t *testing.T, d *Disk, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.OpenConn("file:"+path+"?vfs="+d.Name(), sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
	must(t, err)
	t.Cleanup(func() { must(t, conn.Close()) })
	return conn
}

// write fills a table, in a write-ahead log and then in the file.
func write(t *testing.T, conn *sqlite.Conn) {
	t.Helper()
	for _, sql := range []string{
		"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE x (y)",
		"INSERT INTO x SELECT randomblob(3000) FROM (VALUES (1), (2), (3), (4))", "PRAGMA wal_checkpoint",
		"INSERT INTO x SELECT randomblob(3000) FROM (VALUES (1), (2), (3), (4))",
	} {
		must(t, sqlitex.ExecuteTransient(conn, sql, nil))
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return content
}

func TestEverythingKeptIsTheFilesThemselves(t *testing.T) {
	d := register(t)
	dir := t.TempDir()
	write(t, connect(t, d, filepath.Join(dir, "x.db")))
	cut := t.TempDir()
	must(t, d.Rebuild(cut, d.Len(), 1, Cut{KeepPercent: 100}))
	for _, name := range []string{"x.db", "x.db-wal"} {
		if got, want := read(t, cut, name), read(t, dir, name); !bytes.Equal(got, want) {
			t.Errorf("%s rebuilt: got %d bytes, want the %d of the original", name, len(got), len(want))
		}
	}
}

// script is a log written by hand: ten sectors synced, ten not.
func script() *Disk {
	d := &Disk{seen: map[string]bool{}}
	synced, later := bytes.Repeat([]byte("s"), 10*sectorBytes), bytes.Repeat([]byte("l"), 10*sectorBytes)
	for _, op := range []Op{
		{Kind: Open, Path: "/a/x"},
		{Kind: Write, Path: "/a/x", Data: synced},
		{Kind: Sync, Path: "/a/x"},
		{Kind: Write, Path: "/a/x", Data: later},
		{Kind: Open, Path: "/a/gone"},
		{Kind: Delete, Path: "/a/gone"},
		{Kind: Open, Path: "/a/y-wal"},
		{Kind: Write, Path: "/a/y-wal", Offset: 100, Data: []byte("tail")},
		{Kind: Sync, Path: "/a/y-wal"},
	} {
		d.note(op)
	}
	return d
}

func TestCutKeepsWhatWasSynced(t *testing.T) {
	count := func(c Cut, point int) (synced, later int) {
		dir := t.TempDir()
		must(t, script().Rebuild(dir, point, 7, c))
		content := read(t, dir, "x")
		return bytes.Count(content, []byte("s")) / sectorBytes, bytes.Count(content, []byte("l")) / sectorBytes
	}
	for _, tt := range []struct {
		cut           Cut
		point         int
		synced, later int
	}{
		{Cut{}, 3, 10, 0},
		{Cut{KeepPercent: -1}, 4, 10, 0},
		{Cut{KeepPercent: 100}, 4, 0, 10},
		{Cut{KeepPercent: -1}, 2, 0, 0},
		{Cut{KeepPercent: -1, IgnoreSync: true}, 3, 0, 0},
		{Cut{KeepPercent: 100, IgnoreSync: true}, 3, 10, 0},
	} {
		if synced, later := count(tt.cut, tt.point); synced != tt.synced || later != tt.later {
			t.Errorf("%+v at %d: got %d synced and %d later sectors, want %d and %d", tt.cut, tt.point, synced, later, tt.synced, tt.later)
		}
	}
	if synced, later := count(Cut{}, 4); synced+later != 10 || later == 0 || synced == 0 {
		t.Errorf("half of the later sectors: got %d synced and %d later, want some of both and 10", synced, later)
	}
}

func TestSyncOfANewLogSyncsItsDirectory(t *testing.T) {
	d := script()
	exists := func(point int, seed uint64) bool {
		dir := t.TempDir()
		must(t, d.Rebuild(dir, point, seed, Cut{}))
		_, err := os.Stat(filepath.Join(dir, "gone"))
		return err == nil
	}
	before, after := 0, 0
	for seed := range uint64(40) {
		if exists(6, seed) {
			before++
		}
		if exists(9, seed) {
			after++
		}
	}
	if before == 0 || before == 40 || after != 0 {
		t.Errorf("a deleted file came back: got %d of 40 before the sync and %d after, want some and 0", before, after)
	}
	dir := t.TempDir()
	must(t, d.Rebuild(dir, 9, 1, Cut{}))
	if got, want := read(t, dir, "y-wal"), append(make([]byte, 100), "tail"...); !bytes.Equal(got, want) {
		t.Errorf("write behind the end:\n got %q\nwant %q", got, want)
	}
}

func TestRebuildRepeatsItself(t *testing.T) {
	d := register(t)
	write(t, connect(t, d, filepath.Join(t.TempDir(), "x.db")))
	outcomes := map[string]bool{}
	for range 3 {
		dir := t.TempDir()
		must(t, d.Rebuild(dir, d.Len()-2, 42, Cut{}))
		outcomes[fmt.Sprintf("%x %x", read(t, dir, "x.db"), read(t, dir, "x.db-wal"))] = true
	}
	if len(outcomes) != 1 {
		t.Errorf("the same seed three times: got %d outcomes, want 1", len(outcomes))
	}
	for _, point := range []int{-1, d.Len() + 1} {
		if err := d.Rebuild(t.TempDir(), point, 0, Cut{}); err == nil {
			t.Errorf("Rebuild at %d of %d: got no error, want one", point, d.Len())
		}
	}
	if _, err := Register(d.Name()); err == nil {
		t.Error("Register of a name that is taken: got no error, want one")
	}
}

func TestFaultsReachSQLite(t *testing.T) {
	d := register(t)
	conn := connect(t, d, filepath.Join(t.TempDir(), "x.db"))
	write(t, conn)
	for kind, want := range map[Kind]sqlite.ResultCode{Write: sqlite.ResultIOErrWrite, Sync: sqlite.ResultIOErrFsync} {
		before := d.Len()
		d.SetFault(func(op Op) bool { return op.Kind == kind })
		err := sqlitex.ExecuteTransient(conn, "INSERT INTO x VALUES (1)", nil)
		d.SetFault(nil)
		if got := sqlite.ErrCode(err); got != want {
			t.Errorf("insert while every %s fails: got %v, want %v", kind, got, want)
		}
		for _, op := range d.Log()[before:] {
			if op.Kind == kind {
				t.Errorf("a failed %s was noted: got %v, want none", kind, op)
			}
		}
	}
	must(t, sqlitex.ExecuteTransient(conn, "INSERT INTO x VALUES (1)", nil))
}

package schematest

import (
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// HoldWriteLock takes the write lock of a store's file through a connection of
// its own, as another process would, and keeps it until release is called,
// which must happen before the test ends.
func HoldWriteLock(t testing.TB, path string) (release func()) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil); err != nil {
		conn.Close()
		t.Fatal(err)
	}
	return func() {
		if err := sqlitex.ExecuteTransient(conn, "ROLLBACK", nil); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

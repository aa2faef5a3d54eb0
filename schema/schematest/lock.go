package schematest

import (
	"errors"
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

// Write changes a store's file through a connection of its own, as another
// process would.
func Write(t testing.TB, path string) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteTransient(conn, "INSERT INTO globals (key, json_value) VALUES ('foreign', '1')", nil)
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

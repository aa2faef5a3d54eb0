package gathervfs

// Files of the platform's own file system are synced with fdatasync, once for
// a commit, and a failure is the commit's.

import (
	"path/filepath"
	"syscall"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestCommitsAreSyncedOnce(t *testing.T) {
	v, err := Over("")
	if err != nil {
		t.Fatal(err)
	}
	syncs, failure := 0, syscall.Errno(0)
	v.log.fdatasync = func(fd int) error {
		syncs++
		if failure != 0 {
			return failure
		}
		return syscall.Fdatasync(fd)
	}
	path := filepath.Join(t.TempDir(), "synced.db")
	conn, err := sqlite.OpenConn("file:"+path+"?vfs="+v.Name(), sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Unregister()
	defer conn.Close()
	for _, sql := range []string{`PRAGMA journal_mode = WAL`, `PRAGMA synchronous = FULL`, `PRAGMA wal_autocheckpoint = 0`, `CREATE TABLE t (n)`} {
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	insert := func() error { return sqlitex.ExecuteTransient(conn, `INSERT INTO t VALUES (2)`, nil) }
	for range 5 {
		before := syncs
		if err := insert(); err != nil || syncs-before != 1 {
			t.Fatalf("a commit: got %d syncs and %v, want 1 and no error", syncs-before, err)
		}
	}
	failure = syscall.EINTR
	interrupted := v.log.fdatasync
	v.log.fdatasync = func(fd int) error { err := interrupted(fd); failure = 0; return err }
	before := syncs
	if err := insert(); err != nil || syncs-before != 2 {
		t.Errorf("a commit whose sync is interrupted: got %d syncs and %v, want 2 and no error", syncs-before, err)
	}
	failure = syscall.EIO
	if err := insert(); sqlite.ErrCode(err) != sqlite.ResultIOErrFsync {
		t.Errorf("a commit whose sync fails: got %v, want %v", err, sqlite.ResultIOErrFsync)
	}
}

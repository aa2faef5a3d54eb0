package schema

// One store has one writer whatever it is called, and a store that is not
// where it was, or that others write to, says so before it promises anything.

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestMain is also what another process does to a file: see elsewhere.
func TestMain(m *testing.M) {
	path := os.Getenv("FIRN_TEST_FILE")
	if path == "" {
		os.Exit(m.Run())
	}
	var err error
	if script := os.Getenv("FIRN_TEST_SQL"); script != "" {
		err = raw(path, script)
	} else {
		var s *SQLite
		if s, err = Open(path, Options{}); err == nil {
			err = s.Close()
		}
	}
	switch {
	case errors.Is(err, ErrLocked):
		os.Exit(3)
	case err != nil:
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// raw runs SQL on a connection that knows nothing of Firn.
func raw(path, script string) error {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(sqlitex.ExecuteTransient(conn, script, nil), conn.Close())
}

// elsewhere opens the store in another process, or runs SQL on its file there,
// and returns how that ended: 3 is ErrLocked.
func elsewhere(t *testing.T, path, script string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FIRN_TEST_FILE="+path, "FIRN_TEST_SQL="+script)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("another process: %v: %s", err, out)
	}
	return cmd.ProcessState.ExitCode()
}

func TestStoreWithAnotherNameHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	for _, fresh := range []bool{true, false} {
		s := openPath(t, path, Options{})
		if fresh {
			writeSample(t, s)
		}
		link := filepath.Join(t.TempDir(), "b.db")
		must(t, os.Link(path, link))
		must(t, os.Remove(path+"-lock"))
		for _, name := range []string{path, link} {
			if _, err := Open(name, Options{}); !errors.Is(err, ErrLocked) {
				t.Errorf("second writer of %s: got %v, want ErrLocked", filepath.Base(name), err)
			}
			if runtime.GOOS == "linux" && elsewhere(t, name, "") != 3 {
				t.Errorf("second writer of %s in another process: got it open, want ErrLocked", filepath.Base(name))
			}
			os.Remove(name + "-lock")
		}
		must(t, os.Remove(link), s.Close())
	}
	if got := elsewhere(t, path, ""); got != 0 {
		t.Errorf("writer after the first has closed: got exit code %d, want it open", got)
	}
}

func TestReplacedFileIsNoticed(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"deleted":     os.Remove,
		"log deleted": func(path string) error { return os.Remove(path + "-wal") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o644))
		},
		"log replaced": func(path string) error {
			return errors.Join(os.Rename(path+"-wal", path+".old"), os.WriteFile(path+"-wal", []byte("another's"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sync := range []Sync{SyncFull, SyncNormal} {
				path := filepath.Join(t.TempDir(), "a.db")
				s := openPath(t, path, Options{Sync: sync})
				writeSample(t, s)
				must(t, s.Sync(), harm(path))
				a := s.Appender()
				must(t, a.Begin(), a.Append([]*Row{{TS: 1 << 40, Table: 1, ID: "x"}}))
				err := a.Commit()
				if sync == SyncNormal {
					must(t, err)
					err = s.Sync()
				}
				if !errors.Is(err, ErrReplaced) || errors.Is(err, ErrBusy) || errors.Is(err, ErrFull) {
					t.Errorf("write to a file that is gone: got %v, want ErrReplaced", err)
				}
				must(t, s.Close())
				if text, err := os.ReadFile(path + "-wal"); name == "log replaced" && string(text) != "another's" {
					t.Errorf("another's write-ahead log after close: got %q, %v, want it untouched", text, err)
				}
			}
		})
	}
}

func TestForeignWriteIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := openPath(t, path, Options{})
	writeSample(t, s)
	a := s.Appender()
	for _, harmless := range []string{"SELECT count(*) FROM documents", "PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint(RESTART)"} {
		elsewhere(t, path, harmless)
		if err := errors.Join(a.TryBegin(), a.Rollback()); err != nil {
			t.Errorf("begin after another process's %s: got %v, want no error", harmless, err)
		}
	}
	must(t, a.Begin(), a.SetGlobal("x", "1"), a.Commit())
	elsewhere(t, path, "UPDATE globals SET json_value = '2' WHERE key = 'x'")
	for range 2 {
		if err := a.TryBegin(); !errors.Is(err, ErrChanged) {
			t.Errorf("begin after another process's UPDATE: got %v, want ErrChanged", err)
		}
	}
}

// TestTablesOfOthersMayChange has a program beside the store that keeps its
// books in the file, as Litestream does.
func TestTablesOfOthersMayChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := openPath(t, path, Options{})
	writeSample(t, s)
	a := s.Appender()
	for _, script := range []string{
		"CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
		"INSERT INTO _litestream_seq VALUES (1, 1)",
		"UPDATE _litestream_seq SET seq = seq + 1",
	} {
		elsewhere(t, path, script)
		if err := errors.Join(a.TryBegin(), a.Rollback()); err != nil {
			t.Errorf("begin after another process's %s: got %v, want no error", script, err)
		}
	}
	elsewhere(t, path, "INSERT INTO documents (ts, table_id, id, deleted, prev_ts, json_value, author) SELECT ts + 1, table_id, id, deleted, ts, json_value, author FROM documents ORDER BY ts DESC LIMIT 1")
	if err := a.TryBegin(); !errors.Is(err, ErrChanged) {
		t.Errorf("begin after another process's row: got %v, want ErrChanged", err)
	}
}

// TestOwnWritesAreNotForeign writes in all the ways that there are, and fails,
// beside checkpoints.
func TestOwnWritesAreNotForeign(t *testing.T) {
	s := openTest(t, Options{MaxPages: 64})
	a := s.Appender()
	ts := Timestamp(0)
	for n := range 200 {
		err := a.TryBegin()
		if err != nil {
			t.Fatalf("transaction %d: %v", n, err)
		}
		ts++
		switch err = a.Append([]*Row{{TS: ts, Table: 1, ID: "x", Value: make([]byte, 3000)}}); {
		case err != nil || n%7 == 0:
			must(t, a.Rollback())
		default:
			must(t, a.Commit())
		}
		if err != nil {
			must(t, a.Begin())
			for old := Timestamp(1); old < ts; old++ {
				must(t, a.DeleteRows([]*Row{{TS: old, Table: 1, ID: "x"}}))
			}
			must(t, a.Commit())
		}
		switch n % 5 {
		case 0:
			_, err = s.Checkpoint()
		case 1:
			_, err = a.Truncate()
		case 2:
			_, err = a.Checkpoint()
		case 3:
			_, err = a.Vacuum(4)
		default:
			err = nil
		}
		must(t, err)
	}
}

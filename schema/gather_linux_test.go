package schema_test

// The write connection gathers frames. The crash disk below sees what comes
// of it: one write a commit, and nothing owed when a commit returns.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func isWALWrite(op crashvfs.Op) bool {
	return op.Kind == crashvfs.Write && strings.HasSuffix(op.Path, "-wal")
}

func TestCommitWritesTheLogOnce(t *testing.T) {
	d := register(t)
	s := openOn(t, d, schema.SyncNormal)
	defer s.Close()
	for ts := schema.Timestamp(1); ts <= 20; ts++ {
		before := d.Len()
		commit(t, s, ts)
		var writes []crashvfs.Op
		for _, op := range d.Log()[before:] {
			if isWALWrite(op) && op.Offset > 0 {
				writes = append(writes, op)
			}
		}
		if len(writes) != 1 {
			t.Errorf("commit %d: got %v, want one write of the log", ts, writes)
		}
	}
}

// wide commits more than the page cache holds, and changes pages that have
// left it: SQLite then writes frames of its own transaction again.
func wide(s *schema.SQLite, ts schema.Timestamp) error {
	a := s.Appender()
	if err := a.Begin(); err != nil {
		return err
	}
	for part := range 4 {
		var rows []*schema.Row
		var entries []schema.Entry
		for j := range 40 {
			id := fmt.Sprintf("%02d-%d", j, part)
			rows = append(rows, &schema.Row{TS: ts, Table: 1, ID: id, Value: bytes.Repeat([]byte{byte(ts)}, 300)})
			entries = append(entries, schema.Entry{Index: schema.ByID(1), TS: ts, Key: id})
		}
		if err := a.Append(rows); err != nil {
			return err
		}
		if err := a.Merge(entries); err != nil {
			return err
		}
	}
	return a.Commit()
}

const wideRows = 4 * 40

// narrow opens a store whose write connection has the smallest cache.
func narrow(t *testing.T, d *crashvfs.Disk, sync schema.Sync) *schema.SQLite {
	t.Helper()
	s, err := schema.Open(filepath.Join(t.TempDir(), "crash.db"),
		schema.Options{Sync: sync, VFS: d.Name(), WriterCacheBytes: 1, PageSize: 1024})
	must(t, err)
	return s
}

// checkWide looks at a store of wide commits, and returns the newest.
func checkWide(s *schema.SQLite) (schema.Timestamp, error) {
	r, err := s.Session()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := r.Check(); err != nil {
		return 0, err
	}
	rows, err := r.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1<<20)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	newest := rows[len(rows)-1].TS
	for _, row := range rows {
		if len(row.Value) != 300 || row.Value[0] != byte(row.TS) {
			return 0, fmt.Errorf("row %q at %d has another value", row.ID, row.TS)
		}
	}
	if len(rows)%wideRows != 0 {
		return 0, fmt.Errorf("%d rows, of %d a commit", len(rows), wideRows)
	}
	return newest, nil
}

// killed is the store as it is if the process ends now.
func killed(t *testing.T, s *schema.SQLite) (schema.Timestamp, error) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"", "-wal"} {
		content, err := os.ReadFile(s.Path() + name)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "crash.db"+name), content, 0o600))
	}
	left, err := schema.Open(filepath.Join(dir, "crash.db"), schema.Options{})
	if err != nil {
		return 0, err
	}
	defer left.Close()
	return checkWide(left)
}

// TestKilledAfterACommit: what is committed is in the files, also when nobody
// syncs them.
func TestKilledAfterACommit(t *testing.T) {
	d := register(t)
	s := narrow(t, d, schema.SyncNormal)
	defer s.Close()
	for ts := schema.Timestamp(1); ts <= 12; ts++ {
		must(t, wide(s, ts))
		if newest, err := killed(t, s); newest != ts || err != nil {
			t.Fatalf("killed after commit %d: got %d, %v", ts, newest, err)
		}
		if newest, err := checkWide(s); newest != ts || err != nil {
			t.Fatalf("read after commit %d: got %d, %v", ts, newest, err)
		}
		if ts%5 == 0 {
			_, err := s.Appender().Truncate()
			must(t, err)
		}
	}
}

// nth picks the write of that number, from 0.
func nth(n int) func(crashvfs.Op) bool {
	return func(crashvfs.Op) bool { n--; return n == -1 }
}

// endsCommit picks writes of bytes, the last frame of which ends a commit.
func endsCommit(bytes int) func(crashvfs.Op) bool {
	return func(op crashvfs.Op) bool {
		last := len(op.Data) - bytes
		return last >= 0 && len(op.Data)%bytes == 0 && binary.BigEndian.Uint32(op.Data[last+4:]) != 0
	}
}

// TestWritesThatFail fails writes of wide transactions, as a broken disk and
// as a full one: some of the first, the commit's, and the last, of the
// commit's header anew. Nothing is committed then, and the store goes on as if
// the transaction had not been begun.
func TestWritesThatFail(t *testing.T) {
	d := register(t)
	s := narrow(t, d, schema.SyncNormal)
	defer s.Close()
	must(t, wide(s, 1))
	newest := schema.Timestamp(1)
	random := seed.Fresh(t).Rand(0)
	for _, set := range []func(func(crashvfs.Op) bool){d.SetFault, d.SetFull} {
		for name, pick := range map[string]func(crashvfs.Op) bool{
			"write 0": nth(0), "write 1": nth(1), "write 2": nth(2), "write 3": nth(3),
			"an early write": nth(random.IntN(300)), "a later write": nth(300 + random.IntN(300)),
			"the commit": endsCommit(1024 + 24), "the commit's new header": endsCommit(24),
		} {
			failed := false
			set(func(op crashvfs.Op) bool {
				fails := !failed && isWALWrite(op) && pick(op)
				failed = failed || fails
				return fails // and the next one would not
			})
			err := wide(s, newest+1)
			set(nil)
			must(t, s.Appender().Rollback())
			if err == nil || !failed {
				t.Fatalf("%s failed: %t, and the transaction says %v", name, failed, err)
			}
			if got, err := checkWide(s); got != newest || err != nil {
				t.Fatalf("after %s failed: got %d, %v, want %d", name, got, err, newest)
			}
			newest++
			must(t, wide(s, newest))
			if got, err := killed(t, s); got != newest || err != nil {
				t.Fatalf("a commit after %s failed: got %d, %v, want %d", name, got, err, newest)
			}
		}
	}
}

// TestRolledBackFramesAreForgotten: once the lock is let go, another process
// writes where they would have gone.
func TestRolledBackFramesAreForgotten(t *testing.T) {
	d := register(t)
	s := narrow(t, d, schema.SyncNormal)
	defer s.Close()
	must(t, wide(s, 1))
	other, err := sqlite.OpenConn(s.Path(), sqlite.OpenReadWrite)
	must(t, err)
	defer other.Close()
	a := s.Appender()
	random := seed.Fresh(t).Rand(0)
	for ts := schema.Timestamp(2); ts < 12; ts++ {
		must(t, a.Begin())
		for i := range 1 + random.IntN(60) {
			must(t, a.Append([]*schema.Row{{TS: 100, Table: 1, ID: fmt.Sprint(i), Value: make([]byte, 700)}}))
		}
		must(t, a.Rollback())
		must(t, sqlitex.ExecuteTransient(other, fmt.Sprintf("PRAGMA user_version = %d", schema.FormatVersion), nil))
		must(t, wide(s, ts))
		if newest, err := killed(t, s); newest != ts || err != nil {
			t.Fatalf("after commit %d: got %d, %v", ts, newest, err)
		}
	}
}

// TestPowerCutInWideCommits cuts where a transaction changes its own frames.
func TestPowerCutInWideCommits(t *testing.T) {
	d := register(t)
	s := narrow(t, d, schema.SyncFull)
	acks := []ack{{point: d.Len()}}
	for ts := schema.Timestamp(1); ts <= 8; ts++ {
		must(t, wide(s, ts))
		acks = append(acks, ack{d.Len(), ts})
	}
	must(t, s.Close())
	random := seed.Fresh(t).Rand(0)
	for range 40 {
		at := random.IntN(len(acks) - 1)
		point := acks[at].point + random.IntN(acks[at+1].point-acks[at].point)
		dir := t.TempDir()
		must(t, d.Rebuild(dir, point, random.Uint64(), crashvfs.Cut{}))
		left, err := schema.Open(filepath.Join(dir, "crash.db"), schema.Options{})
		must(t, err)
		newest, err := checkWide(left)
		must(t, left.Close())
		if err != nil || newest < acks[at].ts || newest > acks[at].ts+1 {
			t.Fatalf("point %d, %d acknowledged: got %d, %v", point, acks[at].ts, newest, err)
		}
	}
}

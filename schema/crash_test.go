package schema_test

// A power cut loses nothing that a commit waited for, wherever it falls, and
// what it keeps beyond that is a prefix. The controls, a disk that ignores
// syncs and commits that do not wait, must lose something, or the test could
// not tell.

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func register(t *testing.T) *crashvfs.Disk {
	t.Helper()
	d, err := crashvfs.Register("crash-" + t.Name())
	must(t, err)
	t.Cleanup(d.Unregister)
	return d
}

// openOn opens a new store on the disk.
func openOn(t *testing.T, d *crashvfs.Disk, sync schema.Sync) *schema.SQLite {
	t.Helper()
	s, err := schema.Open(filepath.Join(t.TempDir(), "crash.db"), schema.Options{Sync: sync, VFS: d.Name()})
	must(t, err)
	return s
}

// ack is a commit: once the disk had seen point operations, ts was promised.
type ack struct {
	point int
	ts    schema.Timestamp
}

const rowsPerCommit = 5

// commit writes commit number ts.
func commit(t *testing.T, s *schema.SQLite, ts schema.Timestamp) {
	t.Helper()
	var rows []*schema.Row
	var entries []schema.Entry
	for j := range rowsPerCommit {
		id := fmt.Sprint(j)
		rows = append(rows, &schema.Row{TS: ts, Prev: ts - 1, Table: 1, ID: id, Value: bytes.Repeat([]byte{byte(ts)}, 100+int(ts)*13%900)})
		entries = append(entries, schema.Entry{Index: schema.ByID(1), TS: ts, Key: id})
	}
	a := s.Appender()
	must(t, a.Begin(), a.Append(rows), a.Merge(entries), a.Commit())
}

// load makes a store of many commits, with checkpoints between them.
func load(t *testing.T, d *crashvfs.Disk, sync schema.Sync, commits schema.Timestamp) []ack {
	t.Helper()
	s := openOn(t, d, sync)
	defer s.Close()
	acks := []ack{{point: d.Len()}} // the empty store exists from here on
	for ts := schema.Timestamp(1); ts <= commits; ts++ {
		commit(t, s, ts)
		acks = append(acks, ack{d.Len(), ts})
		var err error
		switch ts % 20 {
		case 7:
			_, err = s.Checkpoint()
		case 13:
			_, err = s.Appender().Truncate()
		}
		must(t, err)
	}
	return acks
}

// reopen looks at what a power cut left, and returns the newest commit.
func reopen(dir string) (schema.Timestamp, error) {
	s, err := schema.Open(filepath.Join(dir, "crash.db"), schema.Options{Sync: schema.SyncNormal})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	r, err := s.Session()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := r.Check(); err != nil {
		return 0, err
	}
	rows, err := r.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1<<20)
	if err != nil {
		return 0, err
	}
	for i, row := range rows {
		if want := schema.Timestamp(1 + i/rowsPerCommit); row.TS != want {
			return 0, fmt.Errorf("no prefix: row %d is of commit %d, want %d", i, row.TS, want)
		}
		if got, err := r.Get(1, row.ID, row.TS); err != nil || got == nil || got.TS != row.TS {
			return 0, fmt.Errorf("no entry leads to %q at %d: got %v, %v", row.ID, row.TS, got, err)
		}
	}
	if len(rows)%rowsPerCommit != 0 {
		return 0, fmt.Errorf("no prefix: %d rows, of %d a commit", len(rows), rowsPerCommit)
	}
	return schema.Timestamp(len(rows) / rowsPerCommit), nil
}

// cutMany cuts the power at random points and counts what went wrong: stores
// that lost an acknowledged commit, and stores that are broken.
func cutMany(t *testing.T, d *crashvfs.Disk, acks []ack, c crashvfs.Cut, cuts int) (lost, broken int, first error) {
	t.Helper()
	random := seed.Fresh(t).Rand(0)
	for i := range cuts {
		point := acks[0].point + random.IntN(d.Len()-acks[0].point+1)
		if i%2 == 0 {
			// The moment right after an acknowledgement is the one to lose it.
			point = acks[random.IntN(len(acks))].point
		}
		promised := schema.Timestamp(0)
		for _, a := range acks {
			if a.point <= point {
				promised = a.ts
			}
		}
		dir := t.TempDir()
		must(t, d.Rebuild(dir, point, random.Uint64(), c))
		newest, err := reopen(dir)
		switch {
		case err != nil:
			broken++
		case newest < promised:
			lost++
			err = fmt.Errorf("commit %d was acknowledged, %d is the newest", promised, newest)
		default:
			continue
		}
		if first == nil {
			first = fmt.Errorf("point %d: %w", point, err)
		}
	}
	return lost, broken, first
}

func TestPowerCutKeepsWhatWasPromised(t *testing.T) {
	d := register(t)
	acks := load(t, d, schema.SyncFull, 50)
	if lost, broken, err := cutMany(t, d, acks, crashvfs.Cut{}, 60); err != nil {
		t.Errorf("lost %d and broke %d of 60 stores, want none: %v", lost, broken, err)
	}
	if lost, broken, err := cutMany(t, d, acks, crashvfs.Cut{KeepPercent: -1}, 30); err != nil {
		t.Errorf("without any unsynced sector: lost %d and broke %d of 30 stores, want none: %v", lost, broken, err)
	}
	if lost, broken, _ := cutMany(t, d, acks, crashvfs.Cut{IgnoreSync: true}, 20); lost+broken == 0 {
		t.Error("on a disk that ignores syncs no store was lost or broken: the test does not see what it should")
	}
}

func TestPowerCutWithoutSyncLosesTheTailOnly(t *testing.T) {
	d := register(t)
	acks := load(t, d, schema.SyncNormal, 50)
	lost, broken, err := cutMany(t, d, acks, crashvfs.Cut{}, 50)
	if broken > 0 {
		t.Errorf("broke %d of 50 stores, want none: %v", broken, err)
	}
	if lost == 0 {
		t.Error("no store lost a commit: the test does not see what it should")
	}
}

// TestPowerCutWhileCreating cuts at every point of making a store: what is
// left opens, as a store without commits.
func TestPowerCutWhileCreating(t *testing.T) {
	d := register(t)
	must(t, openOn(t, d, schema.SyncFull).Close())
	random := seed.Fresh(t).Rand(0)
	for point := range d.Len() + 1 {
		for range 3 {
			dir := t.TempDir()
			must(t, d.Rebuild(dir, point, random.Uint64(), crashvfs.Cut{}))
			if newest, err := reopen(dir); newest != 0 || err != nil {
				t.Fatalf("point %d of %d: got commit %d, %v, want an empty store", point, d.Len(), newest, err)
			}
		}
	}
}

// TestPowerCutAfterEngineSync: with SyncNormal, what was committed before a
// Sync is durable after it.
func TestPowerCutAfterEngineSync(t *testing.T) {
	d := register(t)
	s := openOn(t, d, schema.SyncNormal)
	defer s.Close()
	for ts := schema.Timestamp(1); ts <= 5; ts++ {
		commit(t, s, ts)
		must(t, s.Sync())
		dir := t.TempDir()
		must(t, d.Rebuild(dir, d.Len(), uint64(ts), crashvfs.Cut{KeepPercent: -1}))
		if newest, err := reopen(dir); newest != ts || err != nil {
			t.Fatalf("newest commit after Sync: got %d, %v, want %d", newest, err, ts)
		}
	}
}

// TestFailingDiskFailsTheCommit fails the fsync of a commit, then a write.
// The error is neither of those after which the outcome is known.
func TestFailingDiskFailsTheCommit(t *testing.T) {
	d := register(t)
	s := openOn(t, d, schema.SyncFull)
	defer s.Close()
	a := s.Appender()
	for _, kind := range []crashvfs.Kind{crashvfs.Sync, crashvfs.Write} {
		d.SetFault(func(op crashvfs.Op) bool { return op.Kind == kind })
		must(t, a.Begin(), a.Append([]*schema.Row{{TS: 1, Table: 1, ID: "a"}}))
		if err := a.Commit(); err == nil || errors.Is(err, schema.ErrBusy) || errors.Is(err, schema.ErrFull) {
			t.Errorf("commit while every %s fails: got %v, want an I/O error", kind, err)
		}
		d.SetFault(nil)
		must(t, a.Rollback())
	}
	commit(t, s, 2)
}

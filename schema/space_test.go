package schema

// What is forgotten becomes free pages, and a vacuum gives them back.

import (
	"os"
	"path/filepath"
	"testing"
)

func fileBytes(t *testing.T, s *SQLite) int64 {
	t.Helper()
	file, err := os.Stat(s.Path())
	must(t, err)
	return file.Size()
}

// TestVacuumShrinksTheFile forgets the older half of a log: its pages become
// free, each Vacuum takes as many as it is asked to off the end, the file is
// cut by the next whole checkpoint, and what was not forgotten is still there.
func TestVacuumShrinksTheFile(t *testing.T) {
	for name, checkpoint := range map[string]func(*SQLite) (CheckpointResult, error){
		"truncate": func(s *SQLite) (CheckpointResult, error) { return s.Appender().Truncate() },
		"passive":  func(s *SQLite) (CheckpointResult, error) { return s.Checkpoint() },
	} {
		t.Run(name, func(t *testing.T) { testVacuum(t, checkpoint) })
	}
}

func testVacuum(t *testing.T, checkpoint func(*SQLite) (CheckpointResult, error)) {
	s := openTest(t, Options{Sync: SyncNormal, PageSize: 1024})
	a := s.Appender()
	rows := benchRows(4000, 2)
	must(t, a.Begin(), a.Append(rows), a.Commit())
	r := openSession(t, s)
	measure := func() Space {
		t.Helper()
		space, err := r.Space()
		must(t, err)
		return space
	}
	full := measure()
	if full.PageBytes != 1024 || full.Pages < 400 || full.FreePages > 10 {
		t.Fatalf("space of 4,000 rows: got %+v, want at least 400 pages of 1,024 bytes and hardly any free", full)
	}
	must(t, a.Begin(), a.DeleteRows(rows[:2000]), a.Commit())
	before := measure()
	if before.Pages != full.Pages || before.FreePages < full.Pages/3 {
		t.Fatalf("space after forgetting half: got %+v, want a third and more of %d pages free", before, full.Pages)
	}
	if _, err := checkpoint(s); err != nil || fileBytes(t, s) != full.Pages*1024 {
		t.Fatalf("file before the vacuum: got %d bytes, %v, want %d pages", fileBytes(t, s), err, full.Pages)
	}
	left, err := a.Vacuum(10)
	must(t, err)
	after := measure()
	if gone := before.FreePages - after.FreePages; left != after.FreePages || gone != 10 || before.Pages-after.Pages < gone {
		t.Fatalf("Vacuum(10) of %+v: got %+v and %d left, want 10 fewer", before, after, left)
	}
	for left > 0 {
		left, err = a.Vacuum(100)
		must(t, err)
	}
	after = measure()
	if got, err := checkpoint(s); got.Busy || err != nil {
		t.Fatalf("checkpoint: got %+v, %v, want not busy", got, err)
	}
	if got, want := fileBytes(t, s), after.Pages*1024; after.FreePages != 0 || got != want || got > full.Pages*1024*2/3 {
		t.Errorf("file after the vacuum: got %d bytes, want %d and less than two thirds of %d", got, want, full.Pages*1024)
	}
	kept, err := r.Log(nil, Cursor{}, MaxTimestamp, 10_000)
	if len(kept) != 2000 || err != nil {
		t.Errorf("rows after the vacuum: got %d, %v, want 2000", len(kept), err)
	}
	must(t, r.Check())
}

// TestSpaceReadOnly measures a store that someone else writes to, and a
// session's transaction sees one size.
func TestSpaceReadOnly(t *testing.T) {
	s := openPath(t, filepath.Join(t.TempDir(), "space.db"), Options{Sync: SyncNormal})
	writeSample(t, s)
	r := openSession(t, openPath(t, s.Path(), Options{ReadOnly: true}))
	must(t, r.Begin())
	before, err := r.Space()
	must(t, err)
	a := s.Appender()
	must(t, a.Begin(), a.Append(benchRows(1000, 100)), a.Commit())
	same, err := r.Space()
	must(t, err, r.End())
	later, err := r.Space()
	must(t, err)
	if before != same || later.Pages < before.Pages+10 || before.Pages == 0 || before.PageBytes != 4096 {
		t.Errorf("space before, during and after a write: got %+v, %+v, %+v, want the first two equal and the third larger", before, same, later)
	}
}

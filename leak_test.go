package firn

// A store that is closed leaves nothing open: no goroutine, no file.

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also fails if a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openFiles are what the process's file descriptors lead to.
func openFiles(t *testing.T) []string {
	t.Helper()
	const descriptors = "/proc/self/fd"
	entries, err := os.ReadDir(descriptors)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the system does not list its file descriptors")
	}
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(descriptors, e.Name())); err == nil {
			open = append(open, target)
		}
	}
	return open
}

// TestClosedStoresLeaveNoFileOpen opens, uses and closes one store again and
// again, with reads that end in the middle.
func TestClosedStoresLeaveNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "leak.db")
	ours := func() []string {
		return slices.DeleteFunc(openFiles(t), func(target string) bool { return filepath.Dir(target) != dir })
	}
	used := 0
	for range 50 {
		s, err := Open(path, Options{Tables: modelTables(), Memory: -1, TailEntries: 4, Durability: None})
		if err != nil {
			t.Fatal(err)
		}
		things := s.Table("things")
		for n := range 3 {
			put(t, s, things, string(thingID(n, n)), "red:1")
		}
		stop := errors.New("stop")
		err = s.View(func(snap *Snapshot) error {
			for _, err := range snap.Scan(Range{Index: things.ByID()}) {
				used = max(used, len(ours()))
				return errors.Join(err, stop)
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Fatalf("view: got %v, want the error of its function", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left := ours(); len(left) > 0 {
			t.Fatalf("open files after Close: got %q, want none", left)
		}
	}
	if used == 0 {
		t.Error("open files while a view ran: got none, want some: this test looks in the wrong place")
	}
}

// TestRefusedStoresLeaveNoFileOpen opens what cannot be opened.
func TestRefusedStoresLeaveNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	if err := os.WriteFile(foreign, []byte("this is not a store"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "store.db")
	s := openAt(t, path, Options{Tables: modelTables(), Durability: None})
	for range 5 {
		if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("open twice: got %v, want ErrLocked", err)
		}
		if _, err := Open(foreign, Options{}); err == nil {
			t.Error("open a foreign file: got no error, want one")
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrTable) { // it has an index that must be declared
		t.Errorf("open without its tables: got %v, want ErrTable", err)
	}
	for _, target := range openFiles(t) {
		if filepath.Dir(target) == dir {
			t.Errorf("open files: got %s, want none", target)
		}
	}
}

package schema

import (
	"path/filepath"
	"testing"
)

// TestWALPagesFollowsCommits: the length grows with commits, moves nothing,
// and is 0 once the log has been emptied.
func TestWALPagesFollowsCommits(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "a.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := s.Appender()
	pages := func() int64 {
		n, err := a.WALPages()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := pages()
	if err := a.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := a.SetGlobal("k", "1"); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	if after := pages(); after <= before {
		t.Errorf("after a commit: got %d pages, want more than %d", after, before)
	}
	if r, err := a.Truncate(); err != nil || r.Busy {
		t.Fatalf("truncate: got %+v, %v", r, err)
	}
	if got := pages(); got != 0 {
		t.Errorf("after truncate: got %d pages, want 0", got)
	}
}

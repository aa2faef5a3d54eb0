package retention

// The horizon never goes back, and moves in the file before it moves in
// memory.

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/firndb/firn/schema"
)

// store is an engine that runs requests at once, or refuses them.
type store struct {
	*schema.SQLite
	t      *testing.T
	refuse error
	ran    func() // after a request
}

func open(t *testing.T, path string) *store {
	t.Helper()
	e, err := schema.Open(path, schema.Options{CreatedAt: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &store{SQLite: e, t: t}
}

// load is the state that the file has.
func (s *store) load() (*State, error) {
	s.t.Helper()
	session, err := s.Session()
	if err != nil {
		s.t.Fatal(err)
	}
	defer session.Close()
	state := new(State)
	return state, state.Load(session, 100, Policy{})
}

// Exec implements Executor.
func (s *store) Exec(_ context.Context, fn func(schema.Appender) error) error {
	if s.refuse != nil {
		return s.refuse
	}
	a := s.Appender()
	if err := a.Begin(); err != nil {
		return err
	}
	if err := errors.Join(fn(a), a.Commit()); err != nil {
		return err
	}
	if s.ran != nil {
		s.ran()
	}
	return nil
}

// moveTo moves the store's horizon.
func (s *store) moveTo(state *State, ts schema.Timestamp) error {
	progress := state.Progress(Policy{})
	progress.Horizon = ts
	return state.advance(s.t.Context(), s, Policy{}, progress)
}

func TestHorizonNeverGoesBack(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "horizon.db"))
	state, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ to, want schema.Timestamp }{
		{50, 100}, {100, 100}, {200, 200}, {150, 200}, {-1, 200}, {200, 200}, {201, 201},
	} {
		if err := s.moveTo(state, tt.to); err != nil || state.Oldest() != tt.want {
			t.Errorf("horizon to %d: got %d, %v, want %d", tt.to, state.Oldest(), err, tt.want)
		}
	}
}

func TestHorizonMovesInTheFileFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "horizon.db")
	s := open(t, path)
	state, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	inFile := schema.Timestamp(0)
	s.ran = func() { inFile = state.Oldest() }
	if err := s.moveTo(state, 200); err != nil || inFile != 100 || state.Oldest() != 200 {
		t.Errorf("horizon in memory when the file had 200: got %d, %v, want 100 still", inFile, err)
	}
	s.refuse = errors.New("disk is on fire")
	if err := s.moveTo(state, 300); !errors.Is(err, s.refuse) || state.Oldest() != 200 {
		t.Errorf("a move that fails: got %d, %v, want 200 and the error", state.Oldest(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := open(t, path).load()
	if err != nil || again.Oldest() != 200 {
		t.Errorf("after opening again: got %d, %v, want 200", again.Oldest(), err)
	}
}

func TestCompactedErrorsSayHowFarBackHistoryReaches(t *testing.T) {
	err := error(&CompactedError{Asked: 7, Oldest: 100})
	if got, want := err.Error(), "firn: compacted: asked for 7, oldest readable timestamp is 100"; got != want || !errors.Is(err, ErrCompacted) {
		t.Errorf("error of 7: got %q, want %q, and that it is ErrCompacted", got, want)
	}
}

func TestDamagedHorizonIsCorruption(t *testing.T) {
	for _, text := range []string{`"soon"`, `-1`, `1.5`, `{}`} {
		s := open(t, filepath.Join(t.TempDir(), "horizon.db"))
		if err := s.Exec(t.Context(), func(a schema.Appender) error { return a.SetGlobal(horizonGlobal, text) }); err != nil {
			t.Fatal(err)
		}
		if _, err := s.load(); !errors.Is(err, schema.ErrCorrupt) {
			t.Errorf("horizon %s: got %v, want ErrCorrupt", text, err)
		}
	}
}

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
	t       *testing.T
	horizon *Horizon
	refuse  error
	inFile  schema.Timestamp // what the horizon was in memory when it was in the file
}

func open(t *testing.T, path string) *store {
	t.Helper()
	e, err := schema.Open(path, schema.Options{CreatedAt: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s := &store{SQLite: e, t: t, horizon: new(Horizon)}
	if err := s.load(100); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *store) load(created schema.Timestamp) error {
	s.t.Helper()
	session, err := s.Session()
	if err != nil {
		s.t.Fatal(err)
	}
	defer session.Close()
	return s.horizon.Load(session, created)
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
	s.inFile = s.horizon.Oldest()
	return nil
}

func TestHorizonNeverGoesBack(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "horizon.db"))
	for _, tt := range []struct{ to, want schema.Timestamp }{
		{50, 100}, {100, 100}, {200, 200}, {150, 200}, {-1, 200}, {200, 200}, {201, 201},
	} {
		if err := s.horizon.Advance(t.Context(), s, tt.to); err != nil || s.horizon.Oldest() != tt.want {
			t.Errorf("advance to %d: got %d, %v, want %d", tt.to, s.horizon.Oldest(), err, tt.want)
		}
	}
}

func TestHorizonMovesInTheFileFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "horizon.db")
	s := open(t, path)
	if err := s.horizon.Advance(t.Context(), s, 200); err != nil || s.inFile != 100 {
		t.Errorf("horizon in memory when the file had 200: got %d, %v, want 100 still", s.inFile, err)
	}
	s.refuse = errors.New("disk is on fire")
	if err := s.horizon.Advance(t.Context(), s, 300); !errors.Is(err, s.refuse) || s.horizon.Oldest() != 200 {
		t.Errorf("advance that fails: got %d, %v, want 200 and the error", s.horizon.Oldest(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	if got := again.horizon.Oldest(); got != 200 {
		t.Errorf("after opening again: got %d, want 200", got)
	}
}

func TestMomentsBeforeTheHorizonAreCompacted(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "horizon.db"))
	for ts, want := range map[schema.Timestamp]bool{0: false, 99: false, 100: true, 101: true, schema.MaxTimestamp: true} {
		err := s.horizon.Check(ts)
		if (err == nil) != want || errors.Is(err, ErrCompacted) == want {
			t.Errorf("check of %d: got %v, want it readable: %t", ts, err, want)
		}
	}
	var compacted *CompactedError
	if err := s.horizon.Check(7); !errors.As(err, &compacted) || *compacted != (CompactedError{Asked: 7, Oldest: 100}) {
		t.Errorf("error of 7: got %v, want that it is before 100", err)
	}
	if got, want := compacted.Error(), "firn: compacted: asked for 7, oldest readable timestamp is 100"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
}

func TestDamagedHorizonIsCorruption(t *testing.T) {
	for _, text := range []string{`"soon"`, `-1`, `1.5`, `{}`} {
		s := open(t, filepath.Join(t.TempDir(), "horizon.db"))
		if err := s.Exec(t.Context(), func(a schema.Appender) error { return a.SetGlobal(HorizonGlobal, text) }); err != nil {
			t.Fatal(err)
		}
		if err := s.load(100); !errors.Is(err, schema.ErrCorrupt) {
			t.Errorf("horizon %s: got %v, want ErrCorrupt", text, err)
		}
	}
}

package firn

// Retention in days, on a clock that does not need them.

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/schema"
)

// TestHorizonMovesWithTime keeps two days of history for ten days.
func TestHorizonMovesWithTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "horizon.db")
	synctest.Test(t, func(t *testing.T) {
		const retention = 48 * time.Hour
		const lag = retention / 100
		s, err := Open(path, Options{Tables: modelTables(), Retention: retention, Durability: None})
		if err != nil {
			t.Fatal(err)
		}
		created, oldest := s.Bounds().Oldest, s.Bounds().Oldest
		var commits []Timestamp
		for range race.Lighter(10, 4) * 24 {
			commits = append(commits, putInBatch(t, s))
			time.Sleep(time.Hour)
			synctest.Wait()
			got := s.Bounds().Oldest
			due := schema.TimestampOf(time.Now().Add(-retention))
			if got < oldest || got > max(due, created) || due > created && got < due-Timestamp(lag.Microseconds()) {
				t.Fatalf("horizon: got %d after %d, want at most %s before %d", got, oldest, lag, due)
			}
			oldest = got
		}
		if oldest == created {
			t.Fatal("the horizon did not move in days")
		}
		readable := 0
		for _, ts := range commits {
			err := s.At(ts, func(*Snapshot) error { return nil })
			if (err == nil) != (ts >= oldest) || err != nil && !errors.Is(err, ErrCompacted) {
				t.Errorf("commit at %d with the horizon at %d: got %v", ts, oldest, err)
			}
			if err == nil {
				readable++
			}
		}
		if readable < 47 || readable > 49 {
			t.Errorf("readable commits, one an hour for two days: got %d, want 48", readable)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(path, Options{Tables: modelTables(), Durability: None}); err != nil {
			t.Fatal(err)
		}
		if got := s.Bounds().Oldest; got != oldest {
			t.Errorf("horizon after opening again: got %d, want %d", got, oldest)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// putInBatch commits one document. Update would take its channel from a pool
// that is shared with tests on other clocks.
func putInBatch(t *testing.T, s *Store) Timestamp {
	t.Helper()
	return (&calls{n: 1, transact: func(_ int, tx *Tx) error {
		return tx.Put(s.Table("things"), thingID(0, 0), []byte("red:1"))
	}}).run(t, s)
}

// TestCompactionByHandWaitsForIt: time alone moves no horizon.
func TestCompactionByHandWaitsForIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "byhand.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{Tables: modelTables(), Retention: time.Hour, Durability: None, CompactByHand: true})
		if err != nil {
			t.Fatal(err)
		}
		created := s.Bounds().Oldest
		putInBatch(t, s)
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if got := s.Bounds().Oldest; got != created {
			t.Errorf("horizon after two days: got %d, want %d still", got, created)
		}
		if _, err := s.compactor.Compact(t.Context()); err != nil || s.Bounds().Oldest == created {
			t.Errorf("after Compact: got %d, %v, want that the horizon has moved", s.Bounds().Oldest, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

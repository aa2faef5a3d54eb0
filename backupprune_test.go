package firn

// The rule: a backup is whole whatever is forgotten while it is made, and what
// forgets goes on afterwards.

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/internal/race"
)

// mostForgettable is how much there is to forget at most: a pass over so much
// takes some hundred milliseconds.
const mostForgettable = 20_000

// TestBackupsBesideAPruneInALoop copies a store again and again, while all that
// may be forgotten is, and somebody writes.
func TestBackupsBesideAPruneInALoop(t *testing.T) {
	s := openNew(t, Options{Durability: None})
	notes := s.Table("notes")
	var done atomic.Bool
	var g errgroup.Group
	g.Go(func() error {
		for round := 0; !done.Load(); round++ {
			if stats := s.Stats(); stats.Rows-stats.Compacted > mostForgettable {
				runtime.Gosched()
				continue
			}
			if _, err := s.Update(t.Context(), func(tx *Tx) error {
				for i := range 10 {
					id := fmt.Append(nil, (10*round+i)%200)
					if round%3 == 0 && i%2 == 0 {
						if err := tx.Delete(notes, id, nil); err != nil {
							return err
						}
					} else if err := tx.Put(notes, id, fmt.Append(nil, round)); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for !done.Load() {
			if _, err := s.Prune(t.Context(), s.Bounds().Newest); err != nil {
				return err
			}
		}
		return nil
	})
	backups := 6
	if race.Enabled {
		backups = 2 // each takes ten times as long
	}
	for n := range backups {
		for before := s.Stats().Compacted; s.Stats().Compacted == before; { // it goes on between two backups
			runtime.Gosched()
		}
		out := filepath.Join(t.TempDir(), "copy.db")
		if err := s.Backup(t.Context(), out, 0, nil, nil); err != nil {
			t.Errorf("backup %d: %v", n, err)
			continue
		}
		if problems, err := Check(out, func(p string) { t.Error(p) }); problems > 0 || err != nil {
			t.Errorf("backup %d: the copy has %d problems, %v", n, problems, err)
		}
	}
	done.Store(true)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

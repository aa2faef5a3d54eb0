package proof

// The rule: what is held stays readable until the hold ends, and a hold ends by
// itself.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/retention"
)

func (l *lab) hold(name string, at firn.Timestamp, d time.Duration) {
	l.Helper()
	if err := l.Hold(l.Context(), firn.Hold{Name: name, At: at, Until: l.now.Add(d)}); err != nil {
		l.Fatal(err)
	}
}

// names are the holds, and how many documents there are for them.
func (l *lab) names() string {
	l.Helper()
	var names []string
	for _, h := range l.Holds() {
		names = append(names, fmt.Sprintf("%s@%d", h.Name, h.At))
	}
	n := 0
	if err := l.View(func(s *firn.Snapshot) (err error) {
		n, err = s.CountRange(firn.Range{Index: l.Table("firn.holds").ByID()})
		return err
	}); err != nil {
		l.Fatal(err)
	}
	return fmt.Sprintf("%s (%d)", strings.Join(names, " "), n)
}

func TestHoldsEndByThemselves(t *testing.T) {
	l := newLab(t)
	written := l.write("notes", "ada", "1", "2", "3")
	l.hold("follower", written[1], time.Hour)
	l.hold("backup", 0, 2*time.Hour)
	newest := l.Bounds().Newest - 2 // the holds are commits themselves
	both := fmt.Sprintf("backup@%d follower@%d (2)", l.Holds()[0].At, written[1])
	l.want("holds", l.names(), both)
	if got := l.Holds()[0].At; got < written[2] || got > newest+1 {
		t.Errorf("hold of the newest: got %d, want at least %d", got, written[2])
	}
	l.reopen()
	l.want("holds after opening again", l.names(), both)

	moveTo := func(to, want firn.Timestamp) {
		t.Helper()
		if err := moveHorizon(t.Context(), l.Store, to); err != nil || l.Bounds().Oldest != want {
			t.Errorf("horizon to %d: got %d, %v, want %d", to, l.Bounds().Oldest, err, want)
		}
	}
	moveTo(written[2], written[1])
	l.now = l.now.Add(time.Hour) // the follower's ends now
	l.want("holds after an hour", strings.Fields(l.names())[0], strings.Fields(both)[0])
	moveTo(written[2], written[2])
	err := l.Hold(t.Context(), firn.Hold{Name: "late", At: written[1], Until: l.now.Add(time.Hour)})
	var compacted *firn.CompactedError
	if !errors.As(err, &compacted) || compacted.Oldest != written[2] || compacted.Asked != written[1] {
		t.Errorf("a hold before the horizon: got %v, want that it is before %d", err, written[2])
	}
	l.reopen()
	if released, err := l.Release(t.Context(), "follower"); released || err != nil {
		t.Errorf("release of what has expired: got %t, %v, want false", released, err)
	}
	l.hold("backup", written[2], time.Hour)
	l.want("holds after another", l.names(), fmt.Sprintf("backup@%d (1)", written[2]))
	if left := inside.Of(l.Store).Held.Expired(l.now); len(left) > 0 {
		t.Errorf("expired holds in memory: got %q, want none", left)
	}
	for _, want := range []bool{true, false} {
		if released, err := l.Release(t.Context(), "backup"); released != want || err != nil {
			t.Errorf("release: got %t, %v, want %t", released, err, want)
		}
	}
	l.want("holds after release", l.names(), " (0)")
}

func TestHoldsThatCannotBe(t *testing.T) {
	l := newLab(t)
	for name, tt := range map[string]struct {
		hold firn.Hold
		want error
	}{
		"no name":       {firn.Hold{Until: l.now.Add(time.Hour)}, retention.ErrHold},
		"long name":     {firn.Hold{Name: strings.Repeat("n", 256), Until: l.now.Add(time.Hour)}, retention.ErrHold},
		"no end":        {firn.Hold{Name: "x"}, retention.ErrHold},
		"ends now":      {firn.Hold{Name: "x", Until: l.now}, retention.ErrHold},
		"ends too late": {firn.Hold{Name: "x", Until: l.now.Add(30*24*time.Hour + time.Microsecond)}, retention.ErrHold},
		"the future":    {firn.Hold{Name: "x", At: firn.Timestamp(l.now.Add(time.Minute).UnixMicro()), Until: l.now.Add(time.Hour)}, firn.ErrFuture},
		"the past":      {firn.Hold{Name: "x", At: 1, Until: l.now.Add(time.Hour)}, firn.ErrCompacted},
	} {
		if err := l.Hold(t.Context(), tt.hold); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	l.want("holds afterwards", l.names(), " (0)")
	for i := range 1000 {
		inside.Of(l.Store).Held.Put(firn.Hold{Name: fmt.Sprint(i), Until: l.now.Add(time.Hour)})
	}
	if err := l.Hold(t.Context(), firn.Hold{Name: "x", Until: l.now.Add(time.Hour)}); !errors.Is(err, retention.ErrHold) {
		t.Errorf("one hold too many: got %v, want %v", err, retention.ErrHold)
	}
	l.hold("7", 0, time.Minute) // in the place of another
	ended, end := context.WithCancel(t.Context())
	end()
	if err := l.Hold(ended, firn.Hold{Name: "8", Until: l.now.Add(time.Hour)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: got %v, want %v", err, context.Canceled)
	}
}

func TestSettingsAfterClose(t *testing.T) {
	s := openNew(t, firn.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, release := s.Release(t.Context(), "x")
	for name, err := range map[string]error{
		"hold":      s.Hold(t.Context(), firn.Hold{Name: "x", Until: time.Now().Add(time.Hour)}),
		"release":   release,
		"retention": s.SetRetention(t.Context(), firn.Scope{}, nil),
	} {
		if !errors.Is(err, firn.ErrClosed) {
			t.Errorf("%s: got %v, want %v", name, err, firn.ErrClosed)
		}
	}
}

// TestSnapshotsAreNotDeletedUnderTheirReaders follows the horizon closely while
// it moves and versions behind it are deleted: what a snapshot was let in for
// it reads, and what it lists is there.
func TestSnapshotsAreNotDeletedUnderTheirReaders(t *testing.T) {
	l := newLab(t)
	notes := l.Table("notes")
	written := l.write("notes", "ada", strings.Fields(strings.Repeat("v ", race.Lighter(300, 60)))...)
	l.forget("notes", "ada") // everything is in the file's index
	var done atomic.Bool
	var reads atomic.Int64
	var g errgroup.Group
	for range 3 {
		g.Go(func() error {
			for !done.Load() {
				err := l.At(l.Bounds().Oldest, func(s *firn.Snapshot) error {
					if _, err := s.Get(notes, []byte("ada")); err != nil && !(errors.Is(err, firn.ErrNotFound) && s.Moment() < written[0]) {
						return fmt.Errorf("at %d: %w", s.Moment(), err)
					}
					reads.Add(1)
					return first(s.Versions(notes, []byte("ada"), firn.VersionRange{}))
				})
				if err != nil && !errors.Is(err, firn.ErrCompacted) {
					done.Store(true)
					return err
				}
				if err := l.View(func(s *firn.Snapshot) error {
					for _, err := range s.Versions(notes, []byte("ada"), firn.VersionRange{}) {
						if err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					done.Store(true)
					return err
				}
			}
			return nil
		})
	}
	deleted := 0 // versions
	for i := 1; i < len(written) && !done.Load(); i++ {
		for before := reads.Load(); reads.Load() == before && !done.Load(); { // somebody reads in between
		}
		if err := moveHorizon(t.Context(), l.Store, written[i]); err != nil {
			t.Fatal(err)
		}
		end := deleted
		for bound := min(written[i], inside.Of(l.Store).Pins.Oldest()); end < i && written[end+1] <= bound; end++ {
		}
		l.forget("notes", "ada", written[deleted:end]...)
		deleted = end
	}
	done.Store(true)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if got := inside.Of(l.Store).Pins.Oldest(); got != firn.Timestamp(1<<63-1) {
		t.Errorf("pinned when nobody reads: got %d, want nothing", got)
	}
	if deleted < len(written)/2 {
		t.Errorf("deleted versions: got %d, want most of %d", deleted, len(written))
	}
}

func TestPinsAreReleased(t *testing.T) {
	l := newLab(t)
	oldest := l.Bounds().Oldest
	free := func(what string) {
		t.Helper()
		if got := inside.Of(l.Store).Pins.Oldest(); got != firn.Timestamp(1<<63-1) {
			t.Errorf("%s: got %d pinned, want nothing", what, got)
		}
	}
	pinned := func(s *firn.Snapshot) error {
		if got := inside.Of(l.Store).Pins.Oldest(); got != s.Timestamp() {
			t.Errorf("pinned while %d is read: got %d", s.Timestamp(), got)
		}
		return errors.New("enough")
	}
	_ = l.View(pinned)
	free("after View")
	l.write("notes", "ada", "1", "2")
	if err := l.View(func(s *firn.Snapshot) error {
		for range s.Versions(l.Table("notes"), []byte("ada"), firn.VersionRange{}) {
			if got := inside.Of(l.Store).Pins.Oldest(); got != oldest {
				t.Errorf("pinned while versions are walked: got %d, want the horizon %d", got, oldest)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	_ = l.At(oldest, pinned)
	free("after At")
	_ = l.At(oldest-1, pinned)
	free("after At was refused")
	_, _ = l.Update(t.Context(), func(tx *firn.Tx) error { return tx.At(oldest, pinned) })
	free("after Tx.At")
	func() {
		defer func() { _ = recover() }()
		_ = l.View(func(*firn.Snapshot) error { panic("mine") })
	}()
	free("after a panic")
	_ = l.Peek(func(*firn.Snapshot) error { free("inside Peek"); return nil })
}

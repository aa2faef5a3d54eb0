package proof

// A full disk, a failing disk, another process, a wrong clock, a slow reader,
// an end in the middle: each ends a pass at most, and the next completes it.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/schema/schematest"
)

// handClock is a clock that a test moves while others read it.
type handClock struct{ us atomic.Int64 }

func newHandClock() *handClock {
	c := new(handClock)
	c.us.Store(1e15)
	return c
}

func (c *handClock) now() time.Time          { return time.UnixMicro(c.us.Load()) }
func (c *handClock) advance(d time.Duration) { c.us.Add(d.Microseconds()) }

// aged is a store with n versions of ten documents. Nothing but the present is
// to be kept once an hour has passed on its clock, if it has one.
func aged(t *testing.T, e schema.Options, o firn.Options, n int) *firn.Store {
	t.Helper()
	if o.Now != nil {
		o.Retention = time.Hour
	}
	o.Tables, o.Memory, o.TailEntries = modelTables(), -1, 8
	s := openOn(t, filepath.Join(t.TempDir(), "aged.db"), e, o)
	for i := range n {
		put(t, s, s.Table("things"), string(thingID(0, i%10)), fmt.Sprintf("red:%d%s", i, strings.Repeat("x", 400)))
	}
	if err := inside.Of(s).Writer.Merge(t.Context(), inside.Of(s).Head.Newest()); err != nil {
		t.Fatal(err)
	}
	return s
}

// onlyThePresent completes what a pass has left, and closes the store.
func onlyThePresent(t *testing.T, s *firn.Store, documents int) {
	t.Helper()
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatalf("pass after the fault: got %v, want no error", err)
	}
	if got := versionsIn(t, s, "things"); got != documents {
		t.Errorf("versions at the end: got %d, want the present %d", got, documents)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: got %v, want no error", err)
	}
	if problems, err := firn.Check(inside.Of(s).Engine.Path(), func(p string) { t.Error(p) }); err != nil || problems > 0 {
		t.Errorf("check: got %d problems, %v", problems, err)
	}
}

// versionsIn is how many versions of a table the log has.
func versionsIn(t *testing.T, s *firn.Store, table string) (n int) {
	t.Helper()
	session, err := inside.Of(s).Engine.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	rows, err := session.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Table == inside.Of(s).Table(table).ID {
			n++
		}
	}
	return n
}

// heard is a log's handler that passes messages on.
type heard struct {
	slog.Handler
	messages chan string
}

func listen() heard { return heard{slog.DiscardHandler, make(chan string, 1000)} }

func (h heard) Enabled(context.Context, slog.Level) bool { return true }

func (h heard) Handle(_ context.Context, r slog.Record) error {
	select {
	case h.messages <- r.Message:
	default: // nobody listens any more
	}
	return nil
}

func (h heard) wait(t *testing.T, text string) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case message := <-h.messages:
			if strings.Contains(message, text) {
				return
			}
		case <-timeout:
			t.Fatalf("log: got nothing like %q", text)
		}
	}
}

func TestFullDiskEndsAPass(t *testing.T) {
	disk, clock := crashDisk(t), newHandClock()
	s := aged(t, schema.Options{VFS: disk.Name()}, firn.Options{Durability: firn.None, Now: clock.now}, 300)
	clock.advance(2 * time.Hour)
	things := s.Table("things")
	disk.SetFull(func(op crashvfs.Op) bool { return strings.HasSuffix(op.Path, "-wal") })
	put := func() error {
		_, err := s.Update(t.Context(), func(tx *firn.Tx) error { return tx.Put(things, thingID(1, 1), []byte("red:1")) })
		return err
	}
	if err := put(); !errors.Is(err, firn.ErrFull) || errors.Is(err, firn.ErrInDoubt) {
		t.Errorf("write to a full disk: got %v, want ErrFull", err)
	}
	if _, err := s.Compact(t.Context()); !errors.Is(err, firn.ErrFull) || errors.Is(err, firn.ErrInDoubt) {
		t.Errorf("pass on a full disk: got %v, want ErrFull", err)
	}
	if err := s.SetRetention(t.Context(), firn.Scope{Group: "things"}, &firn.Retention{Versions: 1}); !errors.Is(err, firn.ErrFull) {
		t.Errorf("a policy on a full disk: got %v, want ErrFull", err)
	}
	if _, scope := s.Retention(firn.Scope{Group: "things"}); scope != (firn.Scope{}) {
		t.Errorf("a policy that could not be written holds")
	}
	disk.SetFull(nil)
	clock.advance(time.Hour)
	if err := put(); err != nil {
		t.Errorf("write when there is room: got %v, want no error", err)
	}
	onlyThePresent(t, s, 11)
}

// TestFailedPassIsLoggedCountedAndTriedAgain by Run itself.
func TestFailedPassIsLoggedCountedAndTriedAgain(t *testing.T) {
	disk, log, clock := crashDisk(t), listen(), newHandClock()
	s := aged(t, schema.Options{VFS: disk.Name()}, firn.Options{Durability: firn.None, Logger: slog.New(log), Now: clock.now}, 50)
	disk.SetFull(func(op crashvfs.Op) bool { return strings.HasSuffix(op.Path, "-wal") })
	clock.advance(2 * time.Hour)
	inside.Of(s).Compactor.Wake()
	log.wait(t, "compaction has failed")
	if got := inside.Of(s).Compactor.Stats(); got.Failed == 0 || !errors.Is(got.Err, firn.ErrFull) {
		t.Errorf("statistics: got %d failed, %v, want some and ErrFull", got.Failed, got.Err)
	}
	disk.SetFull(nil)
	onlyThePresent(t, s, 10)
	if got := inside.Of(s).Compactor.Stats(); got.Err != nil {
		t.Errorf("statistics of a pass that went well: got %v, want no error", got.Err)
	}
}

func TestUnreadableFileEndsAPass(t *testing.T) {
	disk, clock := crashDisk(t), newHandClock()
	s := aged(t, schema.Options{VFS: disk.Name(), ReaderCacheBytes: 1}, firn.Options{Durability: firn.None, Now: clock.now}, 2000)
	clock.advance(2 * time.Hour)
	if _, _, err := s.Truncate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []int{1, 5, 30} {
		reads := 0
		disk.SetFault(func(op crashvfs.Op) bool {
			if op.Kind == crashvfs.Read && strings.HasSuffix(op.Path, ".db") {
				reads++
			}
			return reads >= bad && op.Kind == crashvfs.Read
		})
		if _, err := inside.Of(s).Compactor.Compact(t.Context()); err == nil {
			t.Errorf("pass of which read %d fails: got no error, of %d reads", bad, reads)
		}
		disk.SetFault(nil)
		if err := inside.Of(s).Writer.Exec(t.Context(), func(schema.Appender) error { return nil }); err != nil {
			t.Errorf("the writer after a read that failed: got %v, want no error", err)
		}
	}
	onlyThePresent(t, s, 10)
}

func TestAnotherProcessEndsAPass(t *testing.T) {
	clock := newHandClock()
	s := aged(t, schema.Options{BusyTimeout: 20 * time.Millisecond}, firn.Options{Durability: firn.None, Now: clock.now, LockWait: 20 * time.Millisecond}, 300)
	release := schematest.HoldWriteLock(t, inside.Of(s).Engine.Path())
	clock.advance(2 * time.Hour)
	if _, err := s.Compact(t.Context()); !errors.Is(err, firn.ErrBusy) || errors.Is(err, firn.ErrInDoubt) {
		t.Errorf("pass while another process writes: got %v, want ErrBusy", err)
	}
	release()
	onlyThePresent(t, s, 10)
}

// TestClockThatJumps moves the clock by hours, forward and back, under a
// policy of age.
func TestClockThatJumps(t *testing.T) {
	random := seededRandom(t)
	clock := newHandClock()
	o := firn.Options{Tables: modelTables(), Durability: firn.None, Retention: time.Minute, Now: clock.now, TailEntries: 4}
	path := filepath.Join(t.TempDir(), "clock.db")
	s := openAt(t, path, o)
	var oldest, newest firn.Timestamp
	check := func(what string) {
		t.Helper()
		b := s.Bounds()
		if b.Oldest < oldest || b.Newest < newest || b.Newest < b.Oldest {
			t.Fatalf("%s: got %d to %d after %d to %d", what, b.Oldest, b.Newest, oldest, newest)
		}
		oldest, newest = b.Oldest, b.Newest
	}
	for range 60 {
		jump := time.Duration(random.Int64N(int64(2*time.Minute))) + time.Second
		switch random.IntN(5) {
		case 0:
			jump = time.Duration(random.Int64N(int64(48 * time.Hour)))
		case 1:
			jump = -time.Duration(random.Int64N(int64(48 * time.Hour)))
		}
		clock.advance(jump)
		ts := put(t, s, s.Table("things"), string(thingID(0, 0)), "red:1")
		if ts <= newest || ts <= oldest {
			t.Fatalf("commit: got %d, behind %d or the horizon %d", ts, newest, oldest)
		}
		check("commit")
		if _, err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("pass")
		if random.IntN(10) == 0 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openAt(t, path, o)
			check("opened again")
		}
	}
	if problems, err := firn.Check(path, func(p string) { t.Error(p) }); err != nil || problems > 0 {
		t.Errorf("check: got %d problems, %v", problems, err)
	}
}

// TestSlowReaderKeepsWhatItReads, and nothing else: neither writes nor the
// horizon wait for it, and a pass ends.
func TestSlowReaderKeepsWhatItReads(t *testing.T) {
	clock := newHandClock()
	o := firn.Options{Tables: modelTables(), Durability: firn.None, Memory: -1, Retention: time.Minute, Now: clock.now}
	s := openAt(t, filepath.Join(t.TempDir(), "slow.db"), o)
	things, id := s.Table("things"), string(thingID(0, 0))
	for range 5 {
		clock.advance(time.Second)
		put(t, s, things, id, "red:old")
	}
	seen := inside.Of(s).Head.Newest()
	err := s.View(func(snap *firn.Snapshot) error {
		for range 5 {
			clock.advance(time.Hour)
			put(t, s, things, id, "red:new")
			if _, err := s.Compact(t.Context()); err != nil {
				t.Errorf("pass beside a reader: got %v, want no error", err)
			}
		}
		if oldest := s.Bounds().Oldest; oldest <= seen {
			t.Errorf("horizon beside a reader: got %d, want it after %d", oldest, seen)
		}
		if got := versionsIn(t, s, "things"); got != 6 {
			t.Errorf("versions beside a reader: got %d, want what it reads and the 5 later ones", got)
		}
		if got := valueOf(snap, things, id); got != "red:old" {
			t.Errorf("what it reads: got %q, want red:old", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Compact(t.Context()); n == 0 || err != nil {
		t.Errorf("pass once it has gone: got %d, %v, want some", n, err)
	}
	if got := versionsIn(t, s, "things"); got != 1 && got != 2 {
		t.Errorf("versions once it has gone: got %d, want the present and what was so a minute ago", got)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	clock.advance(time.Hour)
	put(t, s, things, id, "red:newer")
	if _, err := s.Compact(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("pass with a context that has ended: got %v, want %v", err, context.Canceled)
	}
}

// TestCloseInAPass closes a store while it forgets.
func TestCloseInAPass(t *testing.T) {
	for range 3 {
		clock := newHandClock()
		s := aged(t, schema.Options{}, firn.Options{Durability: firn.None, Now: clock.now}, 1000)
		clock.advance(2 * time.Hour)
		begun, ended := make(chan struct{}), make(chan error)
		go func() {
			close(begun)
			for {
				if _, err := s.Compact(context.Background()); err != nil {
					ended <- err
					return
				}
			}
		}()
		<-begun
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Errorf("close: got %v, want no error", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("close took %s", took)
		}
		if err := <-ended; !errors.Is(err, firn.ErrClosed) {
			t.Errorf("pass of a store that closes: got %v, want ErrClosed", err)
		}
		if problems, err := firn.Check(inside.Of(s).Engine.Path(), func(p string) { t.Error(p) }); err != nil || problems > 0 {
			t.Errorf("check: got %d problems, %v", problems, err)
		}
	}
}

package proof

// A copy is a whole store as of its moment, whatever happens while it is made,
// or there is nothing under its name.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// filled is a store with a history of n commits.
func filled(t *testing.T, random *rand.Rand, n int) (*firn.Store, *crashLog) {
	t.Helper()
	s := openAt(t, filepath.Join(t.TempDir(), "source.db"), crashOptions(firn.None))
	c := &crashLog{now: model{}}
	writeMore(t, s, c, random, n)
	return s, c
}

func writeMore(t *testing.T, s *firn.Store, c *crashLog, random *rand.Rand, n int) {
	t.Helper()
	for range n {
		if err := c.write(s, random, nowhere); err != nil {
			t.Fatal(err)
		}
	}
}

// filesIn are the names in the directory of path.
func filesIn(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// removeCopy removes a store's files.
func removeCopy(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		os.Remove(path + suffix)
	}
}

// restoreFrom restores a store that may be in use, as firn restore does.
func restoreFrom(t *testing.T, in, out string, at firn.Timestamp) error {
	t.Helper()
	s, err := firn.Open(in, firn.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(s.Restore(t.Context(), out, at, nil, nil), s.Close())
}

// TestBackupsAtEveryMoment copies a store that is being written as of random
// moments, in all three ways, and opens the copies.
func TestBackupsAtEveryMoment(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 200)
	beside := openAt(t, inside.Of(s).Engine.Path(), firn.Options{ReadOnly: true, Tables: modelTables()})
	for i := range race.Lighter(30, 9) {
		n := 1 + random.IntN(200)
		at := c.commits[n-1].ts
		if n < 200 && random.IntN(2) == 0 {
			at = c.commits[n].ts - 1 // between two commits
		}
		out := filepath.Join(t.TempDir(), "copy.db")
		var err error
		switch i % 3 {
		case 0:
			err = s.Backup(t.Context(), out, at, nil, nil)
		case 1:
			err = beside.Backup(t.Context(), out, at, nil, nil)
		case 2:
			err = restoreFrom(t, inside.Of(s).Engine.Path(), out, at)
		}
		if err != nil {
			t.Fatalf("copy as of commit %d: %v", n, err)
		}
		if got := filesIn(t, out); !slices.Equal(got, []string{"copy.db"}) {
			t.Errorf("files: got %q, want the copy alone", got)
		}
		if got, err := c.recovered(t, out, random); got != n || err != nil {
			t.Errorf("copy as of commit %d: got %d commits, %v", n, got, err)
		}
	}
}

// TestBackupWhileWritersWrite copies three times under load.
func TestBackupWhileWritersWrite(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 300)
	dir := t.TempDir()
	for i := range 3 {
		out, before := filepath.Join(dir, fmt.Sprintf("%d.db", i)), len(c.commits)
		stop, stopped := make(chan struct{}), make(chan error)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if err := c.write(s, random, nowhere); err != nil {
					stopped <- err
					return
				}
			}
		}()
		done := int64(0)
		err := s.Backup(t.Context(), out, 0, func(d, total int64) {
			if d < done || d > total {
				t.Errorf("progress: got %d of %d after %d", d, total, done)
			}
			done = d
		}, nil)
		close(stop)
		if err := errors.Join(err, <-stopped); err != nil {
			t.Fatal(err)
		}
		if done == 0 || len(c.commits) == before {
			t.Fatal("nothing was written meanwhile")
		}
		if got, err := c.recovered(t, out, random); got < before || err != nil {
			t.Errorf("copy: got %d commits, %v, want at least %d", got, err, before)
		}
		if err := restoreFrom(t, out, out+".again", 0); err != nil {
			t.Errorf("a copy of a copy: %v", err)
		}
	}
}

func TestTokensAreValidInABackupAndForkedAfterARestore(t *testing.T) {
	s := openNew(t, firn.Options{})
	ts := put(t, s, s.Table("notes"), "a", "one")
	token := s.Token(ts)
	backup, restored := filepath.Join(t.TempDir(), "b.db"), filepath.Join(t.TempDir(), "r.db")
	if err := errors.Join(s.Backup(t.Context(), backup, 0, nil, nil), restoreFrom(t, inside.Of(s).Engine.Path(), restored, ts)); err != nil {
		t.Fatal(err)
	}
	o := firn.Options{Tables: append(modelTables(), firn.TableSpec{Name: "notes"})}
	b, r := openAt(t, backup, o), openAt(t, restored, o)
	if got, err := b.Moment(token); got != ts || err != nil {
		t.Errorf("token in a backup: got %d, %v, want %d", got, err, ts)
	}
	if _, err := r.Moment(token); !errors.Is(err, firn.ErrForked) {
		t.Errorf("token after a restore: got %v, want ErrForked", err)
	}
	if b.Bounds().Oldest != s.Bounds().Oldest || r.Bounds().Oldest != s.Bounds().Oldest {
		t.Errorf("horizons: got %d and %d, want %d", b.Bounds().Oldest, r.Bounds().Oldest, s.Bounds().Oldest)
	}
	for _, copied := range []*firn.Store{b, r} {
		if err := copied.View(func(snap *firn.Snapshot) error {
			if got := valueOf(snap, copied.Table("notes"), "a"); got != "one" {
				t.Errorf("got %s, want one", got)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestBackupRefusesMomentsThatAreNotWhole(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 20)
	out := filepath.Join(t.TempDir(), "copy.db")
	horizon := c.commits[9].ts
	if err := moveHorizon(t.Context(), s, horizon); err != nil {
		t.Fatal(err)
	}
	refused := func(name string, at firn.Timestamp, want error) {
		t.Helper()
		for way, err := range map[string]error{
			"backup": s.Backup(t.Context(), out, at, nil, nil), "restore": restoreFrom(t, inside.Of(s).Engine.Path(), out, at),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s, %s: got %v, want %v", way, name, err, want)
			}
			if got := filesIn(t, out); len(got) != 0 {
				t.Errorf("%s, %s: left %q", way, name, got)
			}
		}
	}
	refused("before the horizon", horizon-1, firn.ErrCompacted)
	refused("after now", schema.TimestampOf(time.Now())+1e9, firn.ErrFuture)
	if err := inside.Of(s).Writer.Exec(t.Context(), func(a schema.Appender) error {
		return a.SetGlobal(retention.ClassesGlobal, fmt.Sprintf(`{"count 5":{"applied":%d,"cursor":7}}`, c.commits[12].ts))
	}); err != nil {
		t.Fatal(err)
	}
	refused("before what a policy has forgotten", c.commits[11].ts, firn.ErrCompacted)
	if err := s.Backup(t.Context(), out, c.commits[12].ts, nil, nil); err != nil {
		t.Fatal(err)
	}
	copied := openAt(t, out, crashOptions(firn.None))
	if got := copied.Bounds().Oldest; got != horizon {
		t.Errorf("horizon of the copy: got %d, want %d", got, horizon)
	}
	session, err := inside.Of(copied).Engine.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if text, _, err := session.Global(retention.ClassesGlobal); err != nil || strings.Contains(text, "cursor") {
		t.Errorf("policies' progress: got %s, %v, want no cursor", text, err)
	}
}

func TestBackupRefusesWrongPaths(t *testing.T) {
	s := openNew(t, firn.Options{})
	put(t, s, s.Table("notes"), "a", "one")
	dir := t.TempDir()
	existing, stale := filepath.Join(dir, "existing"), filepath.Join(dir, "stale")
	file := []byte("precious")
	if err := errors.Join(os.WriteFile(existing, file, 0o644), os.WriteFile(stale+"-wal", file, 0o644),
		os.WriteFile(filepath.Join(dir, "foreign.partial"), file, 0o644)); err != nil {
		t.Fatal(err)
	}
	before := filesIn(t, existing)
	for path, want := range map[string]error{
		existing: fs.ErrExist, stale: fs.ErrExist, dir: fs.ErrExist, inside.Of(s).Engine.Path(): fs.ErrExist,
		filepath.Join(dir, "no", "such"): fs.ErrNotExist, filepath.Join(existing, "x"): nil,
		filepath.Join(dir, "foreign"): schema.ErrForeign,
	} {
		for way, err := range map[string]error{
			"backup": s.Backup(t.Context(), path, 0, nil, nil), "restore": restoreFrom(t, inside.Of(s).Engine.Path(), path, 0),
		} {
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s to %s: got %v, want %v", way, path, err, want)
			}
		}
	}
	if got := filesIn(t, existing); !slices.Equal(got, before) {
		t.Errorf("files: got %q, want %q", got, before)
	}
	if got, err := os.ReadFile(existing); string(got) != string(file) {
		t.Errorf("the file in the way: got %q, %v, want it as it was", got, err)
	}
	for _, in := range []string{filepath.Join(dir, "none"), existing, dir} {
		if err := restoreFrom(t, in, filepath.Join(dir, "out"), 0); err == nil {
			t.Errorf("restore from %s: got no error", in)
		}
	}
}

// TestFailedBackupsLeaveNothing fills the disk, ends the context and closes
// the store at every point of a backup.
func TestFailedBackupsLeaveNothing(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 200)
	out := filepath.Join(t.TempDir(), "copy.db")
	nothing := func(name string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
		if got := filesIn(t, out); len(got) != 0 {
			t.Errorf("%s: left %q", name, got)
		}
	}
	pages := 1
	for ; pages < 200; pages++ {
		inside.Of(s).Copies.MaxPages = pages
		err := s.Backup(t.Context(), out, 0, nil, nil)
		if err == nil {
			break
		}
		nothing(fmt.Sprintf("%d pages", pages), err, firn.ErrFull)
		nothing("restore", s.Restore(t.Context(), out, 0, nil, nil), firn.ErrFull)
	}
	if pages == 1 || pages == 200 {
		t.Fatalf("the copy fits into %d pages: the disk was never full, or always", pages)
	}
	inside.Of(s).Copies.MaxPages = 0
	if got, err := c.recovered(t, out, random); got != len(c.commits) || err != nil {
		t.Errorf("with room: got %d commits, %v", got, err)
	}
	removeCopy(out)
	calls := 0
	count := func(done, total int64) { calls++ }
	if err := s.Backup(t.Context(), out, 0, count, nil); err != nil {
		t.Fatal(err)
	}
	removeCopy(out)
	for end := 1; end < calls; end++ { // the last call comes when all is done
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := s.Backup(ctx, out, 0, func(done, total int64) {
			if n++; n == end {
				cancel()
			}
		}, nil)
		cancel()
		nothing(fmt.Sprintf("cancelled at %d of %d", end, calls), err, context.Canceled)
	}
	nested := error(nil)
	closed := make(chan error, 1)
	err := s.Backup(t.Context(), out, 0, func(done, total int64) {
		if nested == nil {
			nested = s.Backup(t.Context(), out+"2", 0, nil, nil)
			go func() { closed <- s.Close() }()
			for !inside.Of(s).CopiesEnded() {
			}
		}
	}, nil)
	nothing("the store closes", err, firn.ErrClosed)
	if nested == nil || !strings.HasSuffix(nested.Error(), "another backup is under way") {
		t.Errorf("a second backup: got %v, want that there is one", nested)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	nothing("a closed store", s.Backup(t.Context(), out, 0, nil, nil), firn.ErrClosed)
}

// TestKilledBackupsAreCleared leaves what a process leaves that is killed.
func TestKilledBackupsAreCleared(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 20)
	out := filepath.Join(t.TempDir(), "copy.db")
	half, err := schema.Open(out+".partial", schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), out, 0, nil, nil); !errors.Is(err, firn.ErrLocked) {
		t.Errorf("while another process makes it: got %v, want ErrLocked", err)
	}
	if err := half.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), out, 0, nil, nil); err != nil {
		t.Errorf("after that was killed: %v", err)
	}
	if got, err := c.recovered(t, out, random); got != len(c.commits) || err != nil {
		t.Errorf("copy: got %d commits, %v", got, err)
	}
}

// TestDamagedFilesAreNotRestored flips a byte of each page in turn. What is
// restored in spite of it has the same history.
func TestDamagedFilesAreNotRestored(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 120)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(inside.Of(s).Engine.Path())
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for page := 0; page < len(whole)/4096; page++ {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.db"), filepath.Join(t.TempDir(), "out.db")
		damaged := slices.Clone(whole)
		// The page's header: its type and the number of its cells.
		offset := page*4096 + 3
		if page == 0 {
			offset += 100
		}
		damaged[offset] ^= 0x5a
		if err := os.WriteFile(in, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := restoreFrom(t, in, out, 0); err != nil {
			refused++
			if got := filesIn(t, out); len(got) != 0 {
				t.Errorf("page %d: left %q", page, got)
			}
			continue
		}
		if got, err := c.recovered(t, out, random); got != len(c.commits) || err != nil {
			t.Errorf("page %d: got %d commits, %v", page, got, err)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
	t.Logf("%d of %d damaged files were refused", refused, len(whole)/4096)
}

package proof

// The rule: groups that overlap leave what groups one after the other leave.
// What was acknowledged is there, what was refused is not, and a crash takes
// the newest only.

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/schema"
)

// crowd is a batch that is large enough to be committed while the next one
// runs. Its transactions enter the history when they run, and are
// acknowledged, or leave it, when it is decided.
type crowd struct {
	c       *crashLog
	store   *firn.Store
	random  *rand.Rand
	n, from int
	begun   bool // false: refused before it ran
	point   func() int64
	beside  *int // batches that were decided after the next had begun
	padding int
	decided chan error
}

func (b *crowd) Len() int { return b.n }

func (b *crowd) Transact(i int, tx *firn.Tx) error {
	if i == 0 {
		b.from, b.begun = len(b.c.commits), true
	}
	id := string(thingID(b.random.IntN(modelGroups), b.random.IntN(modelThings)))
	v := modelVersion{ts: tx.Timestamp(), value: fmt.Sprintf("%s:%0*d", colors[b.random.IntN(len(colors))], 7+b.padding, b.random.IntN(300))}
	if old, known := b.c.now.at(id, schema.MaxTimestamp); known && !old.deleted && b.random.IntN(3) == 0 {
		v.deleted, v.value = true, "gone"
	}
	var err error
	if v.deleted {
		err = tx.Delete(b.store.Table("things"), []byte(id), []byte(v.value))
	} else {
		err = tx.Put(b.store.Table("things"), []byte(id), []byte(v.value))
	}
	if err == nil {
		b.c.now[id] = append(b.c.now[id], v)
		b.c.commits = append(b.c.commits, crashCommit{v.ts, map[string]modelVersion{id: v}, math.MaxInt64})
	}
	return err
}

func (b *crowd) Done(_ firn.Timestamp, err error) {
	if b.begun && b.from+b.n < len(b.c.commits) {
		*b.beside++
	}
	switch {
	case err != nil && !b.begun:
	case err != nil:
		b.c.commits = slices.Delete(b.c.commits, min(b.from, len(b.c.commits)), len(b.c.commits))
		b.c.now = b.c.model(len(b.c.commits))
	default:
		for i := range b.c.commits[b.from : b.from+b.n] {
			b.c.commits[b.from+i].point = b.point()
		}
	}
	b.decided <- err
}

// crowds submits batches at once and waits for them all. It is the errors that
// they got, and how many groups overlapped.
func (c *crashLog) crowds(t *testing.T, s *firn.Store, random *rand.Rand, batches, padding int, point func() int64) (failed []error, beside int) {
	t.Helper()
	decided := make(chan error, batches)
	all := make([]*crowd, batches)
	for i := range all { // before the first is submitted, which draws on the writer's goroutine
		all[i] = &crowd{c: c, store: s, random: random, n: 130 + random.IntN(60), point: point, beside: &beside, padding: padding, decided: decided}
	}
	for _, b := range all {
		if err := s.Submit(b); err != nil {
			t.Fatal(err)
		}
	}
	for range batches {
		if err := <-decided; err != nil {
			failed = append(failed, err)
		}
	}
	return failed, beside
}

// overlapOptions merge now and then.
func overlapOptions() firn.Options {
	o := crashOptions(firn.None)
	o.TailEntries = 700
	return o
}

func TestLogCutWhileGroupsOverlap(t *testing.T) {
	t.Parallel()
	random := seededRandom(t)
	path := filepath.Join(t.TempDir(), "overlap.db")
	s := openAt(t, path, overlapOptions())
	c, parts := &crashLog{now: model{}}, inside.Of(s)
	failed, beside := c.crowds(t, s, random, 10, 0, parts.Engine.WALBytes)
	if len(failed) > 0 || beside == 0 {
		t.Fatalf("batches: got %v failed and %d groups that overlapped, want none and some", failed, beside)
	}
	var w written
	err := parts.Writer.Maintain(t.Context(), func(schema.Appender) (err error) {
		if w.db, err = os.ReadFile(path); err != nil {
			return err
		}
		w.wal, err = os.ReadFile(path + "-wal")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var points []int64
	for _, commit := range c.commits {
		points = append(points, commit.point, commit.point-1, random.Int64N(int64(len(w.wal))))
	}
	slices.Sort(points)
	points = slices.Compact(points)
	random.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	for _, point := range points[:min(len(points), 30)] {
		if point > int64(len(w.wal)) {
			t.Fatalf("a commit was acknowledged at %d of a log of %d bytes", point, len(w.wal))
		}
		n, err := c.recovered(t, w.leave(t, point), random)
		if want := c.acknowledged(point); err != nil || n < want {
			t.Errorf("log cut at %d: got %d commits, %v, want the first %d or more", point, n, err, want)
		}
	}
}

// TestFullDiskWhileGroupsOverlap: a group that does not fit takes with it what
// has run on it, and nothing else.
func TestFullDiskWhileGroupsOverlap(t *testing.T) {
	random := seededRandom(t)
	path := filepath.Join(t.TempDir(), "full.db")
	s := openOn(t, path, schema.Options{MaxPages: 90}, overlapOptions())
	c, refused, overlapped := &crashLog{now: model{}}, 0, 0
	for range 4 {
		failed, beside := c.crowds(t, s, random, 6, 200, nowhere)
		for _, err := range failed {
			if !errors.Is(err, firn.ErrFull) || errors.Is(err, firn.ErrInDoubt) {
				t.Fatalf("a batch on a full disk: got %v, want ErrFull", err)
			}
		}
		refused, overlapped = refused+len(failed), overlapped+beside
		if err := c.compare(t, s, len(c.commits), random); err != nil {
			t.Fatalf("after %d batches were refused: %v", refused, err)
		}
	}
	if len(c.commits) == 0 || refused == 0 || overlapped == 0 {
		t.Fatalf("got %d commits, %d batches refused and %d overlapping, want some of each", len(c.commits), refused, overlapped)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: got %v, want no error", err)
	}
	if n, err := c.recovered(t, path, random); n != len(c.commits) || err != nil {
		t.Errorf("with room again: got %d commits, %v, want %d", n, err, len(c.commits))
	}
}

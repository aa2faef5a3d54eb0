package proof

// The rule: a crash leaves exactly the commits up to some moment, everything
// that was acknowledged is among them, and the file is sound.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// crashCommit is one acknowledged commit.
type crashCommit struct {
	ts      firn.Timestamp
	changes map[string]modelVersion
	point   int64 // what had been written of it all when it was acknowledged
}

// crashLog is a history of commits.
type crashLog struct {
	commits []crashCommit
	now     model
}

// model is the first n commits.
func (c *crashLog) model(n int) model {
	m := model{}
	for _, commit := range c.commits[:n] {
		for id, v := range commit.changes {
			m[id] = append(m[id], v)
		}
	}
	return m
}

// acknowledged is how many commits were, up to a point.
func (c *crashLog) acknowledged(point int64) int {
	n := 0
	for n < len(c.commits) && c.commits[n].point <= point {
		n++
	}
	return n
}

// write commits one to six random changes; point tells where that got to. An
// error of the commit leaves the history as it was.
func (c *crashLog) write(s *firn.Store, random *rand.Rand, point func() int64) error {
	things, changes := s.Table("things"), map[string]modelVersion{}
	for range 1 + random.IntN(6) {
		id := string(thingID(random.IntN(modelGroups), random.IntN(modelThings)))
		old, known := c.now.at(id, schema.MaxTimestamp)
		if known && !old.deleted && random.IntN(3) == 0 {
			changes[id] = modelVersion{deleted: true, value: "gone"}
		} else {
			changes[id] = modelVersion{value: fmt.Sprintf("%s:%0*d", colors[random.IntN(len(colors))], random.IntN(300), 7)}
		}
	}
	ts, err := s.Update(context.Background(), func(tx *firn.Tx) error {
		for id, v := range changes {
			err := error(nil)
			if v.deleted {
				err = tx.Delete(things, []byte(id), []byte(v.value))
			} else {
				err = tx.Put(things, []byte(id), []byte(v.value))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, v := range changes {
		v.ts = ts
		changes[id] = v
		c.now[id] = append(c.now[id], v)
	}
	c.commits = append(c.commits, crashCommit{ts, changes, point()})
	return nil
}

// crashOptions make merges frequent and memory scarce, so that the file is
// what answers.
func crashOptions(d firn.Durability) firn.Options {
	return firn.Options{Tables: modelTables(), Durability: d, Memory: -1, TailEntries: 8}
}

// recovered opens what a crash left at path, and says how many commits are
// there. It is an error if that is not the history up to some commit, if the
// file is not sound, or if it cannot be written any more. The wall clock has
// stepped back a day since.
func (c *crashLog) recovered(t *testing.T, path string, random *rand.Rand) (n int, err error) {
	o := crashOptions(firn.None)
	o.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) }
	s, err := firn.Open(path, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	newest := inside.Of(s).Head.Newest()
	for n < len(c.commits) && c.commits[n].ts <= newest {
		n++
	}
	if n == 0 && newest != 0 || n > 0 && c.commits[n-1].ts != newest {
		return n, fmt.Errorf("newest is %d: that is no commit", newest)
	}
	if err := c.compare(t, s, n, random); err != nil {
		return n, err
	}
	problems, err := firn.Check(path, func(problem string) { t.Log(problem) })
	if err != nil || problems > 0 {
		return n, fmt.Errorf("check: %d problems, %w", problems, err)
	}
	later := crashLog{now: model{}}
	if err := later.write(s, random, func() int64 { return 0 }); err != nil {
		return n, fmt.Errorf("write after the crash: %w", err)
	}
	if later.commits[0].ts <= newest {
		return n, fmt.Errorf("write after the crash: timestamp %d is not after %d", later.commits[0].ts, newest)
	}
	return n, nil
}

// compare reads a store in which the first n commits should be, and nothing
// else.
func (c *crashLog) compare(t *testing.T, s *firn.Store, n int, random *rand.Rand) (err error) {
	defer func() {
		if p := recover(); p != nil { // history.failf
			err = fmt.Errorf("with %d commits: %v", n, p)
		}
	}()
	h := &history{t: t, rng: random, store: s, model: c.model(n)}
	for group := range modelGroups {
		for thing := range modelThings {
			id := thingID(group, thing)
			if got, err := crashVersions(s, id); err != nil || !slices.Equal(got, h.model[string(id)]) {
				return fmt.Errorf("with %d commits: versions of %x: got %v, %w, want %v", n, id, got, err, h.model[string(id)])
			}
		}
		if err := s.View(func(snap *firn.Snapshot) error {
			h.checkGroup(snap, h.model, group, schema.MaxTimestamp)
			return nil
		}); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	past := c.commits[random.IntN(n)].ts
	return s.At(past, func(snap *firn.Snapshot) error {
		h.checkGroup(snap, h.model, random.IntN(modelGroups), past)
		return nil
	})
}

func crashVersions(s *firn.Store, id []byte) (found []modelVersion, err error) {
	err = s.View(func(snap *firn.Snapshot) error {
		for doc, err := range snap.Versions(s.Table("things"), id, firn.VersionRange{}) {
			if err != nil {
				return err
			}
			found = append(found, modelVersion{doc.TS, doc.Deleted, string(doc.Value)})
		}
		return nil
	})
	return found, err
}

func seededRandom(t *testing.T) *rand.Rand {
	t.Helper()
	return seed.Fresh(t).Rand(7)
}

// written is what a crash of the process leaves: the files as they are.
type written struct{ db, wal []byte }

// leave makes the files of a crash, of which the log's file ends early.
func (w written) leave(t *testing.T, walBytes int64) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "cut.db")
	if err := errors.Join(os.WriteFile(path, w.db, 0o644), os.WriteFile(path+"-wal", w.wal[:walBytes], 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// record writes a history whose write-ahead log is never checkpointed, and
// copies the files while the store is open. ok is false if the log was
// emptied on the way, because the store had idled.
func record(t *testing.T, random *rand.Rand, commits int) (c *crashLog, w written, ok bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole.db")
	s := openAt(t, path, crashOptions(firn.None))
	c = &crashLog{now: model{}}
	for n := range commits {
		if err := c.write(s, random, inside.Of(s).Engine.WALBytes); err != nil {
			t.Fatal(err)
		}
		if n > 0 && c.commits[n].point <= c.commits[n-1].point {
			return nil, w, false
		}
	}
	err := inside.Of(s).Writer.Maintain(t.Context(), func(schema.Appender) (err error) {
		if w.db, err = os.ReadFile(path); err != nil {
			return err
		}
		w.wal, err = os.ReadFile(path + "-wal")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Stats().Merged == 0 {
		t.Fatal("nothing was merged: the log has only rows")
	}
	return c, w, int64(len(w.wal)) >= c.commits[commits-1].point
}

// TestLogCutAnywhere ends the write-ahead log at every commit, a byte before
// and behind, and at random.
func TestLogCutAnywhere(t *testing.T) {
	t.Parallel()
	random := seededRandom(t)
	c, w, ok := record(t, random, 25)
	for tries := 0; !ok; tries++ {
		if tries == 5 {
			t.Fatal("the log was emptied while it was written, five times")
		}
		c, w, ok = record(t, random, 25)
	}
	end := int64(len(w.wal))
	cuts := []int64{0, 1, 31, 32, 33, end - 1, end}
	for _, commit := range c.commits {
		cuts = append(cuts, commit.point-1, commit.point, min(commit.point+1, end))
	}
	for range 20 {
		cuts = append(cuts, random.Int64N(end+1))
	}
	fewest, most := len(c.commits), 0
	for _, cut := range cuts {
		n, err := c.recovered(t, w.leave(t, cut), random)
		if want := c.acknowledged(cut); err != nil || n < want {
			t.Fatalf("log cut at %d of %d: got %d commits, %v, want the first %d or more", cut, end, n, err, want)
		}
		fewest, most = min(fewest, n), max(most, n)
	}
	if fewest != 0 || most != len(c.commits) {
		t.Errorf("cuts: got from %d to %d commits, want from none to all %d", fewest, most, len(c.commits))
	}
}

// powered writes a history on a disk that can lose power, checkpointing now
// and then.
func powered(t *testing.T, random *rand.Rand, d firn.Durability, commits int) (*crashvfs.Disk, *crashLog) {
	t.Helper()
	disk := crashDisk(t)
	s := openOn(t, filepath.Join(t.TempDir(), "power.db"), schema.Options{VFS: disk.Name()}, crashOptions(d))
	c := &crashLog{now: model{}}
	for range commits {
		if err := c.write(s, random, func() int64 { return int64(disk.Len()) }); err != nil {
			t.Fatal(err)
		}
		if random.IntN(5) > 0 {
			continue
		}
		err := inside.Of(s).Writer.Maintain(t.Context(), func(a schema.Appender) error {
			_, err := a.Checkpoint()
			if random.IntN(2) == 0 {
				_, err = a.Truncate()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return disk, c
}

// cutPower cuts the power at points, and tells what each cut left: how many
// commits, how many had been acknowledged, and what was wrong with them.
func cutPower(t *testing.T, disk *crashvfs.Disk, c *crashLog, points []int, cut crashvfs.Cut, random *rand.Rand, left func(point, n, acknowledged int, err error)) {
	t.Helper()
	for _, point := range points {
		dir := t.TempDir()
		if err := disk.Rebuild(dir, point, random.Uint64(), cut); err != nil {
			t.Fatal(err)
		}
		n, err := c.recovered(t, filepath.Join(dir, "power.db"), random)
		left(point, n, c.acknowledged(int64(point)), err)
	}
}

// cutPoints are every acknowledgement and as many random points.
func cutPoints(disk *crashvfs.Disk, c *crashLog, random *rand.Rand) []int {
	var points []int
	for _, commit := range c.commits {
		points = append(points, int(commit.point), random.IntN(disk.Len()+1))
	}
	return points
}

func TestPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	random := seededRandom(t)
	disk, c := powered(t, random, firn.Always, 24)
	cutPower(t, disk, c, cutPoints(disk, c, random), crashvfs.Cut{}, random, func(point, n, acknowledged int, err error) {
		if err != nil || n < acknowledged {
			t.Errorf("power cut at %d: got %d commits, %v, want the first %d or more", point, n, err, acknowledged)
		}
	})
}

// TestPowerCutTakesNewestOnly: without an fsync acknowledged commits may go,
// but only the newest, and the file stays sound.
func TestPowerCutTakesNewestOnly(t *testing.T) {
	t.Parallel()
	random := seededRandom(t)
	disk, c := powered(t, random, firn.None, 24)
	lost := 0
	cutPower(t, disk, c, cutPoints(disk, c, random), crashvfs.Cut{}, random, func(point, n, acknowledged int, err error) {
		if err != nil {
			t.Errorf("power cut at %d: got %d commits, %v, want the first of them", point, n, err)
		}
		lost += max(acknowledged-n, 0)
	})
	if lost == 0 {
		t.Error("acknowledged commits lost: got none, want some: this disk is too good to test with")
	}
}

// TestLyingDiskIsFoundOut is the control: on a disk that ignores fsync the
// test of durability must fail.
func TestLyingDiskIsFoundOut(t *testing.T) {
	t.Parallel()
	random := seededRandom(t)
	disk, c := powered(t, random, firn.Always, 10)
	failed := 0
	cutPower(t, disk, c, cutPoints(disk, c, random), crashvfs.Cut{IgnoreSync: true}, random, func(_, n, acknowledged int, err error) {
		if err != nil || n < acknowledged {
			failed++
		}
	})
	if failed == 0 {
		t.Error("cuts of a lying disk that lost something: got none, want some")
	}
}

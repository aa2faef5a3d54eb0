package retention

// The rule: wherever a pass is cut off, nothing is there that could not be
// there without the cut but what is yet to be deleted, no horizon is behind
// where it was, and the next pass leaves what an undisturbed one would have.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// smallSizes make every step a transaction of its own.
var smallSizes = sizes{chunkRows: 8, chunkWalk: 16, stepItems: 1, orphanPage: 2, pageRows: 4, busyRows: 4, sortPiece: 2}

// mostCuts is how many of all places a test cuts at: each takes some 20 ms.
const mostCuts = 150

// commitPoint is what a disk had done when a transaction was acknowledged, and
// the progress that it left.
type commitPoint struct {
	point   int
	classes map[Policy]Progress
}

// onDisk makes the rig's engine one on a disk that can lose power.
func (r *rig) onDisk(disk *crashvfs.Disk, path string) {
	r.t.Helper()
	e, err := schema.Open(path, schema.Options{CreatedAt: 100, VFS: disk.Name(), Sync: schema.SyncFull})
	if err != nil {
		r.t.Fatal(err)
	}
	r.SQLite = e
}

// noted is an Executor that notes each commit.
type noted struct {
	*rig
	disk    *crashvfs.Disk
	commits []commitPoint
}

func (n *noted) Exec(ctx context.Context, fn func(schema.Appender) error) error {
	err := n.store.Exec(ctx, fn)
	if err == nil {
		n.commits = append(n.commits, commitPoint{n.disk.Len(), n.rig.classes()})
	}
	return err
}

// classes are the file's progress.
func (r *rig) classes() map[Policy]Progress {
	r.t.Helper()
	session, err := r.Session()
	if err != nil {
		r.t.Fatal(err)
	}
	defer session.Close()
	classes, err := readClasses(session)
	if err != nil {
		r.t.Fatal(err)
	}
	return classes
}

// crashPolicies are one of each kind, and what they hold for.
func (r *rig) crashPolicies() {
	for scope, p := range map[Scope]Policy{
		{}:               {Age: 20 * time.Second},
		{"things", "t1"}: {Versions: 2},
		{"things", "t2"}: {Off: true},
		{"owners", "o1"}: {Versions: 2},
		{"owners", "o2"}: {Off: true},
		{"owners", "o0"}: {Age: 5 * time.Second},
		{"things", "s"}:  {},
	} {
		record := NewRecord(p, 0)
		r.state.Put(scope, &record)
	}
}

// reopen is the rig on what a crash has left.
func (r *rig) reopen(t *testing.T, path string) *rig {
	t.Helper()
	e, err := schema.Open(path, schema.Options{Sync: schema.SyncNormal})
	if err != nil {
		t.Fatal(err)
	}
	again := &rig{
		store: &store{SQLite: e, t: t}, tables: r.tables, now: r.now,
		newest: r.newest, log: r.log, held: schema.MaxTimestamp,
	}
	session, err := again.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := again.state.Load(session, 100, Policy{}); err != nil {
		t.Fatal(err)
	}
	again.crashPolicies()
	return again
}

func TestPowerCutAtEveryStepOfAPass(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	disk, err := crashvfs.Register("retention-" + t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(disk.Unregister)
	r := newRig(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.onDisk(disk, filepath.Join(t.TempDir(), "cut.db"))
	r.crashPolicies()
	for range 45 {
		r.step(rng)
	}
	w := &noted{rig: r, disk: disk}
	start := disk.Len()
	c := r.compactor()
	c.opts.Writer, c.sizes = w, smallSizes
	if _, err := c.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole := r.rows()
	if want := r.kept(); !slices.Equal(whole, want) {
		t.Fatalf("undisturbed: got\n%s\nwant\n%s", strings.Join(whole, "\n"), strings.Join(want, "\n"))
	}
	if len(w.commits) < 50 || len(whole) == len(r.log) {
		t.Fatalf("a pass of %d transactions that left %d of %d rows says little", len(w.commits), len(whole), len(r.log))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	points := []int{start, disk.Len()}
	for _, at := range w.commits {
		points = append(points, at.point-1, at.point, start+rng.IntN(disk.Len()-start))
	}
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	for _, point := range points[:min(len(points), mostCuts)] {
		dir := t.TempDir()
		if err := disk.Rebuild(dir, point, rng.Uint64(), crashvfs.Cut{}); err != nil {
			t.Fatal(err)
		}
		again := r.reopen(t, filepath.Join(dir, "cut.db"))
		err := errors.Join(again.cutAt(point, w.commits, whole, rng), again.Close())
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", point, disk.Len(), err)
		}
	}
}

// cutAt examines what a cut has left, and completes the pass.
func (r *rig) cutAt(point int, commits []commitPoint, whole []string, rng *rand.Rand) error {
	left := r.rows()
	for _, row := range whole {
		if !slices.Contains(left, row) {
			return fmt.Errorf("%s is gone, which is to stay", row)
		}
	}
	if byID := r.indexed(); byID > len(left) { // rows go after their entries
		return fmt.Errorf("entries by id: got %d, want at most %d, as the log has rows", byID, len(left))
	}
	for _, at := range commits {
		for p, was := range at.classes {
			if now := r.state.Progress(p); at.point <= point && (now.Horizon < was.Horizon || now.Applied < was.Applied) {
				return fmt.Errorf("%s: got %+v, want at least %+v", p, now, was)
			}
		}
	}
	if err := r.nothingUnannounced(left); err != nil {
		return err
	}
	c := r.compactor()
	if rng.IntN(2) == 0 {
		c.sizes = smallSizes
	}
	if _, err := c.Compact(r.t.Context()); err != nil {
		return err
	}
	if got := r.rows(); !slices.Equal(got, whole) {
		got = slices.DeleteFunc(got, func(row string) bool { return slices.Contains(whole, row) })
		return fmt.Errorf("after another pass: got %d more rows than after one:\n%s", len(got), strings.Join(got, "\n"))
	}
	r.checkIndexes()
	if r.t.Failed() {
		return errors.New("the indexes are not what the log says")
	}
	return nil
}

// nothingUnannounced says whether every row that is missing was replaced, or
// was a tombstone, when its horizon in the file had passed.
func (r *rig) nothingUnannounced(left []string) error {
	replaced := map[string]schema.Timestamp{}
	for _, row := range slices.Backward(r.log) {
		key := fmt.Sprint(row.Table, row.ID)
		until, was := replaced[key]
		replaced[key] = row.TS
		_, applied, _ := r.state.Horizon(r.scope(row))
		if slices.Contains(left, describe(row)) || was && until <= applied || row.Deleted && row.TS <= applied {
			continue
		}
		if row.Table == parts && r.ownedUntil(row) <= applied {
			continue
		}
		return fmt.Errorf("%s is gone, and can be read from %d on", describe(row), applied)
	}
	return nil
}

// ownedUntil is when a part lost its owner.
func (r *rig) ownedUntil(part *schema.Row) schema.Timestamp {
	uid, _, err := tuple.TakeString(part.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	owned := false
	for _, row := range r.log {
		owner, _, _ := strings.Cut(uid, "/")
		if row.Table != owners || row.ID != owner {
			continue
		}
		switch {
		case string(row.Value) == uid:
			owned = true
		case owned:
			return row.TS
		}
	}
	return schema.MaxTimestamp
}

// TestPolicyThatChangesIsNotPassedOver: what a policy did not hold for when it
// passed is looked at again, also after a crash at once after the change, and
// when a pass ends beside it.
func TestPolicyThatChangesIsNotPassedOver(t *testing.T) {
	r := newRig(t)
	hour, group := NewRecord(Policy{Off: true}, 0), Scope{Group: "things"}
	other := Scope{Group: "owners"}
	r.state.Put(other, &hour)
	for n := range 5 {
		r.commit(time.Second, write{things, "t", fmt.Append(nil, "a", n)}, write{owners, "o", fmt.Append(nil, n)})
	}
	if _, err := r.compactor().Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := r.state.Progress(Policy{Off: true})
	if before.Cursor == 0 {
		t.Fatal("the policy was not applied")
	}
	err := r.state.Rewind(t.Context(), r.store, func() error {
		if got := r.classes()[Policy{Off: true}]; got.Cursor != 0 || got.Horizon != before.Horizon {
			t.Errorf("in the file before the change: got %+v, want the cursor at 0", got)
		}
		if err := r.state.advance(t.Context(), r.store, Policy{Off: true}, r.state.Progress(Policy{Off: true}).moved(before.Cursor)); err != nil {
			return err
		}
		r.state.Put(group, &hour)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.state.advanced(Policy{Off: true}, before) // of a pass that began before
	if got := r.classes()[Policy{Off: true}].Cursor + r.state.Progress(Policy{Off: true}).Cursor; got != 0 {
		t.Errorf("cursor after the change: got %d, want 0", got)
	}
	if _, err := r.compactor().Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(r.rows()); got != 2 {
		t.Errorf("rows: got %d, want the present 2", got)
	}
}

func (p Progress) moved(to schema.Timestamp) Progress {
	p.Cursor = to
	return p
}

// TestContextEndsAWalk that finds nothing to delete, within a page.
func TestContextEndsAWalk(t *testing.T) {
	r := newRig(t)
	for n := range 1000 {
		r.commit(time.Second, write{things, fmt.Sprint(n), []byte("a")})
	}
	record := NewRecord(Policy{Off: true}, 0)
	r.state.Put(Scope{}, &record)
	ctx, cancel := context.WithCancel(t.Context())
	c := r.compactor()
	c.sizes.pageRows = 64
	c.opts.Table = func(id schema.TableID) *Table { cancel(); return r.tables[id] }
	report, err := c.Compact(ctx)
	if !errors.Is(err, context.Canceled) || report.Walked == 0 || report.Walked > 64 {
		t.Errorf("pass whose context ends: got %d rows walked, %v, want at most 64, %v", report.Walked, err, context.Canceled)
	}
}

// TestPolicyThatChangesInAWalk between two looks at one commit: what the first
// has condemned leads to what the second must not miss.
func TestPolicyThatChangesInAWalk(t *testing.T) {
	for at := range 40 {
		r := newRig(t)
		r.commit(time.Second, write{owners, "o", []byte("o/1")}, write{parts, partID("o/1", 1), []byte("a")})
		r.commit(time.Second, write{owners, "o", []byte("o/2")})
		r.commit(time.Second, write{owners, "o", []byte("o/3")})
		off, one := NewRecord(Policy{Off: true}, 0), NewRecord(Policy{Versions: 1}, 0)
		r.state.Put(Scope{}, &off)
		r.state.Put(Scope{Group: "things"}, &Record{})
		c, looks := r.compactor(), 0
		c.opts.Table = func(id schema.TableID) *Table {
			if looks++; looks == at {
				scope := Scope{Group: "owners", Member: "o"}
				if err := r.state.Rewind(t.Context(), r.store, func() error { r.state.Put(scope, &one); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			return r.tables[id]
		}
		for range 2 {
			if _, err := c.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.rows(); looks >= at && len(got) != 1 {
			t.Errorf("a policy that changes at look %d: got %d rows left, want the present one: %q", at, len(got), got)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

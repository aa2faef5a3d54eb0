package proof

// The rule: whatever a crash interrupts of what compacts a store, its horizons
// are where they were said to be, everything from them on reads as before, and
// doing it again leaves what there would be without the crash.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// scene is a store on a clock of its own, and what is done to it.
type scene struct {
	s     *firn.Store
	clock atomic.Int64 // µs; the compactor looks at it, too
	log   []sceneRow   // what was written, oldest first
	redo  bool         // after a crash: what is there already is not written again
}

type sceneRow struct {
	table, id string
	ts        firn.Timestamp
	value     string // "" ends the document
}

// sceneStep is something to do a second after the step before it.
type sceneStep struct {
	name string
	do   func(*scene) error
}

// acked is what was so when a step was done.
type acked struct {
	point int
	known []firn.Timestamp // the horizons of sceneScopes
	log   int              // what had been written
}

var sceneScopes = []firn.Scope{{}, {Group: "notes"}, of("notes", "a"), of("notes", "b"), of("notes", "c"), of("notes", "d"), of("rooms", "r0"), of("rooms", "r1")}

func of(group, member string) firn.Scope { return firn.Scope{Group: group, Member: member} }

func sceneTables() []firn.TableSpec {
	owns := func(_ string, value []byte, own func(string, []byte)) { own("walls", tuple.AppendBytes(nil, value)) }
	return []firn.TableSpec{
		{Name: "notes", Indexes: []firn.IndexSpec{{Name: "color", Prefix: 1, Keys: colorKeys}}},
		{Name: "rooms", Owns: owns},
		{Name: "walls", Owned: true, Prefix: 1, Counted: true},
	}
}

// now is the moment on the scene's clock.
func (c *scene) now() time.Time { return time.UnixMicro(c.clock.Load()) }

func (c *scene) options() firn.Options {
	return firn.Options{
		Tables: sceneTables(), Durability: firn.Always, Memory: -1, TailEntries: 1,
		Now: c.now,
	}
}

// put writes rows at one moment, unless they are there.
func (c *scene) put(rows ...sceneRow) error {
	ts := schema.TimestampOf(c.now())
	for i := range rows {
		rows[i].ts = ts
	}
	if c.redo && inside.Of(c.s).Head.Newest() >= ts {
		return nil
	}
	got, err := c.s.Update(context.Background(), func(tx *firn.Tx) error {
		for _, row := range rows {
			t := c.s.Table(row.table)
			if row.value == "" {
				if err := tx.Delete(t, []byte(row.id), nil); err != nil {
					return err
				}
			} else if err := tx.Put(t, []byte(row.id), []byte(row.value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && got != ts {
		return fmt.Errorf("written at %d, the clock says %d", got, ts)
	}
	if err == nil && !c.redo {
		c.log = append(c.log, rows...)
	}
	return err
}

// sceneWrites are n random commits.
func sceneWrites(random *rand.Rand, n int, uid *int, rooms map[string]string) (steps []sceneStep) {
	for range n {
		var rows []sceneRow
		value := fmt.Sprintf("%s:%d", colors[random.IntN(3)], random.IntN(1000))
		if random.IntN(4) == 0 {
			value = ""
		}
		rows = append(rows, sceneRow{table: "notes", id: string(rune('a' + random.IntN(5))), value: value})
		room := fmt.Sprint("r", random.IntN(2))
		switch {
		case random.IntN(5) == 0 && rooms[room] != "":
			rooms[room] = ""
			rows = append(rows, sceneRow{table: "rooms", id: room})
		case rooms[room] == "" || random.IntN(4) == 0:
			*uid++
			rooms[room] = fmt.Sprint("u", *uid)
			fallthrough
		default:
			rows = append(rows, sceneRow{table: "rooms", id: room, value: rooms[room]})
			for n := range random.IntN(4) {
				id := tuple.AppendInt(tuple.AppendBytes(nil, []byte(rooms[room])), int64(n))
				rows = append(rows, sceneRow{table: "walls", id: string(id), value: value})
			}
		}
		steps = append(steps, sceneStep{"write", func(c *scene) error { return c.put(rows...) }})
	}
	return steps
}

func setPolicy(scope firn.Scope, p firn.Retention) sceneStep {
	return sceneStep{fmt.Sprintf("set %v to %s", scope, p), func(c *scene) error {
		return c.s.SetRetention(context.Background(), scope, &p)
	}}
}

var compactStep = sceneStep{"compact", func(c *scene) error { _, err := c.s.Compact(context.Background()); return err }}

// sceneSteps are the story: writes before before, and then everything that
// compacts.
func sceneSteps(random *rand.Rand) (steps []sceneStep, before int) {
	uid, rooms := 0, map[string]string{}
	writes := func(n int) { steps = append(steps, sceneWrites(random, n, &uid, rooms)...) }
	do := func(more ...sceneStep) { steps = append(steps, more...) }
	bg := context.Background()
	writes(40)
	before = len(steps)
	do(setPolicy(firn.Scope{}, firn.Retention{Age: 20 * time.Second}), setPolicy(of("notes", "a"), firn.Retention{Versions: 2}),
		setPolicy(of("notes", "b"), firn.Retention{Off: true}), setPolicy(of("rooms", "r1"), firn.Retention{Versions: 2}),
		setPolicy(of("notes", "c"), firn.Retention{}), compactStep)
	writes(4)
	do(sceneStep{"hold", func(c *scene) error { return c.s.Hold(bg, firn.Hold{Name: "h", Until: c.now().Add(time.Hour)}) }})
	writes(8)
	do(sceneStep{"checkpoint", func(c *scene) error { return c.s.Checkpoint(bg) }}, compactStep,
		sceneStep{"truncate", func(c *scene) error { _, _, err := c.s.Truncate(bg); return err }})
	writes(3)
	do(sceneStep{"release", func(c *scene) error { _, err := c.s.Release(bg, "h"); return err }}, compactStep,
		setPolicy(of("notes", "c"), firn.Retention{Versions: 1}), setPolicy(of("notes", "e"), firn.Retention{Off: true}), compactStep,
		sceneStep{"vacuum", func(c *scene) error { _, err := c.s.Vacuum(bg); return err }})
	writes(3)
	do(sceneStep{"forget", func(c *scene) error {
		_, err := c.s.Forget(bg, c.s.Table("notes"), []byte("d"), schema.TimestampOf(c.now())-1)
		return err
	}})
	do(sceneStep{"prune", func(c *scene) error {
		_, err := c.s.Prune(bg, schema.TimestampOf(c.now().Add(-5*time.Second)))
		return err
	}})
	do(compactStep)
	return steps, before
}

// play does the steps from one on.
func (c *scene) play(steps []sceneStep, from int, done func(step int)) error {
	for i := from; i < len(steps); i++ {
		c.clock.Store(1_000_000 + int64(i)*time.Second.Microseconds())
		if err := steps[i].do(c); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, steps[i].name, err)
		}
		done(i)
	}
	return nil
}

func (c *scene) horizons() (known []firn.Timestamp) {
	for _, scope := range sceneScopes {
		known = append(known, c.s.Oldest(scope))
	}
	return known
}

// rows are what the file's log has of the scene's tables.
func (c *scene) rows() (all []string, err error) {
	session, err := inside.Of(c.s).Engine.Session()
	if err != nil {
		return nil, err
	}
	defer session.Close()
	rows, err := session.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1<<20)
	for _, row := range rows {
		if row.Table <= 3 {
			all = append(all, fmt.Sprintf("%d %q at %d %q", row.Table, row.ID, row.TS, row.Value))
		}
	}
	return all, err
}

// compare reads every document of the scene at every moment of the log's first
// n rows. It says whether that is what was written, or before the horizon.
func (c *scene) compare(n int) error {
	live := map[[2]string]string{}
	for i, row := range c.log[:n] {
		live[[2]string{row.table, row.id}] = row.value
		if i+1 < n && c.log[i+1].ts == row.ts {
			continue
		}
		err := c.s.At(row.ts, func(snap *firn.Snapshot) error {
			for doc, want := range live {
				if err := c.compareDocument(snap, row.ts, doc[0], doc[1], want, live); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && (!errors.Is(err, firn.ErrCompacted) || row.ts >= c.s.Bounds().Oldest) {
			return fmt.Errorf("at %d: %w", row.ts, err)
		}
	}
	return nil
}

// oldest is from when on a document can be read: where versions are counted,
// not before the oldest of those that are kept.
func (c *scene) oldest(table, id string) firn.Timestamp {
	scope := of(table, id)
	p, _ := c.s.Retention(scope)
	n := p.Versions
	for _, row := range slices.Backward(c.log) {
		if row.table == table && row.id == id && row.ts <= inside.Of(c.s).Head.Newest() {
			if n--; n == 0 {
				return max(row.ts, c.s.Oldest(scope))
			}
		}
	}
	return c.s.Oldest(scope)
}

func (c *scene) compareDocument(snap *firn.Snapshot, ts firn.Timestamp, table, id, want string, live map[[2]string]string) error {
	if table == "walls" {
		return nil // read with their rooms
	}
	if want == "" {
		want = firn.ErrNotFound.Error()
	}
	_, err := snap.Get(c.s.Table(table), []byte(id))
	var compacted *firn.CompactedError
	if errors.As(err, &compacted) {
		if oldest := c.oldest(table, id); ts >= oldest || ts >= compacted.Oldest || compacted.Oldest > schema.TimestampOf(c.now()) {
			return fmt.Errorf("%s of %s at %d: got %v, and it can be read from %d on", id, table, ts, err, oldest)
		}
		return nil
	}
	if got := valueOf(snap, c.s.Table(table), id); got != want {
		return fmt.Errorf("%s of %s at %d: got %q, want %q", id, table, ts, got, want)
	}
	if table != "rooms" || err != nil {
		return nil
	}
	prefix := tuple.AppendBytes(nil, []byte(want))
	var got, walls []string
	for item, err := range snap.Scan(firn.Range{Index: c.s.Table("walls").ByID(), Prefix: prefix}) {
		if err != nil {
			return err
		}
		got = append(got, item.Key+string(item.Doc.Value))
	}
	for doc, value := range live {
		if doc[0] == "walls" && strings.HasPrefix(doc[1], string(prefix)) && value != "" {
			walls = append(walls, doc[1]+value)
		}
	}
	slices.Sort(walls)
	if count, err := snap.Count(c.s.Table("walls"), prefix); !slices.Equal(got, walls) || count != len(walls) || err != nil {
		return fmt.Errorf("walls of %s at %d: got %q and %d, %v, want %q", want, ts, got, count, err, walls)
	}
	return nil
}

// filmed is a scene that was played to its end on a disk that can lose power.
type filmed struct {
	*scene
	disk  *crashvfs.Disk
	steps []sceneStep
	acks  []acked
	whole []string // what is left at the end
	begin int      // the point at which the writes were done
}

func film(t *testing.T, random *rand.Rand) *filmed {
	t.Helper()
	f := &filmed{scene: new(scene), disk: crashDisk(t)}
	f.clock.Store(900_000)
	before := 0
	f.steps, before = sceneSteps(random)
	f.s = openOn(t, filepath.Join(t.TempDir(), "scene.db"), schema.Options{VFS: f.disk.Name()}, f.options())
	err := f.play(f.steps, 0, func(step int) {
		f.acks = append(f.acks, acked{f.disk.Len(), f.horizons(), len(f.log)})
		if step < before {
			f.begin = f.disk.Len()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.whole, err = f.rows(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.compare(len(f.log)), f.s.Close()); err != nil {
		t.Fatal(err)
	}
	if len(f.whole) < 5 || len(f.whole) > len(f.log)/2 {
		t.Fatalf("%d of %d versions are left: that says little", len(f.whole), len(f.log))
	}
	return f
}

// checkCut examines what a power cut has left. Commits that no fsync had
// covered may lie behind what it has broken of the write-ahead log: Check
// tells of them, and that is no problem here.
func checkCut(path string) error {
	var problems []string
	_, err := firn.Check(path, func(p string) {
		if !strings.HasPrefix(p, "write-ahead log: broken") {
			problems = append(problems, p)
		}
	})
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %q, %w", problems, err)
	}
	return nil
}

// replay opens what a crash has left, examines it, and plays the rest.
func (f *filmed) replay(path string, point int) error {
	done := 0
	for done < len(f.acks) && f.acks[done].point <= point {
		done++
	}
	if err := checkCut(path); err != nil {
		return err
	}
	again := &scene{log: f.log, redo: true}
	again.clock.Store(1_000_000 + int64(done)*time.Second.Microseconds())
	o := again.options()
	o.Durability = firn.None
	s, err := firn.Open(path, o)
	if err != nil {
		return err
	}
	defer s.Close()
	again.s = s
	known := again.horizons()
	if done > 0 {
		for i, was := range f.acks[done-1].known {
			if known[i] < was {
				return fmt.Errorf("horizon of %+v: got %d, want at least %d", sceneScopes[i], known[i], was)
			}
		}
		// What was under way may be there, too.
		n := f.acks[done-1].log
		for newest := inside.Of(s).Head.Newest(); n < len(f.log) && f.log[n].ts <= newest; n++ {
		}
		if err := again.compare(n); err != nil {
			return err
		}
	}
	err = again.play(f.steps, done, func(int) {})
	if err != nil {
		return err
	}
	for i, now := range again.horizons() {
		if now < known[i] {
			return fmt.Errorf("horizon of %+v: got %d after %d", sceneScopes[i], now, known[i])
		}
	}
	if err := again.compare(len(f.log)); err != nil {
		return err
	}
	rows, err := again.rows()
	if err != nil || !slices.Equal(rows, f.whole) {
		return fmt.Errorf("at the end: got %d rows, %w, want %d: %s", len(rows), err, len(f.whole), sceneDifference(rows, f.whole))
	}
	if err := s.Close(); err != nil {
		return err
	}
	problems, err := firn.Check(path, func(string) {})
	if err != nil || problems > 0 {
		return fmt.Errorf("check at the end: %d problems, %w", problems, err)
	}
	return nil
}

// mostCuts is how many of all places a test cuts at: each takes some 40 ms.
func mostCuts() int { return race.Lighter(150, 40) }

func TestPowerCutWhileAStoreIsCompacted(t *testing.T) {
	t.Parallel()
	random := seededRandom(t)
	f := film(t, random)
	points := []int{f.disk.Len()}
	for at, op := range f.disk.Log() {
		if at < f.begin {
			continue
		}
		points = append(points, at)
		if op.Kind == crashvfs.Truncate {
			points = append(points, at+1)
		}
	}
	random.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	t.Logf("%d places, %d versions", len(points), len(f.log))
	for _, point := range points[:min(len(points), mostCuts())] {
		dir := t.TempDir()
		if err := f.disk.Rebuild(dir, point, random.Uint64(), crashvfs.Cut{}); err != nil {
			t.Fatal(err)
		}
		if err := f.replay(filepath.Join(dir, "scene.db"), point); err != nil {
			t.Errorf("power cut at %d of %d: %v", point, f.disk.Len(), err)
		}
	}
}

// sceneDifference is what one has and the other lacks.
func sceneDifference(got, want []string) string {
	var lines []string
	for _, row := range got {
		if !slices.Contains(want, row) {
			lines = append(lines, "got "+row)
		}
	}
	for _, row := range want {
		if !slices.Contains(got, row) {
			lines = append(lines, "lacks "+row)
		}
	}
	return strings.Join(lines, "; ")
}

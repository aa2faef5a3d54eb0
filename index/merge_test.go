package index

// A merge loses nothing: a slice that was not committed is written again, the
// watermark moves with the last one, and who holds the runs keeps them.

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firndb/firn/schema"
)

// sink is a file that may refuse.
type sink struct {
	noRanges
	merged  []schema.Entry
	again   int // slices that may be there already
	globals map[string]string
	fail    error
	refuse  string // the global that cannot be set
}

func newSink() *sink { return &sink{globals: map[string]string{}} }

func (s *sink) Merge(entries []schema.Entry) error {
	s.merged = append(s.merged, entries...)
	return s.fail
}

func (s *sink) Remerge(entries []schema.Entry) error {
	s.again++
	return s.Merge(entries)
}

func (s *sink) SetGlobal(key, json string) error {
	if key == s.refuse {
		return errDisk
	}
	s.globals[key] = json
	return s.fail
}

// noRanges is the part of a sink that has no fences and no keys.
type noRanges struct{}

func (noRanges) SetFences([]schema.Fence) error   { return nil }
func (noRanges) DropFences(schema.KeyRange) error { return nil }

func (noRanges) Fences(dst []schema.Fence, _ schema.KeyRange, _ string, _ int) ([]schema.Fence, error) {
	return dst, nil
}

func (noRanges) Keys(dst []schema.Entry, r schema.KeyRange, _ int) ([]schema.Entry, schema.KeyRange, bool, error) {
	return dst, r, true, nil
}

var errDisk = errors.New("disk is on fire")

// filledTail has n entries, the last at timestamp n.
func filledTail(n int) *Tail {
	tail := NewTail(0)
	for i := range n {
		tail.Insert([]schema.Entry{{Index: schema.ByID(1), TS: schema.Timestamp(i + 1), Key: fmt.Sprintf("%02d", (i*7)%n)}})
	}
	return tail
}

func TestMergeWritesEverythingOnceInOrder(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5, 10, 11} {
		tail, s := filledTail(10), newSink()
		m := NewMerger(tail, nil)
		if m.Active() || !m.Start(nil) || !m.Active() || m.Start(nil) {
			t.Fatal("a merge starts once")
		}
		for slices := 0; m.Active(); slices++ {
			if _, early := s.globals[WatermarkGlobal]; early || tail.Watermark() != 0 || slices > 10 {
				t.Fatalf("slices of %d: the watermark moved before slice %d, got %v", n, slices, s.globals)
			}
			if _, err := m.Write(s, n); err != nil {
				t.Fatal(err)
			}
			m.Committed()
		}
		if len(s.merged) != 10 || !slices.IsSortedFunc(s.merged, compare) {
			t.Errorf("slices of %d: got %s, want 10 entries in order", n, show(s.merged))
		}
		if got := s.globals[WatermarkGlobal]; got != "10" || tail.Watermark() != 10 {
			t.Errorf("slices of %d: got watermark %q in the file and %d in memory, want 10", n, got, tail.Watermark())
		}
		if m.Start(nil) {
			t.Errorf("slices of %d: got a merge of nothing, want none", n)
		}
	}
}

// TestFailedSliceIsWrittenAgain fails every slice once, either in the file or
// because its transaction was undone later.
func TestFailedSliceIsWrittenAgain(t *testing.T) {
	for _, refuse := range []string{"", CountsGlobal, WatermarkGlobal} {
		tail, m := filledTail(10), (*Merger)(nil)
		m = NewMerger(tail, nil)
		m.Start(Counts{})
		var committed []schema.Entry
		for attempt := 0; m.Active(); attempt++ {
			s := newSink()
			fails := attempt%2 == 0
			if fails && refuse == "" {
				s.fail = errDisk
			} else if fails {
				s.refuse = refuse
			}
			size := 4 - attempt%2 // of what failed, not all at once
			n, err := m.Write(s, size)
			if fails {
				if err != nil && !errors.Is(err, errDisk) {
					t.Fatalf("failing slice: got %v, want %v", err, errDisk)
				}
				continue // the transaction is undone, whatever Write said
			}
			if err != nil || n != len(s.merged) {
				t.Fatalf("slice: got %d entries, %v, want %d", n, err, len(s.merged))
			}
			committed = append(committed, s.merged...)
			m.Committed()
		}
		if len(committed) != 10 || !slices.IsSortedFunc(committed, compare) {
			t.Errorf("refusing %q: got %s, want 10 entries in order", refuse, show(committed))
		}
	}
}

// TestRunsOutliveTheirMerge keeps runs while a merge ends and new entries come.
func TestRunsOutliveTheirMerge(t *testing.T) {
	tail, s := filledTail(10), newSink()
	before := tail.Runs()
	m := NewMerger(tail, nil)
	m.Start(nil)
	during := tail.Runs()
	tail.Insert([]schema.Entry{{Index: schema.ByID(1), TS: 11, Key: "new"}})
	if active, total := tail.Size(); active.Entries != 1 || total.Entries != 11 {
		t.Errorf("size during the merge: got %d and %d entries, want 1 and 11", active.Entries, total.Entries)
	}
	if _, err := m.Write(s, 100); err != nil {
		t.Fatal(err)
	}
	m.Committed()
	if _, total := tail.Size(); total.Entries != 1 || tail.Runs().Frozen != nil {
		t.Errorf("after the merge: got %d entries, want the new one", total.Entries)
	}
	for name, run := range map[string]*Run{"before": before.Active, "during": during.Frozen} {
		if got := run.Len(); got != 10 {
			t.Errorf("runs taken %s the merge: got %d entries, want 10", name, got)
		}
		if e, ok := run.At(schema.ByID(1), "00", schema.MaxTimestamp); !ok || e.TS != 1 {
			t.Errorf("runs taken %s the merge: got %v, %t, want the entry at 1", name, e, ok)
		}
	}
	if e, ok := during.Active.At(schema.ByID(1), "new", 11); !ok {
		t.Errorf("the run that was new: got %v, want the entry at 11", e)
	}
}

// TestWatermarkIsACommit takes the newest entries back: their transaction
// failed, so no commit has their timestamp.
func TestWatermarkIsACommit(t *testing.T) {
	for _, n := range []int{1, 3, 10, 100} {
		tail, s := filledTail(10), newSink()
		failed := []schema.Entry{{Index: schema.ByID(1), TS: 11, Key: "00"}, {Index: schema.ByID(1), TS: 12, Key: "zz"}}
		tail.Insert(failed)
		tail.Remove(failed)
		m := NewMerger(tail, nil)
		for m.Start(nil); m.Active(); m.Committed() {
			if _, err := m.Write(s, n); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.globals[WatermarkGlobal]; got != "10" || tail.Watermark() != 10 {
			t.Errorf("slices of %d: got watermark %q in the file and %d in memory, want 10", n, got, tail.Watermark())
		}
	}
}

// TestCountsAreThoseOfTheStart changes the counts while they are merged.
func TestCountsAreThoseOfTheStart(t *testing.T) {
	counts := Counts{}
	counts.Add(3, "a", 2)
	tail, s := filledTail(3), newSink()
	m := NewMerger(tail, nil)
	m.Start(counts)
	counts.Add(3, "a", 5)
	counts.Add(4, "b", 1)
	if _, err := m.Write(s, 100); err != nil {
		t.Fatal(err)
	}
	if got, want := s.globals[CountsGlobal], `{"3":{"61":2}}`; got != want {
		t.Errorf("counts in the file: got %s, want %s", got, want)
	}
}

// openSession makes a store and a session on it.
func openSession(t *testing.T) (*schema.SQLite, schema.Session) {
	t.Helper()
	e, err := schema.Open(filepath.Join(t.TempDir(), "index.db"), schema.Options{Sync: schema.SyncNormal})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Session()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return e, s
}

// inTransaction runs fn on the write session.
func inTransaction(t *testing.T, e schema.Engine, fn func(schema.Appender) error) {
	t.Helper()
	a := e.Appender()
	if err := a.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := fn(a); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestCountsComeBack(t *testing.T) {
	e, s := openSession(t)
	if got, err := ReadCounts(s); len(got) != 0 || err != nil {
		t.Errorf("counts of a new store: got %v, %v, want none", got, err)
	}
	want := Counts{}
	want.Add(1, "plain", 1)
	want.Add(1, "\x00\xff\"\n", 1<<40)
	want.Add(1<<24-1, "", 7)
	want.Add(2, "gone", 3)
	want.Add(2, "gone", -3)
	inTransaction(t, e, func(a schema.Appender) error { return a.SetGlobal(CountsGlobal, want.encode()) })
	got, err := ReadCounts(s)
	if err != nil || !sameCounts(got, want) || got[1]["\x00\xff\"\n"] != 1<<40 {
		t.Errorf("counts: got %v, %v, want %v", got, err, want)
	}
}

// sameCounts compares counts; a table without any is one that is not there.
func sameCounts(a, b Counts) bool {
	empty := func(_ schema.TableID, byPrefix map[string]int64) bool { return len(byPrefix) == 0 }
	a, b = a.clone(), b.clone()
	maps.DeleteFunc(a, empty)
	maps.DeleteFunc(b, empty)
	return maps.EqualFunc(a, b, maps.Equal[map[string]int64, map[string]int64])
}

func TestDamagedGlobalsAreCorruption(t *testing.T) {
	for _, tt := range []struct {
		global, json string
		read         func(schema.Session) error
	}{
		{WatermarkGlobal, `"x"`, readWatermark}, {WatermarkGlobal, `-1`, readWatermark}, {WatermarkGlobal, `1.5`, readWatermark},
		{CountsGlobal, `[]`, readCounts}, {CountsGlobal, `{"1":{"zz":1}}`, readCounts}, {CountsGlobal, `{"-1":{}}`, readCounts},
	} {
		e, s := openSession(t)
		inTransaction(t, e, func(a schema.Appender) error { return a.SetGlobal(tt.global, tt.json) })
		if err := tt.read(s); !errors.Is(err, schema.ErrCorrupt) {
			t.Errorf("global %s is %s: got %v, want ErrCorrupt", tt.global, tt.json, err)
		}
	}
}

func readWatermark(s schema.Session) error { _, err := ReadWatermark(s); return err }

func readCounts(s schema.Session) error { _, err := ReadCounts(s); return err }

// TestReplayedEntriesAreMergedAgain: a merge that a crash has torn may have
// written them already.
func TestReplayedEntriesAreMergedAgain(t *testing.T) {
	tail, s := filledTail(10), newSink()
	tail.replayed.Store(4)
	m := NewMerger(tail, nil)
	for round, want := range []int{4, 0} { // slices of 3, 3, 3 and 1
		s.again = 0
		if !m.Start(nil) {
			t.Fatal("nothing to merge")
		}
		for m.Active() {
			if _, err := m.Write(s, 3); err != nil {
				t.Fatal(err)
			}
			m.Committed()
		}
		if s.again != want {
			t.Errorf("round %d: got %d slices merged again, want %d", round, s.again, want)
		}
		tail.Insert([]schema.Entry{{Index: schema.ByID(1), TS: 11, Key: "next"}})
	}
}

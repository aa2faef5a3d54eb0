package proof

// Weeks of retention: what is in the file stays bounded, by age, by number and
// by size.

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/schema"
)

// putAll commits one version of each document. Update would take its channel
// from a pool that is shared with tests on other clocks.
func putAll(t *testing.T, s *firn.Store, table, value string, ids ...string) firn.Timestamp {
	t.Helper()
	b := &putBatch{table: s.Table(table), value: value, ids: ids, done: make(chan error, 1)}
	if err := s.Submit(b); err != nil {
		t.Fatal(err)
	}
	if err := <-b.done; err != nil {
		t.Fatal(err)
	}
	return b.ts
}

// putBatch is a firn.Batch of one transaction, which puts documents.
type putBatch struct {
	table *firn.Table
	value string
	ids   []string
	ts    firn.Timestamp
	done  chan error // capacity 1: Done must not block
}

func (b *putBatch) Len() int { return 1 }

func (b *putBatch) Transact(_ int, tx *firn.Tx) error {
	for _, id := range b.ids {
		if err := tx.Put(b.table, []byte(id), []byte(b.value)); err != nil {
			return err
		}
	}
	return nil
}

func (b *putBatch) Done(last firn.Timestamp, err error) {
	b.ts = last
	b.done <- err
}

// setOnce sets a policy without Update.
func setOnce(t *testing.T, s *firn.Store, scope firn.Scope, r firn.Retention) {
	t.Helper()
	if err := s.SetRetention(t.Context(), scope, &r); err != nil {
		t.Fatal(err)
	}
}

// versionsByID is how many versions of each document the log has.
func versionsByID(t *testing.T, s *firn.Store) map[string]int {
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
	n := map[string]int{}
	for _, row := range rows {
		n[row.ID]++
	}
	return n
}

// TestThirtyDaysOfPolicies keeps seven days of the store, one of a group and
// everything of a document, with a commit every hour.
func TestThirtyDaysOfPolicies(t *testing.T) {
	t.Parallel()
	days := race.Lighter(30, 10)
	keepForHours(t, days*24, (days-8)*24, 24, nil)
}

// TestHoursOfPoliciesThatCount keeps an hour of the group, and has documents
// that keep nothing, and three versions: there is a pass every second.
func TestHoursOfPoliciesThatCount(t *testing.T) {
	t.Parallel()
	keepForHours(t, 8, 3, 1, map[string]firn.Retention{"off": {Off: true}, "three": {Versions: 3}})
}

// holdHours is how long the hold is.
const holdHours = 3

func keepForHours(t *testing.T, hours, holdFrom, groupHours int, members map[string]firn.Retention) {
	path := filepath.Join(t.TempDir(), "days.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := firn.Open(path, firn.Options{
			Tables:    []firn.TableSpec{{Name: "notes"}, {Name: "jobs"}, {Name: "kept", Shared: true}},
			Retention: 7 * 24 * time.Hour, Durability: firn.None,
		})
		if err != nil {
			t.Fatal(err)
		}
		setOnce(t, s, firn.Scope{Group: "jobs"}, firn.Retention{Age: time.Duration(groupHours) * time.Hour})
		ids := slices.Collect(maps.Keys(members))
		for _, id := range ids {
			setOnce(t, s, firn.Scope{Group: "jobs", Member: id}, members[id])
		}
		setOnce(t, s, firn.Scope{Group: "notes", Member: "all"}, firn.Retention{})
		for hour := 1; hour <= hours; hour++ {
			putAll(t, s, "notes", fmt.Sprint(hour), "week", "all")
			putAll(t, s, "jobs", fmt.Sprint(hour), append(ids, "hour")...)
			if hour == holdFrom {
				if err := s.Hold(t.Context(), firn.Hold{Name: "h", Until: time.Now().Add(holdHours*time.Hour - time.Minute)}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour - 5*time.Second)
			synctest.Wait()
			if hour%24 == 0 || hours < 24 || hour < holdFrom+8 && hour >= holdFrom {
				checkHour(t, s, hour, holdFrom, groupHours, members)
			}
			time.Sleep(5 * time.Second)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if problems, err := firn.Check(path, func(p string) { t.Error(p) }); err != nil || problems > 0 {
		t.Errorf("check: got %d problems, %v", problems, err)
	}
}

// checkHour counts what there is after so many hours, five seconds before the
// next commit. A policy of age keeps up to a hundredth more, and the version
// that was current then.
func checkHour(t *testing.T, s *firn.Store, hour, holdFrom, groupHours int, members map[string]firn.Retention) {
	t.Helper()
	since := 0 // versions since the hold, while it holds
	if hour >= holdFrom && hour < holdFrom+holdHours-1 {
		since = hour - holdFrom + 1
	}
	kept := map[string][2]int{
		"week": {min(hour, 7*24), min(hour, 7*24+3)},
		"hour": {min(hour, max(groupHours, since)), max(groupHours, since) + 1},
		"all":  {hour, hour},
	}
	for id, p := range members {
		least := max(1, min(hour, p.Versions), since)
		kept[id] = [2]int{least, least + since} // what is held is counted apart
	}
	got := versionsByID(t, s)
	for id, want := range kept {
		if got[id] < want[0] || got[id] > want[1] {
			t.Errorf("hour %d: got %d versions of %s, want %d to %d", hour, got[id], id, want[0], want[1])
		}
	}
	if stats := s.Stats(); stats.TailEntries != 0 {
		t.Errorf("hour %d: got %d entries to merge of a store that idles, want none", hour, stats.TailEntries)
	}
	if n := len(s.Holds()); (n > 0) != (since > 0) {
		t.Errorf("hour %d: got %d holds", hour, n)
	}
}

// TestIdleStoreIsLeftAlone: a store with a short retention is written while
// that brings something, and then no more; what it has freed goes back.
func TestIdleStoreIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "idle.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := firn.Open(path, firn.Options{Tables: []firn.TableSpec{{Name: "notes"}}, Retention: 30 * time.Second, Durability: firn.None})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			putAll(t, s, "notes", strings.Repeat("x", 20_000)+fmt.Sprint(n), "a")
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		before, size := s.Stats(), storefile.FileBytes(path)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		after := s.Stats()
		if before.WALWrittenBytes != after.WALWrittenBytes || before.Checkpoints != after.Checkpoints || after.WALBytes != 0 {
			t.Errorf("a day of idling: got %+v after %+v, want nothing written", after, before)
		}
		if got := versionsByID(t, s)["a"]; got != 1 || size > 200<<10 || after.VacuumedBytes < 1<<20 {
			t.Errorf("after a while: got %d versions, a file of %d bytes and %d given back, want 1, less and more", got, size, after.VacuumedBytes)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestHistoryStaysWithinItsBytes writes for a long time what is to be kept for
// ever, as far as there is room.
func TestHistoryStaysWithinItsBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bytes.db")
	const most = 4 << 20
	synctest.Test(t, func(t *testing.T) {
		log := listen()
		s, err := firn.Open(path, firn.Options{Tables: []firn.TableSpec{{Name: "notes"}}, HistoryMaxBytes: most, Durability: firn.None, Logger: slog.New(log)})
		if err != nil {
			t.Fatal(err)
		}
		setOnce(t, s, firn.Scope{Group: "notes", Member: "n3"}, firn.Retention{Versions: 1000})
		used := func() int64 {
			n, err := inside.Of(s).UsedBytes()
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		created, value := s.Bounds().Oldest, strings.Repeat("v", 10_000)
		rounds := race.Lighter(300, 120)
		for n := range rounds {
			for i := range 10 {
				putAll(t, s, "notes", fmt.Sprint(value, n), fmt.Sprint("n", i))
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := used(); got > most+1<<19 {
				t.Fatalf("after %d versions: got %d bytes used, want at most about %d", n, got, most)
			}
		}
		if got := used(); got < most/4 {
			t.Errorf("got %d bytes used of %d: that is too little", got, most)
		}
		if got := s.Bounds().Oldest; got == created {
			t.Error("the horizon did not move")
		}
		log.wait(t, "history was shortened")
		if got := inside.Of(s).Compactor.Stats(); got.Shortened == 0 || got.Full {
			t.Errorf("statistics: got %+v, want history shortened and room", got)
		}
		n := 0
		err = s.View(func(snap *firn.Snapshot) error {
			for i := range 10 {
				if valueOf(snap, s.Table("notes"), fmt.Sprint("n", i)) == fmt.Sprint(value, rounds-1) {
					n++
				}
			}
			return nil
		})
		if n != 10 || err != nil {
			t.Errorf("the present: got %d of 10 documents, %v", n, err)
		}
		presentAlone(t, s, log, value)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// presentAlone makes the present larger than everything may be, for an hour,
// and small again.
func presentAlone(t *testing.T, s *firn.Store, log heard, value string) {
	t.Helper()
	for i := range 600 {
		putAll(t, s, "notes", value, fmt.Sprint("m", i))
	}
	before := inside.Of(s).Compactor.Stats()
	time.Sleep(time.Hour)
	synctest.Wait()
	got := inside.Of(s).Compactor.Stats()
	if !got.Full || got.Shortened-before.Shortened > 10 {
		t.Errorf("the present alone is too large: got %+v after %+v, want that it is full, and few steps", got, before)
	}
	count := func(text string) (n int) {
		for {
			select {
			case message := <-log.messages:
				if strings.Contains(message, text) {
					n++
				}
			default:
				return n
			}
		}
	}
	if n := count("no history is left"); n != 1 {
		t.Errorf("an hour of being full: told %d times, want once", n)
	}
	for i := range 600 {
		putAll(t, s, "notes", "", fmt.Sprint("m", i))
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	if n := count("no larger than it may be again"); n != 1 || inside.Of(s).Compactor.Stats().Full {
		t.Errorf("with room again: told %d times, want once", n)
	}
}

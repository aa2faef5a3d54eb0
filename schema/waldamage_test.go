package schema

// Commits that lie behind damage in the write-ahead log are told; what a crash
// or a rollback normally leaves there is not.

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// crashed makes a store of n commits, the log emptied before the from-th, and
// returns a copy of its files as a crash would leave them.
func crashed(t *testing.T, n, from int) (path string) {
	t.Helper()
	s := openTest(t, Options{Sync: SyncNormal, WriterCacheBytes: 64 << 10})
	a := s.Appender()
	for ts := Timestamp(1); ts <= Timestamp(n); ts++ {
		if ts == Timestamp(from) {
			_, err := s.Checkpoint() // the next commit starts the log afresh
			must(t, err)
		}
		must(t, a.Begin(), a.Append([]*Row{{TS: ts, Table: 1, ID: "x", Value: make([]byte, 200)}}), a.Commit())
	}
	if from == 0 {
		spill(t, a)
	}
	path = filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(s.Path() + suffix)
		must(t, err, os.WriteFile(path+suffix, text, 0o644))
	}
	return path
}

// spill undoes a transaction that the cache had no room for: its pages are in
// the log.
func spill(t *testing.T, a Appender) {
	t.Helper()
	must(t, a.Begin())
	for ts := Timestamp(1000); ts < 1400; ts++ {
		must(t, a.Append([]*Row{{TS: ts, Table: 1, ID: "x", Value: make([]byte, 3000)}}))
	}
	must(t, a.Rollback())
}

// newestIn opens the store, and says what it had lost and what it has.
func newestIn(t *testing.T, path string) (lost WALDamage, newest Timestamp) {
	t.Helper()
	s, err := Open(path, Options{})
	must(t, err)
	newest, err = s.app.newest()
	must(t, err, s.Close())
	return s.Damage(), newest
}

func TestCommitsBehindDamageAreTold(t *testing.T) {
	const commits, frame = 60, walFrameBytes + 4096
	at := func(n, in int) int { return walHeaderBytes + n*frame + in }
	for _, tt := range []struct {
		name   string
		offset int // of the bit that is flipped; negative: the log is cut there
		want   bool
	}{
		{"nothing", 0, false},
		{"a page", at(20, walFrameBytes+1000), true},
		{"a page's number", at(20, 3), true},
		{"a salt", at(20, 9), true},
		{"a checksum", at(20, 17), true},
		{"the first frame", at(0, 500), true},
		{"the header's salt", 17, true},
		{"the header's checksum", 25, true},
		{"the header's magic number", 1, true},
		{"a cut tail", -at(30, 100), false},
		{"a cut between frames", -at(30, 0), false},
		{"only the header", -walHeaderBytes, false},
		{"a part of the header", -10, false},
		{"nothing of the log", -1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := crashed(t, commits, 0)
			log, err := os.ReadFile(path + "-wal")
			must(t, err)
			if tt.offset < 0 {
				log = log[:-tt.offset]
			} else if tt.offset > 0 {
				log[tt.offset] ^= 4
			}
			must(t, os.WriteFile(path+"-wal", log, 0o644))
			looked, err := InspectWAL(path)
			must(t, err)
			lost, newest := newestIn(t, path)
			if lost != looked {
				t.Errorf("opening: got %+v, want what was found before, %+v", lost, looked)
			}
			// The broken frame may itself end a commit, which nobody can tell.
			if got, gone := lost.Commits, int64(commits-newest); tt.want && (got < gone-1 || got > gone || got == 0) || !tt.want && got != 0 {
				t.Errorf("commits behind damage: got %d, want them told: %t, of %d that are gone", got, tt.want, gone)
			}
			if again, _ := newestIn(t, path); again.Commits != 0 {
				t.Errorf("opened once more: got %+v, want it told once", again)
			}
		})
	}
}

func TestOlderFramesAreNoDamage(t *testing.T) {
	path := crashed(t, 60, 50)
	if got, err := InspectWAL(path); err != nil || got.Commits != 0 {
		t.Errorf("log that was started afresh: got %+v, %v, want nothing lost", got, err)
	}
	lost, newest := newestIn(t, path)
	if lost.Commits != 0 || newest != 60 {
		t.Errorf("opening it: got %+v and commits up to %d, want all 60", lost, newest)
	}
}

// TestLogInUseIsNoDamage looks at a log that is written to and started afresh.
func TestLogInUseIsNoDamage(t *testing.T) {
	s := openTest(t, Options{Sync: SyncNormal})
	a := s.Appender()
	var stop atomic.Bool
	ended := make(chan error, 1)
	go func() {
		var err error
		for ts := Timestamp(1); !stop.Load() && err == nil; ts++ {
			if err = a.Begin(); err == nil {
				err = a.Append([]*Row{{TS: ts, Table: 1, ID: "x", Value: make([]byte, 200)}})
			}
			if err == nil {
				err = a.Commit()
			}
			if ts%100 == 0 && err == nil {
				_, err = a.Checkpoint()
			}
		}
		ended <- err
	}()
	for range 300 {
		if got, err := InspectWAL(s.Path()); err != nil || got.Commits != 0 {
			t.Errorf("log in use: got %+v, %v, want nothing lost", got, err)
			break
		}
	}
	stop.Store(true)
	must(t, <-ended)
}

func TestDamageIsSaidInWords(t *testing.T) {
	want := "write-ahead log: broken at byte 32: 2 commits in 5 intact frames behind it cannot be read"
	if got := fmt.Sprint(WALDamage{Offset: 32, Frames: 5, Commits: 2}); len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("text: got %q, want it to begin with %q", got, want)
	}
}

package proof

// Bugs that etcd's watches had, one test each: no follower has them here.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
)

// changesFrom follows from a token up to the newest commit: "id=value" for each
// change, a bar between commits.
func changesFrom(s *firn.Store, t *testing.T, token string, f journal.Filter) string {
	t.Helper()
	newest := s.Bounds().Newest
	f.Bookmark = time.Millisecond // one comes if nothing is admitted
	var commits []string
	for c, err := range s.Changes(t.Context(), token, f) {
		if err != nil {
			return errorText(err)
		}
		var changes []string
		for _, change := range c.Changes {
			if change.Doc.Deleted {
				changes = append(changes, change.Doc.ID+" gone")
			} else {
				changes = append(changes, fmt.Sprintf("%s=%s", change.Doc.ID, change.Doc.Value))
			}
		}
		if !c.Bookmark() {
			commits = append(commits, strings.Join(changes, " "))
		}
		if c.TS >= newest {
			break
		}
	}
	return strings.Join(commits, " | ")
}

func errorText(err error) string {
	for _, known := range []error{firn.ErrCompacted, firn.ErrFuture, firn.ErrForked} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// sources are stores that a follower reads from memory, and from the file.
func sources(t *testing.T, test func(t *testing.T, s *firn.Store)) {
	for _, bytes := range []int64{0, -1} {
		t.Run(fmt.Sprintf("memory=%t", bytes == 0), func(t *testing.T) {
			s := openNew(t, firn.Options{FollowBytes: bytes})
			f := s.Journal().Follow(s.Bounds().Newest)
			defer f.Close()
			test(t, s)
		})
	}
}

// gone deletes a note.
func gone(t *testing.T, s *firn.Store, id string) firn.Timestamp {
	t.Helper()
	ts, err := s.Update(t.Context(), func(tx *firn.Tx) error { return tx.Delete(s.Table("notes"), []byte(id), nil) })
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// TestNothingIsLostAtACompactionsBoundary: a watch from exactly the compacted
// revision lost the events at the boundary, a deletion among them, because the
// compaction had dropped its tombstone.
func TestNothingIsLostAtACompactionsBoundary(t *testing.T) {
	sources(t, func(t *testing.T, s *firn.Store) {
		notes := s.Table("notes")
		written := []firn.Timestamp{put(t, s, notes, "ada", "1"), put(t, s, notes, "ada", "2")}
		deleted := gone(t, s, "ada")
		put(t, s, notes, "bob", "x")
		for _, tt := range []struct{ horizon, from firn.Timestamp }{
			{written[1], written[0]}, {written[1], written[1]}, {deleted - 1, deleted - 1}, {deleted, deleted - 1}, {deleted, deleted},
		} {
			if err := moveHorizon(t.Context(), s, tt.horizon); err != nil {
				t.Fatal(err)
			}
			// From the file: a ring that has it all may say so, too.
			want := map[firn.Timestamp]string{written[0]: "ada=2 | ada gone | bob=x", written[1]: "ada gone | bob=x", deleted - 1: "ada gone | bob=x", deleted: "bob=x"}[tt.from]
			got := changesFrom(s, t, s.Token(tt.from), journal.Filter{})
			if tt.from < tt.horizon && got == firn.ErrCompacted.Error() {
				continue // and said so
			}
			if got != want {
				t.Errorf("from %d, horizon %d: got %q, want %q", tt.from, tt.horizon, got, want)
			}
		}
	})
}

// TestNobodyResumesInsideOneCommit: a watch that was cut in the middle of one
// revision's events went on with the next revision, and skipped the rest.
func TestNobodyResumesInsideOneCommit(t *testing.T) {
	sources(t, func(t *testing.T, s *firn.Store) {
		began := s.Token(s.Bounds().Newest)
		const most = 3000 // more than are read in one transaction, and than a page has
		for range 2 {
			if _, err := s.Update(t.Context(), func(tx *firn.Tx) (err error) {
				for i := range most {
					err = errors.Join(err, tx.Put(s.Table("notes"), fmt.Appendf(nil, "n%04d", i), nil))
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		token, sizes := began, []int(nil)
		for range 2 { // a connection for each event
			for c, err := range s.Changes(t.Context(), token, journal.Filter{MaxRows: 10, MaxBytes: 100}) {
				if err != nil {
					t.Fatal(err)
				}
				token, sizes = c.Token, append(sizes, len(c.Changes))
				break
			}
		}
		if !slices.Equal(sizes, []int{most, most}) {
			t.Errorf("got commits of %v changes, want two of %d", sizes, most)
		}
	})
}

// TestASlowFollowerMissesNoDeletion: a watcher that had fallen behind was synced
// from what keys were by then, and never heard of one that had been deleted and
// made again.
func TestASlowFollowerMissesNoDeletion(t *testing.T) {
	s := openNew(t, firn.Options{FollowBytes: 2000}) // some ten commits
	notes := s.Table("notes")
	began := s.Token(s.Bounds().Newest)
	put(t, s, notes, "ada", "1")
	var got []string
	for c, err := range s.Changes(t.Context(), began, journal.Filter{MaxCommits: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Bookmark() {
			continue
		}
		for _, change := range c.Changes {
			got = append(got, change.Doc.ID+map[bool]string{true: " gone"}[change.Doc.Deleted])
		}
		if len(got) == 1 { // it looks away
			gone(t, s, "ada")
			for i := range 100 {
				put(t, s, notes, "bob", fmt.Sprint(i))
			}
			gone(t, s, "bob")
			put(t, s, notes, "ada", "2")
		}
		if c.TS == s.Bounds().Newest {
			break
		}
	}
	if len(got) != 104 || got[1] != "ada gone" || got[102] != "bob gone" || got[103] != "ada" {
		t.Errorf("got %d changes %q, want 104, with both deletions", len(got), got)
	}
}

// TestBookmarksDoNotRunAhead: progress notifications named revisions whose
// events were still on their way, and a client that resumed from one missed
// them.
func TestBookmarksDoNotRunAhead(t *testing.T) {
	s := openNew(t, firn.Options{FollowBytes: 3000})
	const commits = 2000
	began := s.Token(s.Bounds().Newest)
	type seen struct {
		commits, marks int
		err            error
	}
	outcome := make(chan seen)
	for range 3 {
		go func() {
			var o seen
			count := 0
			for c, err := range s.Changes(t.Context(), began, journal.Filter{Bookmark: time.Microsecond, MaxCommits: 2}) {
				if err != nil {
					o.err = err
					break
				}
				for _, change := range c.Changes {
					if string(change.Doc.Value) == fmt.Sprint(o.commits) {
						o.commits++
					} else {
						o.err = fmt.Errorf("at %d: got %s, want the commit %d", c.TS, change.Doc.Value, o.commits)
					}
				}
				if c.Bookmark() {
					o.marks++
					count = -1
					err := s.At(c.TS, func(snap *firn.Snapshot) error {
						doc, err := snap.Get(s.Table("notes"), []byte("n"))
						if errors.Is(err, firn.ErrNotFound) {
							count = 0
							return nil
						}
						if err == nil {
							_, err = fmt.Sscan(string(doc.Value), &count)
							count++
						}
						return err
					})
					if err != nil || count != o.commits {
						o.err = fmt.Errorf("bookmark at %d: %d commits came before it, want %d (%v)", c.TS, o.commits, count, err)
					}
				}
				if o.err != nil || o.commits == commits {
					break
				}
			}
			outcome <- o
		}()
	}
	for i := range commits {
		put(t, s, s.Table("notes"), "n", fmt.Sprint(i))
	}
	for range 3 {
		if o := <-outcome; o.err != nil || o.marks == 0 || o.commits != commits {
			t.Errorf("got %d commits, %d bookmarks, %v; want %d, and some", o.commits, o.marks, o.err, commits)
		}
	}
}

// TestNothingComesTwiceAfterReconnecting: a client that reconnected with the
// revision of its last event was sent that event again.
func TestNothingComesTwiceAfterReconnecting(t *testing.T) {
	sources(t, func(t *testing.T, s *firn.Store) {
		began := s.Token(s.Bounds().Newest)
		g := &group{notes: s.Table("notes"), done: make(chan error, 1)}
		for i := range 20 { // one group, which is one piece of memory
			g.wrote = append(g.wrote, map[string]string{"a": fmt.Sprint(i)})
		}
		if err := s.Submit(g); err != nil {
			t.Fatal(err)
		}
		if err := <-g.done; err != nil {
			t.Fatal(err)
		}
		var got []string
		for token := began; len(got) < 20; {
			for c, err := range s.Changes(t.Context(), token, journal.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				token, got = c.Token, append(got, string(c.Changes[0].Doc.Value))
				break
			}
		}
		for i, value := range got {
			if value != fmt.Sprint(i) {
				t.Fatalf("got %q, want 0 to 19", got)
			}
		}
		if again := changesFrom(s, t, s.Token(s.Bounds().Newest), journal.Filter{}); again != "" {
			t.Errorf("from the newest: got %q, want nothing", again)
		}
	})
}

// TestNobodyIsServedFromTheFuture: a watch from a revision that had not come
// delivered events before it.
func TestNobodyIsServedFromTheFuture(t *testing.T) {
	sources(t, func(t *testing.T, s *firn.Store) {
		ts := put(t, s, s.Table("notes"), "ada", "1")
		if got := changesFrom(s, t, s.Token(ts+3_600_000_000), journal.Filter{}); got != firn.ErrFuture.Error() {
			t.Errorf("from an hour ahead: got %q, want that it is the future", got)
		}
	})
}

package firn

// Whoever is quiet, or slow, keeps a token that is good, or is told in time.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/journal"
)

// event is one step of a walk of Changes.
type event struct {
	commit journal.Commit
	err    error
	at     time.Time
}

// listen follows in the background.
func listen(ctx context.Context, s *Store, from string, f journal.Filter) <-chan event {
	events := make(chan event, 1000) // more than any test here lets come
	go func() {
		defer close(events)
		for c, err := range s.Changes(ctx, from, f) {
			events <- event{c, err, time.Now()}
		}
	}()
	return events
}

// TestAQuietFollowerGetsBookmarks lets ten minutes pass: with nothing committed,
// with nothing that is admitted, and with something each second.
func TestAQuietFollowerGetsBookmarks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		every   time.Duration // a commit
		filter  journal.Filter
		commits int
	}{
		{"idle", time.Hour, journal.Filter{}, 0},
		{"idle, asked for more", time.Hour, journal.Filter{Bookmark: 2 * time.Second}, 0},
		{"others", 300 * time.Millisecond, journal.Filter{Tables: []string{"things"}}, 0},
		{"now and then", 15 * time.Second, journal.Filter{}, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := openNew(t, Options{CompactByHand: true})
				ctx, cancel := context.WithCancel(t.Context())
				began := time.Now()
				events := listen(ctx, s, "$", tt.filter)
				for time.Since(began) < 10*time.Minute {
					time.Sleep(min(tt.every, 10*time.Minute))
					put(t, s, s.Table("notes"), "a", "x")
				}
				synctest.Wait()
				cancel()
				most := tt.filter.Bookmark
				if most == 0 {
					most = 10 * time.Second
				}
				last, lastTS, commits := began, Timestamp(0), 0
				for e := range events {
					if errors.Is(e.err, context.Canceled) {
						continue
					}
					if e.err != nil {
						t.Fatal(e.err)
					}
					if wait := e.at.Sub(last); wait > most+500*time.Millisecond {
						t.Errorf("a token after %s, want one within %s", wait, most)
					}
					if e.commit.TS <= lastTS || e.commit.Token != s.Token(e.commit.TS) {
						t.Errorf("got %v after %d", e.commit, lastTS)
					}
					if age := e.at.Sub(e.commit.TS.Time()); age > 500*time.Millisecond {
						t.Errorf("a token of %s ago", age)
					}
					if !e.commit.Bookmark() {
						commits++
					}
					last, lastTS = e.at, e.commit.TS
				}
				if last.Sub(began) < 9*time.Minute || commits < tt.commits {
					t.Errorf("the last token came after %s, and %d commits; want ten minutes, and %d", last.Sub(began), commits, tt.commits)
				}
			})
		})
	}
}

// TestAPassOfTheCompactorIsPrecededByABookmark holds that a quiet follower has a
// token that the pass does not pass.
func TestAPassOfTheCompactorIsPrecededByABookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openNew(t, Options{CompactByHand: true})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events := listen(ctx, s, "$", journal.Filter{Tables: []string{"things"}, Bookmark: time.Hour})
		time.Sleep(time.Minute)
		put(t, s, s.Table("notes"), "a", "1")
		put(t, s, s.Table("notes"), "a", "2")
		synctest.Wait()
		if len(events) != 0 {
			t.Fatalf("before the pass: got %v", (<-events).commit)
		}
		if _, err := s.Prune(t.Context(), s.Bounds().Newest); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(events) != 1 {
			t.Fatalf("after it: got %d events, want a bookmark", len(events))
		}
		mark := (<-events).commit
		if !mark.Bookmark() || mark.TS < s.Bounds().Oldest {
			t.Errorf("got %v, want a bookmark not before %d", mark, s.Bounds().Oldest)
		}
		after, err := s.Journal().From(mark.Token)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, s.Table("notes"), "a", "3")
		if _, err := s.Journal().Page(after, &journal.Filter{}); err != nil {
			t.Errorf("from the bookmark: got %v", err)
		}
	})
}

// TestASlowFollowerIsToldAndHeldBackFor has one that does not move while history
// goes by: first a hold, then a warning, then COMPACTED.
func TestASlowFollowerIsToldAndHeldBackFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := openNew(t, Options{CompactByHand: true, Retention: time.Hour, FollowBytes: -1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		warnings := func() int { return strings.Count(log.String(), "about to fall behind") }
		pass := func(d time.Duration) {
			t.Helper()
			for range 4 {
				time.Sleep(d / 4)
				put(t, s, s.Table("notes"), "a", "x")
			}
			if _, err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		pass(2 * time.Hour)
		token := s.Token(s.Bounds().Newest)
		slow := s.Journal().Follow(s.Bounds().Newest)
		defer slow.Close()
		if err := s.Hold(t.Context(), Hold{Name: "slow", At: slow.At(), Until: time.Now().Add(24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		read := func() ([]journal.Commit, error) {
			after, err := s.Journal().From(token)
			if err != nil {
				return nil, err
			}
			p, err := s.Journal().Page(after, &journal.Filter{})
			return p.Commits, err
		}
		pass(3 * time.Hour)
		if got, err := read(); err != nil || len(got) != 4 {
			t.Errorf("while it is held: got %d commits, %v; want 4", len(got), err)
		}
		if stats := s.Stats(); stats.Followers != 1 || stats.FollowerLag < 3*time.Hour {
			t.Errorf("got %d followers, %s behind, want one, three hours", stats.Followers, stats.FollowerLag)
		}
		if _, err := s.Release(t.Context(), "slow"); err != nil {
			t.Fatal(err)
		}
		slow.Moved(s.Bounds().Newest)
		token = s.Token(slow.At())
		before := warnings()
		pass(40 * time.Minute)
		if got := warnings(); got != before {
			t.Errorf("a third from the horizon: got %d warnings, want none", got-before)
		}
		pass(14 * time.Minute)
		pass(2 * time.Minute)
		if got := warnings(); got != before+1 {
			t.Errorf("near the horizon: got %d warnings, want one:\n%s", got-before, &log)
		}
		if _, err := read(); err != nil {
			t.Errorf("near the horizon: got %v", err)
		}
		pass(time.Hour)
		if got, err := read(); !errors.Is(err, ErrCompacted) || len(got) > 0 {
			t.Errorf("behind it: got %d commits, %v, want that it is COMPACTED", len(got), err)
		}
	})
}

// TestNobodyWaitsForAFollower writes a thousand commits while one looks at the
// first, and nothing else.
func TestNobodyWaitsForAFollower(t *testing.T) {
	s := openNew(t, Options{FollowBytes: 10_000})
	notes := s.Table("notes")
	var all []string
	from := s.Token(s.Bounds().Newest)
	put(t, s, notes, "a", "the first")
	for c, err := range s.Changes(t.Context(), from, journal.Filter{MaxCommits: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, showCommit(c))
		if len(all) == 1 {
			for range 1000 {
				put(t, s, notes, "a", strings.Repeat("x", 100))
			}
			if stats := s.Stats(); stats.FollowedBytes > 10_000 {
				t.Errorf("got %d bytes in memory, want at most 10,000", stats.FollowedBytes)
			}
		}
		if c.TS == s.Bounds().Newest {
			break
		}
	}
	if len(all) != 1001 {
		t.Errorf("got %d commits, want 1,001", len(all))
	}
}

// TestAnAuthorIsFollowed asks for what some users wrote, from both sources.
func TestAnAuthorIsFollowed(t *testing.T) {
	for _, ring := range []int64{-1, 0} {
		s := openNew(t, Options{FollowBytes: ring})
		notes := s.Table("notes")
		began := s.Bounds().Newest
		f := s.Journal().Follow(began)
		defer f.Close()
		for _, user := range []string{"ada", "", "bob", "ada"} {
			if _, err := s.Update(t.Context(), func(tx *Tx) error {
				return errors.Join(tx.SetAuthor(Author{User: user}), tx.Put(notes, []byte("by:"+user), nil))
			}); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			authors []string
			want    string
		}{{[]string{"ada"}, "by:ada by:ada"}, {[]string{"bob", ""}, "by: by:bob"}, {[]string{"eve"}, ""}, {nil, "by:ada by: by:bob by:ada"}} {
			p, err := s.Journal().Page(began, &journal.Filter{Authors: tt.authors})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range p.Commits {
				for _, change := range c.Changes {
					got = append(got, change.Doc.ID)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("ring %d, authors %q: got %q, want %q", ring, tt.authors, got, tt.want)
			}
		}
		p, err := s.Journal().Page(began, &journal.Filter{Tables: []string{"firn.authors"}})
		if err != nil || len(p.Commits) != 2 {
			t.Errorf("the store's own table: got %d commits, %v, want those of two authors", len(p.Commits), err)
		}
	}
}

// TestTokensEndWithTheirLineOfHistory follows a copy with a token of what it was
// made from, and the store itself after it was opened again.
func TestTokensEndWithTheirLineOfHistory(t *testing.T) {
	s := openNew(t, Options{})
	token := s.Token(put(t, s, s.Table("notes"), "a", "1"))
	last := put(t, s, s.Table("notes"), "a", "2")
	path := t.TempDir() + "/copy.db"
	if err := s.Restore(t.Context(), path, 0, nil, nil); err != nil {
		t.Fatal(err)
	}
	o := s.opts
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	restored := openAt(t, path, o)
	for _, err := range restored.Changes(t.Context(), token, journal.Filter{}) {
		if !errors.Is(err, ErrForked) {
			t.Errorf("a copy: got %v, want ErrForked", err)
		}
	}
	again := openAt(t, s.engine.Path(), o)
	if got := follow(t, again, token, journal.Filter{}, last); len(got) != 1 {
		t.Errorf("opened again: got %q, want one commit", got)
	}
	beside := readOnly(t, again)
	if got := follow(t, beside, token, journal.Filter{}, last); len(got) != 1 {
		t.Errorf("open for reading only: got %q, want one commit", got)
	}
}

// TestAScopeThatForgetsIsToldOf has a policy for one table: who follows that, or
// all, from before is refused; who follows another table is not.
func TestAScopeThatForgetsIsToldOf(t *testing.T) {
	s := openNew(t, Options{CompactByHand: true, FollowBytes: -1})
	notes := s.Table("notes")
	began := put(t, s, notes, "a", "0")
	for range 5 {
		put(t, s, notes, "a", "x")
	}
	put(t, s, s.Table("things"), string(thingID(0, 1)), "red:1")
	if err := s.SetRetention(t.Context(), Scope{Group: "notes", Member: "a"}, &Retention{Versions: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		filter journal.Filter
		want   error
	}{
		{journal.Filter{}, ErrCompacted},
		{journal.Filter{Tables: []string{"notes"}}, ErrCompacted},
		{journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("a")}}, ErrCompacted},
		{journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("b")}}, nil},
		{journal.Filter{Tables: []string{"things"}}, nil},
	} {
		if _, err := s.Journal().Page(began, &tt.filter); !errors.Is(err, tt.want) {
			t.Errorf("%q, %q: got %v, want %v", tt.filter.Tables, tt.filter.Prefixes, err, tt.want)
		}
	}
	if _, err := s.Journal().Page(s.Bounds().Newest-1, &journal.Filter{}); err != nil {
		t.Errorf("after what is forgotten: got %v", err)
	}
}

// TestOnlyFollowersAreBehind has a store without a commit, a query that is
// watched, and then history that goes by: nobody is warned of, for nobody is
// behind who could fall.
func TestOnlyFollowersAreBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := openNew(t, Options{CompactByHand: true, Retention: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		sub := s.Subscribe(ctx, func(snap *Snapshot) error {
			_, err := snap.Count(s.Table("things"), nil)
			return err
		})
		young := s.Journal().Follow(s.Bounds().Newest)
		defer young.Close()
		for range 8 {
			time.Sleep(time.Hour / 2)
			put(t, s, s.Table("notes"), "a", "x")
			young.Moved(s.Bounds().Newest)
			if _, err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if stats := s.Stats(); stats.Followers != 1 || stats.FollowerLag != 0 {
			t.Errorf("got %d followers, %s behind, want one, not behind", stats.Followers, stats.FollowerLag)
		}
		if log.Len() > 0 {
			t.Errorf("logged: %s", log.String())
		}
		cancel()
		<-sub.Done()
	})
}

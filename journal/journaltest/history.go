// Package journaltest judges followers: it holds what each of them saw against
// what was committed, one function for each word of the promise that package
// journal gives.
//
// A test records [Event]s, whatever way out the commits took (Go, RESP, HTTP),
// and the [Commit]s of the log. The judges are pure functions of the two, and say
// what is wrong in words; [Judge] asks all of them.
package journaltest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firndb/firn/schema"
)

// Kind says what an event is.
type Kind int

const (
	// Began: the follower has read a snapshot at TS, and follows from there.
	Began Kind = iota

	// Resumed: it has come back with Token, which names TS.
	Resumed

	// Delivered: it was given a commit, with its changes and a token.
	Delivered

	// Bookmarked: it was given a token, and nothing else.
	Bookmarked
)

func (k Kind) String() string {
	return [...]string{"began", "resumed", "delivered", "bookmarked"}[k]
}

// Event is one thing that happened to a follower.
type Event struct {
	Client  string
	Kind    Kind
	TS      schema.Timestamp
	Token   string
	Changes []Change  // of Delivered
	Seen    time.Time // zero: not noted
}

func (e Event) String() string {
	return fmt.Sprintf("%s: %s at %d %v", e.Client, e.Kind, e.TS, e.Changes)
}

// Change is one document, or key, and what it became: two that are equal are the
// same change.
type Change struct{ Name, Became string }

// Commit is what was committed at one timestamp, as far as the followers' filter
// admits it: a filter makes another log of it.
type Commit struct {
	TS      schema.Timestamp
	Changes []Change
}

// History is a log, in order, and what its followers saw, each in order.
type History struct {
	Log    []Commit
	Events []Event

	// Bookmark is how long a follower may be without a token; 0: that is not
	// judged.
	Bookmark time.Duration
}

// stretch is what one client saw from a beginning, or a resumption, to the next.
type stretch struct {
	from   Event
	events []Event
}

// stretches are those of all clients. Events before any beginning are an error.
func (h History) stretches() (all []stretch, err error) {
	last := map[string]int{}
	for _, e := range h.Events {
		if e.Kind == Began || e.Kind == Resumed {
			last[e.Client] = len(all)
			all = append(all, stretch{from: e})
			continue
		}
		at, ok := last[e.Client]
		if !ok {
			return nil, fmt.Errorf("journaltest: %v, before it had begun", e)
		}
		all[at].events = append(all[at].events, e)
	}
	return all, nil
}

// each asks a question of every stretch, and joins what is wrong.
func (h History) each(wrong func(s stretch) error) error {
	all, err := h.stretches()
	problems := []error{err}
	for _, s := range all {
		problems = append(problems, wrong(s))
	}
	return errors.Join(problems...)
}

// between are the commits of the log behind one moment and up to another.
func (h History) between(after, to schema.Timestamp) []Commit {
	find := func(ts schema.Timestamp) int {
		at, _ := slices.BinarySearchFunc(h.Log, ts+1, func(c Commit, ts schema.Timestamp) int { return int(c.TS - ts) })
		return at
	}
	from := find(after)
	return h.Log[from:max(find(to), from)]
}

// sameChanges says whether two commits have the same changes, in whatever order.
func sameChanges(a, b []Change) bool {
	count := func(list []Change) map[Change]int {
		n := map[Change]int{}
		for _, c := range list {
			n[c]++
		}
		return n
	}
	return len(a) == len(b) && maps.Equal(count(a), count(b))
}

package journaltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firndb/firn/schema"
)

// Judge asks for all six words.
func Judge(h History) error {
	return errors.Join(Ordered(h), Unique(h), Reliable(h), Atomic(h), Resumable(h), Bookmarkable(h))
}

// Ordered: timestamps of commits strictly increase, and a bookmark's is never
// less than what came before.
func Ordered(h History) error {
	return h.each(func(s stretch) error {
		last := s.from
		for _, e := range s.events {
			if e.TS < last.TS || e.TS == last.TS && e.Kind == Delivered && last.Kind == Delivered {
				return fmt.Errorf("not ordered: %v, after %v", e, last)
			}
			last = e
		}
		return nil
	})
}

// Unique: no commit comes twice from one beginning or resumption on, and none
// that the token stands for.
func Unique(h History) error {
	return h.each(func(s stretch) error {
		seen := map[schema.Timestamp]bool{}
		for _, e := range s.events {
			if e.Kind != Delivered {
				continue
			}
			if e.TS <= s.from.TS {
				return fmt.Errorf("not unique: %v, again after %v", e, s.from)
			}
			if seen[e.TS] {
				return fmt.Errorf("not unique: %v, twice", e)
			}
			seen[e.TS] = true
		}
		return nil
	})
}

// Reliable: when a commit is delivered, every one before it was.
func Reliable(h History) error {
	return h.each(func(s stretch) error {
		return h.missing(s, Delivered, "not reliable")
	})
}

// missing tells a commit that was not delivered before an event of a kind said
// that all were.
func (h History) missing(s stretch, kind Kind, word string) error {
	delivered := map[schema.Timestamp]bool{}
	checked := s.from.TS
	for _, e := range s.events {
		if e.Kind == Delivered {
			delivered[e.TS] = true
		}
		if e.Kind != kind {
			continue
		}
		for _, c := range h.between(checked, e.TS) {
			if !delivered[c.TS] {
				return fmt.Errorf("%s: %v, without the commit of %d %v, after %v", word, e, c.TS, c.Changes, s.from)
			}
		}
		checked = max(checked, e.TS)
	}
	return nil
}

// Atomic: what is delivered is a commit of the log, with all its changes.
func Atomic(h History) error {
	return h.each(func(s stretch) error {
		for _, e := range s.events {
			if e.Kind != Delivered {
				continue
			}
			found := h.between(e.TS-1, e.TS)
			if len(found) != 1 {
				return fmt.Errorf("not atomic: %v, which was never committed", e)
			}
			if !sameChanges(found[0].Changes, e.Changes) {
				return fmt.Errorf("not atomic: %v, of %v", e, found[0].Changes)
			}
		}
		return nil
	})
}

// Resumable: who resumes does so from a token that was given out, to whomever,
// where that stood; and the first commit after it is the next one of the log.
func Resumable(h History) error {
	given := map[string]schema.Timestamp{}
	for _, e := range h.Events {
		if e.Token == "" {
			continue
		}
		ts, known := given[e.Token]
		switch {
		case known && ts != e.TS:
			return fmt.Errorf("not resumable: %v with the token of %d", e, ts)
		case !known && e.Kind == Resumed:
			return fmt.Errorf("not resumable: %v, from a token that nobody was given", e)
		}
		given[e.Token] = e.TS
	}
	return h.each(func(s stretch) error {
		if s.from.Kind != Resumed {
			return nil
		}
		for i, e := range s.events {
			if e.Token == "" {
				return fmt.Errorf("not resumable: %v, without a token", e)
			}
			next := h.between(s.from.TS, schema.MaxTimestamp-1)
			if first := slices.IndexFunc(s.events, func(e Event) bool { return e.Kind == Delivered }); i == first && (len(next) == 0 || next[0].TS != e.TS) {
				return fmt.Errorf("not resumable: %v, first after %v", e, s.from)
			}
		}
		return nil
	})
}

// Bookmarkable: a bookmark does not run ahead of what was delivered, and no
// follower is without a token for long.
func Bookmarkable(h History) error {
	return h.each(func(s stretch) error {
		if err := h.missing(s, Bookmarked, "not bookmarkable"); err != nil {
			return err
		}
		last := s.from
		for _, e := range s.events {
			if h.Bookmark > 0 && !last.Seen.IsZero() && !e.Seen.IsZero() && e.Seen.Sub(last.Seen) > h.Bookmark {
				return fmt.Errorf("not bookmarkable: %v, %s after %v", e, e.Seen.Sub(last.Seen), last)
			}
			last = e
		}
		// What comes after a bookmark is behind it.
		var mark *Event
		for i, e := range s.events {
			if e.Kind == Delivered && mark != nil && e.TS <= mark.TS {
				return fmt.Errorf("not bookmarkable: %v, after %v", e, *mark)
			}
			if e.Kind == Bookmarked {
				mark = &s.events[i]
			}
		}
		return nil
	})
}

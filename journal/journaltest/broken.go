package journaltest

import "slices"

// Broken are feeds that break one word each: what becomes of the events of a
// good feed. Every judge has one that it must not let pass, and a test of
// followers that would let one pass proves nothing.
//
// ok is false if the events do not have what it takes to break them so.
var Broken = map[string]struct {
	Judge func(History) error
	Break func(events []Event) (broken []Event, ok bool)
}{
	"reorders":         {Ordered, swapped},
	"duplicates":       {Unique, doubled},
	"resumes too soon": {Unique, againAfterResume},
	"drops":            {Reliable, dropped},
	"splits":           {Atomic, split},
	"resumes wrongly":  {Resumable, skippedAfterResume},
	"runs ahead":       {Bookmarkable, aheadOf},
}

// next is where the client of an event has its next one; -1: nowhere.
func next(events []Event, i int) int {
	for j := i + 1; i >= 0 && j < len(events); j++ {
		if events[j].Client == events[i].Client {
			return j
		}
	}
	return -1
}

// pairs finds a place where two events of one client follow one another.
func pairs(events []Event, a, b Kind) (i, j int, ok bool) {
	for i, e := range events {
		if j := next(events, i); e.Kind == a && j > 0 && events[j].Kind == b {
			return i, j, true
		}
	}
	return 0, 0, false
}

// exchange puts two events in each other's place.
func exchange(events []Event, i, j int) []Event {
	events = slices.Clone(events)
	events[i], events[j] = events[j], events[i]
	return events
}

func swapped(events []Event) ([]Event, bool) {
	i, j, ok := pairs(events, Delivered, Delivered)
	return exchange(events, i, j), ok
}

func aheadOf(events []Event) ([]Event, bool) {
	i, j, ok := pairs(events, Delivered, Bookmarked)
	return exchange(events, i, j), ok
}

func doubled(events []Event) ([]Event, bool) {
	i := slices.IndexFunc(events, func(e Event) bool { return e.Kind == Delivered })
	if i < 0 {
		return nil, false
	}
	return slices.Insert(slices.Clone(events), i, events[i]), true
}

// againAfterResume delivers what came before a resumption after it, too.
func againAfterResume(events []Event) ([]Event, bool) {
	i, j, ok := pairs(events, Delivered, Resumed)
	if !ok {
		return nil, false
	}
	return slices.Insert(slices.Clone(events), j+1, events[i]), true
}

func dropped(events []Event) ([]Event, bool) {
	i, _, ok := pairs(events, Delivered, Delivered)
	if !ok {
		return nil, false
	}
	return slices.Delete(slices.Clone(events), i, i+1), true
}

// split delivers a commit in two.
func split(events []Event) ([]Event, bool) {
	for i, e := range events {
		if len(e.Changes) > 1 {
			events = slices.Insert(slices.Clone(events), i, e)
			events[i].Changes, events[i+1].Changes = e.Changes[:1], e.Changes[1:]
			return events, true
		}
	}
	return nil, false
}

// skippedAfterResume leaves out the first of two commits after a resumption.
func skippedAfterResume(events []Event) ([]Event, bool) {
	for i, e := range events {
		j := next(events, i)
		k := next(events, j)
		if e.Kind == Resumed && k > 0 && events[j].Kind == Delivered && events[k].Kind == Delivered {
			return slices.Delete(slices.Clone(events), j, j+1), true
		}
	}
	return nil, false
}

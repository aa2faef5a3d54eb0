package redis

import (
	"slices"
	"sync"
	"time"
)

// maxLatencySamples is how many samples of an event are kept, one a second at
// most, as in Redis.
const maxLatencySamples = 160

// latency remembers events that took latency-monitor-threshold or longer. The
// events are a handful of names in this package.
type latency struct {
	slow *slowLog // whose millisWatched is the threshold

	mu     sync.Mutex
	events map[string]*latencyEvent
}

type latencyEvent struct {
	samples []latencySample // oldest first
	worst   int64           // ms, of all that there ever were
}

type latencySample struct{ at, ms int64 } // at is in seconds

// add remembers a sample if it is long enough.
func (l *latency) add(event string, at time.Time, took time.Duration) {
	threshold, ms := l.slow.millisWatched.Load(), took.Milliseconds()
	if threshold == 0 || ms < threshold {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = make(map[string]*latencyEvent)
	}
	e := l.events[event]
	if e == nil {
		e = &latencyEvent{}
		l.events[event] = e
	}
	e.worst = max(e.worst, ms)
	if n := len(e.samples); n > 0 && e.samples[n-1].at == at.Unix() {
		e.samples[n-1].ms = max(e.samples[n-1].ms, ms)
		return
	}
	if len(e.samples) == maxLatencySamples {
		e.samples = slices.Delete(e.samples, 0, 1)
	}
	e.samples = append(e.samples, latencySample{at.Unix(), ms})
}

// watched says whether anybody wants to know of events.
func (l *latency) watched() bool { return l.slow.millisWatched.Load() > 0 }

// event is a copy of one event; ok is false if it never happened.
func (l *latency) event(name string) (e latencyEvent, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.events[name]
	if found == nil {
		return e, false
	}
	return latencyEvent{slices.Clone(found.samples), found.worst}, true
}

// names are those of all events that happened.
func (l *latency) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name := range l.events {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

package measure

import (
	"slices"
	"sync"
	"time"
)

// MaxSamples is how many samples of an event are kept, one a second at
// most, as in Redis.
const MaxSamples = 160

// Latencies remembers events that took latency-monitor-threshold or longer. The
// events are a handful of names in this package.
type Latencies struct {
	Slow *SlowLog // whose millisWatched is the threshold

	mu     sync.Mutex
	events map[string]*LatencyEvent
}

type LatencyEvent struct {
	Samples []LatencySample // oldest first
	Worst   int64           // ms, of all that there ever were
}

type LatencySample struct{ At, MS int64 } // at is in seconds

// Add remembers a sample if it is long enough.
func (l *Latencies) Add(event string, at time.Time, took time.Duration) {
	threshold, ms := l.Slow.MillisWatched.Load(), took.Milliseconds()
	if threshold == 0 || ms < threshold {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = make(map[string]*LatencyEvent)
	}
	e := l.events[event]
	if e == nil {
		e = &LatencyEvent{}
		l.events[event] = e
	}
	e.Worst = max(e.Worst, ms)
	if n := len(e.Samples); n > 0 && e.Samples[n-1].At == at.Unix() {
		e.Samples[n-1].MS = max(e.Samples[n-1].MS, ms)
		return
	}
	if len(e.Samples) == MaxSamples {
		e.Samples = slices.Delete(e.Samples, 0, 1)
	}
	e.Samples = append(e.Samples, LatencySample{at.Unix(), ms})
}

// Watched says whether anybody wants to know of events.
func (l *Latencies) Watched() bool { return l.Slow.MillisWatched.Load() > 0 }

// Event is a copy of one event; ok is false if it never happened.
func (l *Latencies) Event(name string) (e LatencyEvent, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.events[name]
	if found == nil {
		return e, false
	}
	return LatencyEvent{slices.Clone(found.Samples), found.Worst}, true
}

// Reset forgets some events, or all if none is named, and says how many.
func (l *Latencies) Reset(names []string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.events)
	if len(names) == 0 {
		clear(l.events)
	}
	for _, name := range names {
		delete(l.events, name)
	}
	return before - len(l.events)
}

// Names are those of all events that happened.
func (l *Latencies) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name := range l.events {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

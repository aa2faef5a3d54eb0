package redis

import (
	"sync"
	"time"
)

// Rates are measured over the samples of the last while, as in Redis.
const (
	rateSamples  = 16
	rateInterval = 100 * time.Millisecond // least time between two samples
	rateWindow   = rateSamples * rateInterval
)

// rates knows how much went on lately. There is no timer: the sweeper takes
// samples while it runs, and INFO when it is asked.
type rates struct {
	mu      sync.Mutex
	samples [rateSamples]rateSample
	n       int // samples taken; the newest is at (n-1) % rateSamples
}

// rateSample is the state of the counters at one time.
type rateSample struct {
	at                 time.Time
	calls, read, wrote int64
}

// perSecond takes a sample, and returns how much there was in a second since
// the oldest sample of the window, or the newest before it.
func (r *rates) perSecond(now rateSample) (calls, read, wrote float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	base := now
	for i := max(0, r.n-rateSamples); i < r.n; i++ {
		if base = r.samples[i%rateSamples]; now.at.Sub(base.at) <= rateWindow {
			break
		}
	}
	if r.n == 0 || now.at.Sub(r.samples[(r.n-1)%rateSamples].at) >= rateInterval {
		r.samples[r.n%rateSamples] = now
		r.n++
	}
	seconds := now.at.Sub(base.at).Seconds()
	if seconds <= 0 || now.calls < base.calls {
		return 0, 0, 0
	}
	return float64(now.calls-base.calls) / seconds, float64(now.read-base.read) / seconds, float64(now.wrote-base.wrote) / seconds
}

func (r *rates) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n = 0
}

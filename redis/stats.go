package redis

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxErrorCodes bounds how many kinds of errors are told apart.
const maxErrorCodes = 128

// stats counts what INFO shows and CONFIG RESETSTAT forgets.
type stats struct {
	connections    atomic.Int64
	rejected       atomic.Int64 // connections beyond maxclients
	bytesIn        atomic.Int64
	bytesOut       atomic.Int64
	protocolErrors atomic.Int64
	hits, misses   atomic.Int64 // keys that reads found, and did not
	expired        atomic.Int64 // keys that the sweeper has ended
	saves          atomic.Int64 // checkpoints that clients have asked for
	lastSave       atomic.Int64 // when the last of them ended, in Unix seconds; 0: never
	peakMemory     atomic.Uint64
	rates          rates

	mu     sync.Mutex
	errors map[string]int64 // by code, the first word of an error
}

// countError counts an error that a client is told about.
func (st *stats) countError(text string) {
	code, _, _ := strings.Cut(text, " ")
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, ok := st.errors[code]; !ok && len(st.errors) >= maxErrorCodes {
		return
	}
	if st.errors == nil {
		st.errors = make(map[string]int64)
	}
	st.errors[code]++
}

// errorCounts is a copy of the counts, and their sum.
func (st *stats) errorCounts() (counts map[string]int64, total int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	counts = make(map[string]int64, len(st.errors))
	for code, n := range st.errors {
		counts[code] = n
		total += n
	}
	return counts, total
}

func (st *stats) reset() {
	for _, n := range []*atomic.Int64{
		&st.connections, &st.rejected, &st.bytesIn, &st.bytesOut, &st.protocolErrors, &st.hits, &st.misses, &st.expired, &st.saves,
	} {
		n.Store(0)
	}
	st.peakMemory.Store(0)
	st.rates.reset()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.errors = nil
}

// countKeys adds what the session's reads found, and did not find, to the
// server's statistics.
func (s *Session) countKeys() {
	w := s.call.Work
	if w.Hits != 0 {
		s.srv.stats.hits.Add(w.Hits)
		w.Hits = 0
	}
	if w.Misses != 0 {
		s.srv.stats.misses.Add(w.Misses)
		w.Misses = 0
	}
}

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

// sample is the counters now.
func (srv *Server) sample() rateSample {
	now := rateSample{at: srv.opts.Now(), read: srv.stats.bytesIn.Load(), wrote: srv.stats.bytesOut.Load()}
	for _, e := range srv.table.Numbered {
		now.calls += e.Calls.Load()
	}
	return now
}

// memoryUse is what the process takes.
type memoryUse struct {
	used     uint64 // bytes of live and not yet collected objects
	data     uint64 // those of them that are documents and the index tail
	resident uint64 // bytes that the system has given; 0 if unknown
	peak     uint64 // the most used that was ever seen
	heap     uint64 // bytes of the spans that objects are in
	total    uint64 // bytes obtained from the system
}

// measureMemory asks the runtime and the system, which takes some ten
// microseconds.
func (srv *Server) measureMemory() memoryUse {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	st := srv.store.Stats()
	use := memoryUse{used: m.HeapAlloc, resident: residentBytes(), heap: m.HeapInuse, total: m.Sys}
	use.data = min(uint64(max(st.HeadBytes+st.TailBytes, 0)), use.used)
	for {
		if use.peak = srv.stats.peakMemory.Load(); use.peak >= use.used {
			return use
		}
		if srv.stats.peakMemory.CompareAndSwap(use.peak, use.used) {
			use.peak = use.used
			return use
		}
	}
}

// purgeMemory returns what is not needed to the system.
func purgeMemory() { debug.FreeOSMemory() }

// swept is called after each look of the sweeper, and says how long it took.
func (srv *Server) swept(took time.Duration) {
	now := srv.sample()
	srv.stats.rates.perSecond(now)
	srv.latency.add("expire-cycle", now.at, took)
}

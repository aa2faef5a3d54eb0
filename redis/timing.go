package redis

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// How long commands take. Reading the clock twice costs as much as a tenth of
// a small read, so those are timed one in sampleEvery; whatever may be slow is
// timed always, for the slow log has to show it. Of reads and writes that are
// many the statistics take one in sampleEvery, too.
const (
	sampleEvery = 16 // a power of two
	quickArgs   = 16 // a fast command with more arguments may be slow

	// Below this threshold of the slow log or the latency monitor every
	// command is timed.
	alwaysTimed = time.Millisecond
)

// clockBase is what the times of this file count from: reading the monotonic
// clock alone takes half as long as time.Now.
var clockBase = time.Now()

// clock is the monotonic time, never 0.
func clock() time.Duration { return time.Since(clockBase) + 1 }

// begin counts a call, and returns when it began; 0 if it is not timed.
func (s *Session) begin(u *unit) time.Duration {
	n := u.cmd.calls.Add(1)
	s.sampled = n&(sampleEvery-1) == 1 || u.cmd.Flags&Fast == 0 && u.cmd.Flags&Writes == 0
	if !s.sampled && u.cmd.Flags&(Fast|Writes) == Fast && len(u.args) <= quickArgs && !s.block && !s.srv.slow.all.Load() {
		return 0
	}
	if tx := s.call.Tx; tx != nil {
		follows := tx.Timestamp() - s.endedIn
		s.endedIn = tx.Timestamp()
		if follows == 0 || follows == 1 {
			return s.ended // the session's own transaction before this one has just ended
		}
	}
	return clock()
}

// end counts how long a timed call has taken.
func (s *Session) end(u *unit, began time.Duration) {
	if began == 0 {
		return
	}
	s.ended = clock()
	took := s.ended - began
	if s.sampled {
		u.cmd.timed(took)
	}
	if took >= s.srv.slow.floor() {
		s.slow(u, took)
	}
}

// handOver remembers when a batch was handed to the store, if anybody wants
// to know how long that takes.
func (s *Session) handOver() {
	s.handed = 0
	if s.srv.latency.watched() {
		s.handed = clock()
	}
}

// takeBack tells how long it took until the batch was decided.
func (s *Session) takeBack() {
	if s.handed != 0 {
		s.srv.latency.add("commit", s.srv.opts.Now(), clock()-s.handed)
	}
}

// slow tells those who want to know that a command was slow.
func (s *Session) slow(u *unit, took time.Duration) {
	if s.srv.slow.wants(took) && u.cmd.Flags&Skip == 0 {
		s.srv.slow.add(s, u, took)
	}
	event := "command"
	if u.cmd.Flags&Fast != 0 {
		event = "fast-command"
	}
	s.srv.latency.add(event, s.srv.opts.Now(), took)
}

// timed counts a timed call.
func (e *entry) timed(took time.Duration) {
	e.sampled.Add(1)
	e.sampledNS.Add(int64(took))
	h := e.spread.Load()
	if h == nil {
		h = new(histogram)
		if !e.spread.CompareAndSwap(nil, h) {
			if h = e.spread.Load(); h == nil {
				return // CONFIG RESETSTAT was faster
			}
		}
	}
	h.add(took)
}

// micros is how long all calls took together, as far as the timed ones tell.
func (e *entry) micros() int64 {
	n := e.sampled.Load()
	if n == 0 {
		return 0
	}
	return int64(float64(e.sampledNS.Load()) / float64(n) * float64(e.calls.Load()) / 1000)
}

// histogram counts times. Its buckets are a quarter of a power of two wide:
// bucket 0 is below 1,024 ns, the last is all from about a minute on.
type histogram [1 + 4*histogramOctaves]atomic.Int64

const histogramOctaves = 26

func (h *histogram) add(took time.Duration) {
	ns := uint64(max(took, 0))
	i := 0
	if top := bits.Len64(ns) - 1; top >= 10 {
		i = min(1+4*(top-10)+int(ns>>(top-2)&3), len(h)-1)
	}
	h[i].Add(1)
}

// bucketMicros is where a bucket ends.
func bucketMicros(i int) float64 {
	if i == 0 {
		return 1.024
	}
	octave, quarter := (i-1)/4, (i-1)%4
	return float64(uint64(1024)<<octave) * float64(5+quarter) / 4 / 1000
}

// percentile is a time, in µs, that this many percent of calls do not exceed.
func (h *histogram) percentile(percent float64) float64 {
	total := int64(0)
	for i := range h {
		total += h[i].Load()
	}
	need := max(int64(float64(total)*percent/100+0.5), 1)
	for i := range h {
		if need -= h[i].Load(); need <= 0 {
			return bucketMicros(i)
		}
	}
	return bucketMicros(len(h) - 1)
}

// octaves are the counts up to and with 1, 2, 4 … µs, and the number of all.
func (h *histogram) octaves() (upTo []int64) {
	sum := h[0].Load()
	upTo = append(upTo, sum)
	for o := range histogramOctaves {
		for q := range 4 {
			sum += h[1+4*o+q].Load()
		}
		upTo = append(upTo, sum)
	}
	return upTo
}

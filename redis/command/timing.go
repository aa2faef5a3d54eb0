package command

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// clockBase is what the times of this file count from: reading the monotonic
// clock alone takes half as long as time.Now.
var clockBase = time.Now()

// Clock is the monotonic time, never 0.
func Clock() time.Duration { return time.Since(clockBase) + 1 }

// Timed counts a timed call.
func (e *Entry) Timed(took time.Duration) {
	e.sampled.Add(1)
	e.sampledNS.Add(int64(took))
	h := e.Spread.Load()
	if h == nil {
		h = new(histogram)
		if !e.Spread.CompareAndSwap(nil, h) {
			if h = e.Spread.Load(); h == nil {
				return // CONFIG RESETSTAT was faster
			}
		}
	}
	h.add(took)
}

// TimedFor is how long the timed calls took together.
func (e *Entry) TimedFor() time.Duration { return time.Duration(e.sampledNS.Load()) }

// Micros is how long all calls took together, as far as the timed ones tell.
func (e *Entry) Micros() int64 {
	n := e.sampled.Load()
	if n == 0 {
		return 0
	}
	return int64(float64(e.sampledNS.Load()) / float64(n) * float64(e.Calls.Load()) / 1000)
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

// Percentile is a time, in µs, that this many percent of calls do not exceed.
func (h *histogram) Percentile(percent float64) float64 {
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

// Octaves are the counts up to and with 1, 2, 4 … µs, and the number of all.
func (h *histogram) Octaves() (upTo []int64) {
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

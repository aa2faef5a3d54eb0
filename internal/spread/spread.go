// Package spread counts how numbers are distributed: times, and sizes. To count
// one takes two atomic additions and no lock.
package spread

import (
	"math/bits"
	"sync/atomic"
)

// Buckets is how many a Spread has. Bucket i counts the numbers up to 2^i that
// no bucket before counts, and the last all others: 2^39 ns are nine minutes.
const Buckets = 40

// Spread counts numbers. The zero value has counted none. It is safe for
// concurrent use.
type Spread struct {
	counts [Buckets]atomic.Int64
	sum    atomic.Int64
}

// Add counts a number. What is less than 1 is in the first bucket.
func (s *Spread) Add(n int64) {
	n = max(n, 0)
	i := 0
	if n > 1 {
		i = min(bits.Len64(uint64(n-1)), Buckets-1)
	}
	s.counts[i].Add(1)
	s.sum.Add(n)
}

// Counts are what a Spread has counted.
type Counts struct {
	UpTo [Buckets]int64 // UpTo[i]: how many numbers were 2^i at most; the last: all
	Sum  int64          // of all numbers
}

// Counts are those until now.
func (s *Spread) Counts() (c Counts) {
	total := int64(0)
	for i := range s.counts {
		total += s.counts[i].Load()
		c.UpTo[i] = total
	}
	c.Sum = s.sum.Load()
	return c
}

// Total is how many numbers were counted.
func (c *Counts) Total() int64 { return c.UpTo[Buckets-1] }

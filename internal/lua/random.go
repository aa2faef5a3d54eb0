package lua

import (
	"math"
	"sync/atomic"
)

// random is POSIX's lrand48, as Redis has it. Programs go on with one sequence,
// which all states share. One that sets a seed has it for itself.
type random struct {
	x            uint64
	used, seeded bool
}

// firstRandom is where the sequence begins, in Redis too.
const firstRandom = 0x1234abcd330e

var sharedRandom = func() *atomic.Uint64 {
	var x atomic.Uint64
	x.Store(firstRandom)
	return &x
}()

func (r *random) seed(n int32) {
	r.x, r.used, r.seeded = uint64(uint32(n))<<16|0x330e, true, true
}

// give lets others go on with the sequence.
func (r *random) give() {
	if r.used && !r.seeded {
		sharedRandom.Store(r.x)
	}
	*r = random{}
}

// next is a number below 2^31.
func (r *random) next() int32 {
	if !r.used {
		r.x, r.used = sharedRandom.Load(), true
	}
	r.x = (r.x*0x5deece66d + 0xb) & (1<<48 - 1)
	return int32(r.x >> 17)
}

// maxRandom is what Redis divides by: REDIS_LRAND48_MAX.
const maxRandom = math.MaxInt32

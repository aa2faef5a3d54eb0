package writer

import (
	"sync/atomic"
	"time"
)

// pace is how long an entry takes to merge: 1 to 4 µs mostly, the more the
// fewer versions its neighbours have, and more on a slow disk. It says how many
// may go along with a group. Whoever commits tells it, whoever runs asks it.
type pace struct{ perEntry atomic.Int64 } // nanoseconds, a moving mean; 0: nobody knows yet

const (
	// A group waits so long for a slice of a merge, and so long when the tail has
	// filled again before the merge has ended, so that it ends soon.
	sliceTime    = 4 * time.Millisecond
	laggingTime  = 16 * time.Millisecond
	firstPerItem = 2 * time.Microsecond
	paceShare    = 8 // the weight of all slices before, to 1 of the last
)

// took notes what a slice has taken. One that was held up counts twice what is
// usual, at most.
func (p *pace) took(entries int, d time.Duration) {
	if entries < minSlice/2 {
		return // what does not depend on the entries would be most of it
	}
	last, mean := int64(d)/int64(entries), p.known()
	p.perEntry.Store(max((mean*(paceShare-1)+min(last, 2*mean))/paceShare, 1))
}

// within is how many entries take about so long to merge.
func (p *pace) within(d time.Duration) int {
	return int(min(max(int64(d)/p.known(), minSlice), maxSlice))
}

func (p *pace) known() int64 {
	if n := p.perEntry.Load(); n > 0 {
		return n
	}
	return int64(firstPerItem)
}

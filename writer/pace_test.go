package writer

// A group waits for a bounded time for what is merged along with it.

import (
	"testing"
	"time"
)

func TestSlicesFollowThePace(t *testing.T) {
	var p pace
	if got := p.within(sliceTime); got != 2000 {
		t.Errorf("before anything is known: got %d entries, want 2000", got)
	}
	for _, tt := range []struct {
		perEntry time.Duration
		want     int
	}{{time.Microsecond, 4000}, {20 * time.Microsecond, 200}, {time.Millisecond, minSlice}, {100 * time.Nanosecond, maxSlice}} {
		for range 200 {
			p.took(512, 512*tt.perEntry)
		}
		if got := p.within(sliceTime); got < tt.want*8/10 || got > tt.want*12/10 {
			t.Errorf("an entry takes %s: got slices of %d, want %d", tt.perEntry, got, tt.want)
		}
	}
}

func TestOneSlowSliceIsNoPace(t *testing.T) {
	var p pace
	for range 200 {
		p.took(512, 512*2*time.Microsecond)
	}
	before := p.within(sliceTime)
	p.took(512, time.Second)
	p.took(3, time.Second) // too few to tell
	if got := p.within(sliceTime); got < before*3/4 {
		t.Errorf("after a slice that was held up: got slices of %d, want about %d as before", got, before)
	}
}

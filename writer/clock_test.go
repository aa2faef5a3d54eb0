package writer

// Timestamps strictly increase, whatever the wall clock does.

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/schema"
)

func TestTimestampsIncreaseWhateverTheClockDoes(t *testing.T) {
	const day = 24 * time.Hour
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	wall := noon
	r := start(t, Options{Now: func() time.Time { return wall }, Newest: schema.TimestampOf(noon) - 5})
	last := schema.TimestampOf(noon) - 5
	for _, tt := range []struct {
		name string
		step time.Duration
		want schema.Timestamp // after the timestamp before; 0: the wall clock
	}{
		{"first", 0, 0},
		{"stands still", 0, 1},
		{"still stands still", 0, 1},
		{"steps forward a day", day, 0},
		{"steps back two", -2 * day, 1},
		{"goes on there", time.Second, 1},
		{"steps forward beyond", 3 * day, 0},
		{"is before 1970", -200 * 365 * day, 1},
		{"is back", 200 * 365 * day, 1},
		{"moves on", time.Millisecond, 0},
	} {
		release := r.hold() // takes a timestamp too
		wall = wall.Add(tt.step)
		release()
		last++
		got := r.write().last
		want := last + tt.want
		if tt.want == 0 {
			want = schema.TimestampOf(wall)
		}
		if got != want && !(tt.want == 0 && got == want+1) {
			t.Errorf("clock %s: got %d, want %d", tt.name, got, want)
		}
		if got < last {
			t.Fatalf("clock %s: got %d, want it after %d", tt.name, got, last)
		}
		last = got
	}
}

// TestPassedMomentsAreOver reads a moment and then commits: no commit may be
// stamped at or before it.
func TestPassedMomentsAreOver(t *testing.T) {
	wall := time.UnixMicro(1000)
	c := NewClock(func() time.Time { return wall }, 0)
	c.look()
	if got := c.next(); got != 1000 {
		t.Errorf("first: got %d, want the wall clock, 1000", got)
	}
	wall = time.UnixMicro(2000)
	if got := c.Now(); got != 2000 {
		t.Errorf("now: got %d, want 2000", got)
	}
	c.Pass(2000)
	if got := c.next(); got != 2001 {
		t.Errorf("after passing 2000: got %d, want 2001", got)
	}
	c.Pass(1500)
	if got := c.next(); got != 2002 {
		t.Errorf("after passing what is over: got %d, want 2002", got)
	}
	wall = time.UnixMicro(500)
	if got := c.Now(); got != 2002 {
		t.Errorf("now, behind the clock: got %d, want 2002", got)
	}
}

// TestIdleWriterMergesAndTruncates lets a second pass in which nothing comes.
func TestIdleWriterMergesAndTruncates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{})
		r.write()
		last := r.write().last
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if got := r.w.opts.Tail.Watermark(); got != 0 {
			t.Errorf("merged before a second was over: got up to %d, want nothing", got)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := r.w.opts.Tail.Watermark(); got != last {
			t.Errorf("merged after an idle second: got up to %d, want %d", got, last)
		}
	})
}

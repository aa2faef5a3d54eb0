package keyspace

import (
	"testing"
	"time"
)

// TestSweeperRestsLessWithMoreEffort: a pause is as long as the step before
// it, or the part of that which effort says.
func TestSweeperRestsLessWithMoreEffort(t *testing.T) {
	for _, tt := range []struct {
		effort     int
		took, want time.Duration
	}{
		{0, 10 * time.Millisecond, 10 * time.Millisecond}, {1, 10 * time.Millisecond, 10 * time.Millisecond},
		{10, 10 * time.Millisecond, time.Millisecond}, {1, time.Second, sweepRest}, {10, time.Second, sweepRest},
	} {
		if got := (SweepPace{Effort: tt.effort}).pause(tt.took); got != tt.want {
			t.Errorf("effort %d after %v: got %v, want %v", tt.effort, tt.took, got, tt.want)
		}
	}
}

func TestSweeperTakesFewerWhenAStepTakesLong(t *testing.T) {
	s := &Sweeper{Batch: SweepBatch, budget: sweepBudget}
	for _, tt := range []struct {
		took time.Duration
		want int
	}{
		{sweepBudget + 1, SweepBatch / 2}, {sweepBudget, SweepBatch / 2}, {time.Second, SweepBatch / 4},
		{sweepBudget / 4, SweepBatch / 2}, {0, SweepBatch}, {0, SweepBatch},
	} {
		if s.adapt(tt.took); s.Batch != tt.want {
			t.Errorf("after %v: got %d, want %d", tt.took, s.Batch, tt.want)
		}
	}
	for range 20 {
		s.adapt(time.Second)
	}
	if s.Batch != minSweepBatch {
		t.Errorf("after many that took long: got %d, want %d", s.Batch, minSweepBatch)
	}
}

package keyspace

import (
	"testing"
	"time"
)

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

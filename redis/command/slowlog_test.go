package command

import (
	"testing"
	"time"
)

func TestHistogramsFindPercentiles(t *testing.T) {
	var h histogram
	for range 99 {
		h.add(3 * time.Microsecond)
	}
	h.add(20 * time.Millisecond)
	for _, tt := range []struct{ percent, least, most float64 }{{50, 3, 3.6}, {99, 3, 3.6}, {99.9, 20_000, 25_000}, {0, 3, 3.6}, {100, 20_000, 25_000}} {
		if got := h.Percentile(tt.percent); got < tt.least || got > tt.most {
			t.Errorf("p%v: got %v µs, want %v to %v", tt.percent, got, tt.least, tt.most)
		}
	}
	upTo := h.Octaves()
	if upTo[1] != 0 || upTo[2] != 99 || upTo[14] != 99 || upTo[15] != 100 || upTo[len(upTo)-1] != 100 {
		t.Errorf("octaves: got %v, want 99 from 4 µs and 100 from 32 ms", upTo)
	}
	var edges histogram
	for _, d := range []time.Duration{-1, 0, 1, 1023, 1024, 2047, 2048, 1<<63 - 1} {
		edges.add(d)
	}
	if edges[0].Load() != 4 || edges[len(edges)-1].Load() != 1 {
		t.Errorf("edges: got %d in the first bucket and %d in the last, want 4 and 1", edges[0].Load(), edges[len(edges)-1].Load())
	}
}

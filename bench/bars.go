package main

import "fmt"

// bar is a figure that a row must reach.
type bar struct {
	limit  float64
	atMost bool // the figure must not be above limit, rather than not below
}

// bars holds what the design promises, by the row's key. The throughput bars
// are the ratios of the prototypes that decided for the event loop, with an
// fsync each second on both sides, and the log's bar is theirs as well
// (ARCHITECTURE.md has both). Rows without a bar are there to be watched.
var bars = map[string]bar{
	"throughput/SET/P=1/everysec":  {limit: 0.82},
	"throughput/SET/P=16/everysec": {limit: 0.79},
	"throughput/GET/P=1/everysec":  {limit: 1.11},
	"throughput/GET/P=16/everysec": {limit: 1.21},
	"wal/P=1":                      {limit: 400, atMost: true},
}

// verdict is the report's cell for a row's figure: empty without a bar.
func verdict(key string, figure float64) string {
	b, ok := bars[key]
	if !ok {
		return ""
	}
	sign, met := "≥", figure >= b.limit
	if b.atMost {
		sign, met = "≤", figure <= b.limit
	}
	if met {
		return fmt.Sprintf("%s %v: met", sign, b.limit)
	}
	return fmt.Sprintf("%s %v: **missed**", sign, b.limit)
}

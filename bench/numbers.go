package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// median is the middle of values, or the mean of the middle two. There is
// none of nothing: 0.
func median[T ~int64 | ~float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile is the smallest value that at least p percent of values do not
// exceed, 0 of nothing. p lies in (0, 100].
func percentile[T cmp.Ordered](values []T, p float64) T {
	var none T
	if len(values) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(float64(len(sorted))*p/100 + 0.999999) // rounds up, but not for an error in the last bit
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// ratio is a/b, or 0 when there is nothing to compare with.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// showRate prints requests per second to the hundred: the last digits of a
// shared machine's figures are noise.
func showRate(rps float64) string { return fmt.Sprintf("%.1f k", rps/1000) }

func showRatio(r float64) string { return fmt.Sprintf("%.2f ×", r) }

func showMiB(n int64) string { return fmt.Sprintf("%.1f MiB", mebibytes(n)) }

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

func showMillis(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", millis(d))
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Package race tells tests whether the race detector runs, with which
// everything takes several times as long and allocates more.
package race

import "testing"

// Lighter is how much to do: light with the race detector, and with -short,
// otherwise n.
func Lighter(n, light int) int {
	if Enabled || testing.Short() {
		return light
	}
	return n
}

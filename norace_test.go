//go:build !race

package firn

// raceEnabled says that the race detector runs, with which everything takes
// several times as long.
const raceEnabled = false

//go:build race

package firn

const raceEnabled = true

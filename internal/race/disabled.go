//go:build !race

package race

// Enabled says that the race detector runs.
const Enabled = false

// Package byhand lets a test do by hand what a store does in time, so that it
// happens when the test says so and at no other moment.
package byhand

import "sync/atomic"

// Compaction says that stores make no pass of the compactor by themselves.
var Compaction atomic.Bool

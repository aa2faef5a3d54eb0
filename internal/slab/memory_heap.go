//go:build !linux || race

package slab

// OffHeap says that the memory is not on the heap.
const OffHeap = false

// allocate is n bytes on the heap, without pointers: the collector does not
// look into them.
func allocate(n int) []byte { return make([]byte, n) }

// release leaves the memory to the collector.
func release([]byte) {}

//go:build linux && !race

package slab

import "golang.org/x/sys/unix"

// OffHeap says that the memory is not on the heap.
const OffHeap = true

// allocate is n bytes off the heap, zero, and not there before they are
// touched. Where the system refuses they are on the heap.
func allocate(n int) []byte {
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return make([]byte, n)
	}
	return m
}

// release gives back what allocate gave. Memory on the heap is no mapping of
// the system's, which then refuses: the collector takes it.
func release(m []byte) { _ = unix.Munmap(m) }

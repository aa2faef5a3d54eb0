package main

import "runtime/debug"

// What the server takes beside its documents: the index tail, buffers of
// connections, the runtime.
//
// Documents lie off the heap, so what the collector sees is small: with 100 it
// takes 1 % of the time of pipelined writes, 2 % with a store many times as
// large as --memory. With 300 it took 0.4 % and 40 to 57 MB more.
const (
	baseBytes = 64 << 20
	gcPercent = 100
)

// boundMemory makes the collector work harder once the heap outgrows what
// --memory and the rest need, and leaves it at rest below. The limit is soft:
// a process that needs more gets it. It is twice --memory and the base, because
// values of more than a few kilobytes and ranges are on the heap: those may be
// all of --memory, and the index tail half as much again while it is merged.
// Documents in slabs count for --memory and not for the limit.
func boundMemory(documents int64) {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(2*documents + baseBytes)
}

// toolMemory is the memory for documents of a command that reads a file once:
// what it reads it seldom reads again.
const toolMemory = 16 << 20

package main

import "runtime/debug"

// What the server takes beside its documents: the index tail, buffers of
// connections, the runtime.
const (
	baseBytes = 64 << 20
	gcPercent = 100
)

// boundMemory makes the collector work harder once the heap outgrows what
// --memory and the rest need, and leaves it at rest below. The limit is soft:
// a process that needs more gets it. It is twice --memory and the base: the
// index tail takes up to half of --memory while it is merged, and with only a
// quarter more the collector took up to 26 % of the time.
func boundMemory(documents int64) {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(2*documents + baseBytes)
}

// toolMemory is the memory for documents of a command that reads a file once:
// what it reads it seldom reads again.
const toolMemory = 16 << 20

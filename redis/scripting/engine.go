// Package scripting runs Lua scripts as Redis does: EVAL and its relatives,
// SCRIPT, and functions.
//
// An [Engine] is what a server's scripts share: compiled code and pooled Lua
// states. A [Run] is one execution: the commands that it calls run through its
// [Host], the session, which resolves and checks them. A script that may write
// runs in one transaction, one that only reads on one snapshot, of any moment.
//
// Nothing waits on an event loop: a script begins there with a budget, see
// [Run.Budget], and runs again from the start where it may take its time if
// that does not suffice.
package scripting

import (
	"errors"
	"sync/atomic"
)

// Options are an Engine's.
type Options struct {
	// Version is the one of Redis that scripts are told.
	Version string

	// MemoryBytes is how much memory a script may take; 0: DefaultMemoryBytes.
	MemoryBytes func() int64
}

// DefaultMemoryBytes is how much a script may take unless told otherwise.
const DefaultMemoryBytes = 128 << 20

// Engine is what all scripts of a server share. It is safe for concurrent use.
type Engine struct {
	opts  Options
	cache cache
	pool  pool

	functions atomic.Value // what functions keep, see functionset.go
}

// New makes an Engine.
func New(o Options) *Engine {
	if o.MemoryBytes == nil {
		o.MemoryBytes = func() int64 { return DefaultMemoryBytes }
	}
	e := &Engine{opts: o}
	e.cache.init()
	return e
}

// ErrLong is the error of a script that takes longer than its budget. What it
// did is to be undone, and it runs again from the start without one.
var ErrLong = errors.New("redis: the script takes long")

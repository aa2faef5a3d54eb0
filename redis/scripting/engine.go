// Package scripting runs Lua scripts as Redis does: EVAL and its relatives,
// SCRIPT, and functions.
//
// An [Engine] is what a server's scripts share: compiled code and pooled Lua
// states. A [Run] is one execution: the commands that it calls run through its
// [Host], the session, which resolves and checks them. A script that may write
// runs in one transaction, one that only reads on one snapshot, of any moment.
//
// Nothing waits on an event loop: a script begins there with a budget, see
// [Run.Limit], and runs again from the start where it may take its time if
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
}

// Engine is what all scripts of a server share. It is safe for concurrent use.
type Engine struct {
	MemoryBytes atomic.Int64 // what a script may hold
	BusyMillis  atomic.Int64 // how long it may keep others waiting before they are refused; 0: for ever

	opts    Options
	cache   cache
	pool    pool
	running running
	lately  lately

	functions atomic.Value // what functions keep, see functionset.go
}

// Defaults of an Engine.
const (
	DefaultMemoryBytes = 128 << 20
	DefaultBusyMillis  = 5000

	// LeastMemoryBytes is the least that a script may be allowed: a state takes
	// some of it before the script begins.
	LeastMemoryBytes = 1 << 20
)

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{opts: o}
	e.MemoryBytes.Store(DefaultMemoryBytes)
	e.BusyMillis.Store(DefaultBusyMillis)
	e.cache.init()
	return e
}

// ErrLong is the error of a script that takes longer than it may on an event
// loop. What it did is to be undone, and it runs again from the start where it
// may take its time.
var ErrLong = errors.New("redis: the script takes long")

// Levels of Host.Log and redis.log, Redis's.
const (
	LevelDebug = iota
	LevelVerbose
	LevelNotice
	LevelWarning
)

package scripting

import (
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"
)

// A script that took long is remembered for so many quick runs: until then it
// does not begin on an event loop, where it would have to be undone.
const rememberedLong = 16

// maxLately bounds how many scripts are remembered.
const maxLately = 1024

// lately is the scripts that took long lately, by name.
type lately struct {
	some atomic.Int32 // how many there are
	mu   sync.Mutex
	left map[string]int // quick runs until they are forgotten
}

// has says whether a script took long lately.
func (l *lately) has(name string) bool {
	if l.some.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left[name] > 0
}

// tookLong remembers a script.
func (l *lately) tookLong(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == nil {
		l.left = make(map[string]int)
	}
	if _, ok := l.left[name]; !ok && len(l.left) >= maxLately {
		for other := range l.left {
			delete(l.left, other)
			break
		}
	}
	l.left[name] = rememberedLong
	l.some.Store(int32(len(l.left)))
}

// wasQuick counts a quick run.
func (l *lately) wasQuick(name string) {
	if l.some.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.left[name]
	if !ok {
		return
	}
	if l.left[name] = n - 1; n <= 1 {
		delete(l.left, name)
		l.some.Store(int32(len(l.left)))
	}
}

// took remembers how long a run took that has ended with err.
func (e *Engine) took(r *Run, err error) {
	switch {
	case r.Name == "": // code that is loaded: nobody looks for it
	case err == ErrLong, !r.Hurried && command.Clock()-r.pulse.began > LoopLimit:
		e.lately.tookLong(r.Name)
	case !r.Hurried:
		e.lately.wasQuick(r.Name)
	}
}

// LongLately says whether the script that a command names took long lately, or
// is so large that an event loop does not even look for it.
func (e *Engine) LongLately(cmd *command.Entry, args [][]byte) bool {
	if len(args) == 0 {
		return false
	}
	source := cmd.Flags&command.TakesSource != 0
	switch {
	case source && len(args[0]) > hurriedSource:
		return true
	case e.lately.some.Load() == 0:
		return false
	case !source:
		return e.lately.has(string(args[0]))
	}
	var sha [shaHexBytes]byte
	return e.lately.has(string(shaOf(&sha, args[0])))
}

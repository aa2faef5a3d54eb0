package redis

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/keyspace"
)

// maxErrorCodes bounds how many kinds of errors are told apart.
const maxErrorCodes = 128

// stats counts what INFO shows and CONFIG RESETSTAT forgets.
type stats struct {
	connections    atomic.Int64
	rejected       atomic.Int64 // connections beyond maxclients
	bytesIn        atomic.Int64
	bytesOut       atomic.Int64
	protocolErrors atomic.Int64
	hits, misses   atomic.Int64 // keys that reads found, and did not
	written, saved atomic.Int64 // keys that commands wrote, and those that the last checkpoint has; RESETSTAT leaves them
	expired        atomic.Int64 // keys that the sweeper has ended
	saves          atomic.Int64 // checkpoints that clients have asked for
	lastSave       atomic.Int64 // when the last of them ended, in Unix seconds; 0: never
	peakMemory     atomic.Uint64
	rates          rates

	mu     sync.Mutex
	errors map[string]int64 // by code, the first word of an error
}

// countError counts an error that a client is told about.
func (st *stats) countError(text string) {
	code, _, _ := strings.Cut(text, " ")
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, ok := st.errors[code]; !ok && len(st.errors) >= maxErrorCodes {
		return
	}
	if st.errors == nil {
		st.errors = make(map[string]int64)
	}
	st.errors[code]++
}

// errorCounts is a copy of the counts, and their sum.
func (st *stats) errorCounts() (counts map[string]int64, total int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	counts = make(map[string]int64, len(st.errors))
	for code, n := range st.errors {
		counts[code] = n
		total += n
	}
	return counts, total
}

func (st *stats) reset() {
	for _, n := range []*atomic.Int64{
		&st.connections, &st.rejected, &st.bytesIn, &st.bytesOut, &st.protocolErrors, &st.hits, &st.misses, &st.expired, &st.saves,
	} {
		n.Store(0)
	}
	st.peakMemory.Store(0)
	st.rates.reset()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.errors = nil
}

// countKeys moves what a session's commands found, did not find, and wrote to the
// counters of all.
func (st *stats) countKeys(w *keyspace.Workspace) {
	if w.Hits != 0 {
		st.hits.Add(w.Hits)
		w.Hits = 0
	}
	if w.Misses != 0 {
		st.misses.Add(w.Misses)
		w.Misses = 0
	}
	if w.Written != 0 {
		st.written.Add(w.Written)
		w.Written = 0
	}
}

// unsaved is how many keys were written since the last checkpoint that a client
// has asked for.
func (st *stats) unsaved() int64 { return max(st.written.Load()-st.saved.Load(), 0) }

package redis

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/firndb/firn/resp"
)

// memoryUse is what the process takes.
type memoryUse struct {
	used     uint64 // bytes of live and not yet collected objects, and of what is off the heap
	data     uint64 // those of them that are documents and the index tail
	resident uint64 // bytes that the system has given; 0 if unknown
	peak     uint64 // the most used that was ever seen
	heap     uint64 // bytes of the spans that objects are in, and of what is off the heap
	total    uint64 // bytes obtained from the system
}

// memory asks the runtime and the system, which takes some ten microseconds.
// data is how many bytes the store says that it holds, and offHeap how many it
// has taken that the runtime does not know of.
func (st *stats) memory(data int64, offHeap uint64) memoryUse {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	use := memoryUse{used: m.HeapAlloc + offHeap, resident: residentBytes(), heap: m.HeapInuse + offHeap, total: m.Sys + offHeap}
	use.data = min(uint64(max(data, 0)), use.used)
	for {
		if use.peak = st.peakMemory.Load(); use.peak >= use.used {
			return use
		}
		if st.peakMemory.CompareAndSwap(use.peak, use.used) {
			use.peak = use.used
			return use
		}
	}
}

// purgeMemory returns what is not needed to the system.
func purgeMemory() { debug.FreeOSMemory() }

// residentBytes is how much memory the process occupies, 0 if unknown.
func residentBytes() uint64 {
	fields := strings.Fields(readSmall("/proc/self/statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, ok := resp.ParseInt([]byte(fields[1]))
	if !ok || pages < 0 {
		return 0
	}
	return uint64(pages) * uint64(os.Getpagesize())
}

// readSmall is the text of a file of the system; empty if it is not there.
func readSmall(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// systemMemory is how much memory the machine has, 0 if unknown.
func systemMemory() uint64 {
	kilobytes := uint64(0)
	text := readSmall("/proc/meminfo")
	if line, _, ok := strings.Cut(text, "\n"); ok {
		_, _ = fmt.Sscanf(line, "MemTotal: %d kB", &kilobytes)
	}
	return kilobytes << 10
}

package web

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"syscall"
	"time"
)

// The metrics of this file have the names that Prometheus's own client for Go
// gives them, so that dashboards for any Go program show them.

func writeProcess(x *exposition, started time.Time) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err == nil {
		x.family("process_cpu_seconds_total", kindCounter, "Processor time, of the user and of the system.")
		x.sample("process_cpu_seconds_total", timeOf(used.Utime)+timeOf(used.Stime))
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 {
			pages, _ := strconv.ParseFloat(string(fields[1]), 64)
			x.gauge("process_resident_memory_bytes", "Memory that the process occupies.", pages*float64(os.Getpagesize()))
		}
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		x.gauge("process_open_fds", "Open file descriptors.", float64(len(files)))
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil {
		x.gauge("process_max_fds", "How many there may be.", float64(limit.Cur))
	}
	x.gauge("process_start_time_seconds", "When the server began, in Unix time.", float64(started.UnixMilli())/1e3)
}

func timeOf(tv syscall.Timeval) float64 { return float64(tv.Sec) + float64(tv.Usec)/1e6 }

// runtimeFigures are what is shown of runtime/metrics as it is.
var runtimeFigures = []struct{ from, name, kind, help string }{
	{"/memory/classes/heap/objects:bytes", "go_memstats_heap_alloc_bytes", kindGauge, "Objects, those that nobody needs any more included."},
	{"/gc/heap/live:bytes", "go_gc_heap_live_bytes", kindGauge, "Objects that the last collection has found needed."},
	{"/gc/heap/goal:bytes", "go_memstats_next_gc_bytes", kindGauge, "The heap's size at which the next collection begins."},
	{"/memory/classes/total:bytes", "go_memstats_sys_bytes", kindGauge, "Memory that the runtime has from the system."},
	{"/gc/heap/allocs:bytes", "go_memstats_alloc_bytes_total", kindCounter, "Bytes that were allocated."},
	{"/gc/cycles/total:gc-cycles", "go_gc_cycles_total", kindCounter, "Collections."},
	{"/cpu/classes/gc/total:cpu-seconds", "go_gc_cpu_seconds_total", kindCounter, "Processor time that collecting took, estimated."},
	{"/sched/goroutines:goroutines", "go_goroutines", kindGauge, "Goroutines."},
	{"/sched/gomaxprocs:threads", "go_gomaxprocs", kindGauge, "Threads that run Go at once, at most."},
}

func writeRuntime(x *exposition) {
	x.family("go_info", kindGauge, "1, with the version of Go.")
	x.sample("go_info", 1, "version", runtime.Version())
	samples := make([]metrics.Sample, len(runtimeFigures))
	for i := range samples {
		samples[i].Name = runtimeFigures[i].from
	}
	metrics.Read(samples)
	for i, sample := range samples {
		value := 0.0
		switch sample.Value.Kind() {
		case metrics.KindUint64:
			value = float64(sample.Value.Uint64())
		case metrics.KindFloat64:
			value = sample.Value.Float64()
		}
		x.family(runtimeFigures[i].name, runtimeFigures[i].kind, runtimeFigures[i].help)
		x.sample(runtimeFigures[i].name, value)
	}
}

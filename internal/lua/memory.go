package lua

import (
	"runtime/metrics"
	"unsafe"

	"github.com/firndb/firn/internal/lua/val"
)

// What a program holds is found in two steps. What it takes is counted, and
// when that could be more than it may hold, what it can still reach is walked:
// so garbage costs nothing, and the walk is paid by what was taken.

// heapFactor is how much more than a program's limit the process may have
// grown by when it is looked at: what lies in Go's own stack between two
// pieces of code is not found by the walk.
const heapFactor = 4

// charge counts bytes that are about to be taken.
func (m *meter) charge(n int64) {
	if m.debt += n; m.debt > m.allowed {
		m.audit(n)
	}
}

func (m *meter) audit(n int64) {
	if m.walk == nil {
		return // a state that is being made
	}
	if n > m.guard.Bytes {
		m.end(ErrMemory)
	}
	live := m.walk() + n
	if live > m.guard.Bytes || m.heapGrown() {
		m.end(ErrMemory)
	}
	m.debt = 0
	m.allowed = max(m.guard.Bytes-live, m.guard.Bytes/8)
	m.spend(live >> 6)
}

// heapBytes is what the process holds.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// heapGrown says whether the process holds far more than at the first audit.
func (m *meter) heapGrown() bool {
	now := heapBytes()
	if m.heap == 0 {
		m.heap = now
	}
	return now > m.heap && now-m.heap > heapFactor*uint64(m.guard.Bytes)
}

// walker adds up what can be reached. Each thing is counted once.
type walker struct {
	epoch   uint32
	bytes   int64
	todo    []value
	strings map[*byte]struct{}
}

// sharedString is the length from which strings are counted once, however
// often they are found.
const sharedString = 64

// measure is how many bytes the program can reach.
func (s *State) measure() int64 {
	s.epoch++
	w := &walker{epoch: s.epoch, strings: map[*byte]struct{}{}}
	w.add(s.globals)
	w.thread(s.main)
	for co := range s.live {
		w.add(co)
	}
	for len(w.todo) > 0 {
		v := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.open(v)
	}
	return w.bytes
}

// add counts a value, or notes it for later.
func (w *walker) add(v value) {
	switch v := v.(type) {
	case nil:
	case val.String:
		w.text(string(v))
	case *table:
		if v.seen != w.epoch {
			v.seen = w.epoch
			w.todo = append(w.todo, v)
		}
	case *function:
		if v.seen != w.epoch {
			v.seen = w.epoch
			w.todo = append(w.todo, v)
		}
	case *cell:
		if v.seen != w.epoch {
			v.seen = w.epoch
			w.bytes += cellBytes
			w.add(v.v)
		}
	case *coroutine:
		if v.seen != w.epoch {
			v.seen = w.epoch
			w.todo = append(w.todo, v)
		}
	}
}

func (w *walker) text(s string) {
	w.bytes += 16
	if len(s) < sharedString {
		w.bytes += int64(len(s))
		return
	}
	at := unsafe.StringData(s)
	if _, ok := w.strings[at]; !ok {
		w.strings[at] = struct{}{}
		w.bytes += int64(len(s))
	}
}

func (w *walker) open(v value) {
	switch v := v.(type) {
	case *table:
		w.bytes += tableBytes + int64(len(v.array))*slotBytes + int64(len(v.nodes))*nodeBytes
		for _, x := range v.array {
			w.add(x)
		}
		for i := range v.nodes {
			w.add(v.nodes[i].key)
			w.add(v.nodes[i].val)
		}
		if v.meta != nil {
			w.add(v.meta)
		}
	case *function:
		w.bytes += functionBytes + int64(len(v.ups))*8
		for _, up := range v.ups {
			if up != nil {
				w.add(up)
			}
		}
	case *coroutine:
		w.bytes += coroutineBytes
		w.add(v.fn)
		if v.th != nil {
			w.thread(v.th)
		}
		for _, x := range v.passed {
			w.add(x)
		}
	}
}

// depthBytes is what a nested piece of code takes of Go's stack.
const depthBytes = 200

func (w *walker) thread(th *thread) {
	w.bytes += int64(th.deep) * depthBytes
	for i := 0; i <= th.chunk; i++ {
		chunk := th.chunks[i]
		w.bytes += int64(len(chunk)) * 16
		if i == th.chunk {
			chunk = chunk[:th.top]
		}
		for _, v := range chunk {
			w.add(v)
		}
	}
	for _, f := range th.frames[:th.depth] {
		w.add(f.fn)
		for _, v := range f.varargs {
			w.add(v)
		}
	}
}

// addressOf is where a value is: what it hashes to as a key.
func addressOf(v value) uint32 {
	p := (*[2]uintptr)(unsafe.Pointer(&v))[1]
	return uint32(p >> 4)
}

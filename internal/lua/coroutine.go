package lua

import (
	"iter"

	"github.com/firndb/firn/internal/lua/unwind"
	"github.com/firndb/firn/internal/lua/val"
)

// coroutine is a function that runs on a stack of its own, and only while
// somebody waits for it.
type coroutine struct {
	th     *thread
	fn     value
	status string
	next   func() ([]value, bool)
	stop   func()
	yield  func([]value) bool
	passed []value // to it, by who resumed it
	raised *raisedError
	killed any
	wait   int // calls through Go that began before it was resumed
	seen   uint32
}

const (
	suspended = "suspended"
	running   = "running"
	normal    = "normal"
	dead      = "dead"
)

// coroutineBytes is what a coroutine takes: a goroutine with its stack, and a
// small stack of values.
const coroutineBytes = 12 << 10

// coroutineSlots is how many values the stack of a new coroutine has.
const coroutineSlots = 32

// abandoned is what panics in a coroutine that nobody will resume.
type abandoned struct{}

// start makes the goroutine of a coroutine. State.settle ends it at the latest.
func (co *coroutine) start(s *State) {
	s.meter.charge(coroutineBytes)
	co.th = newThread(s, co, coroutineSlots)
	s.live[co] = struct{}{}
	co.next, co.stop = iter.Pull(func(yield func([]value) bool) {
		co.yield = yield
		defer func() {
			switch e := recover().(type) {
			case nil, abandoned:
			case *raisedError:
				co.raised = e
			default:
				co.killed = e
			}
		}()
		r := co.th.call(co.fn, co.passed, nil)
		co.passed = append([]value(nil), r...)
	})
}

// resume runs a coroutine until it yields, ends or fails. The values are the
// caller's.
func (th *thread) resume(co *coroutine, args []value) ([]value, *raisedError) {
	if co.status != suspended {
		return nil, &raisedError{value: val.String("cannot resume " + co.status + " coroutine")}
	}
	s := th.s
	if s.nested >= maxNested-1 {
		return nil, &raisedError{value: val.String("C stack overflow")}
	}
	if co.next == nil {
		co.start(s)
	}
	co.passed = append([]value(nil), args...)
	nested := s.nested
	s.nested++
	co.wait = s.nested
	if th.co != nil {
		th.co.status = normal
	}
	co.status, s.current = running, co.th
	yielded, more := co.next()
	s.nested, s.current = nested, th
	if th.co != nil {
		th.co.status = running
	}
	if more {
		co.status = suspended
		s.meter.charge(int64(co.th.deep) * depthBytes / 4)
		return yielded, nil
	}
	co.status = dead
	delete(s.live, co)
	if co.killed != nil {
		unwind.Throw(co.killed)
	}
	r := co.passed
	co.th, co.passed = nil, nil
	return r, co.raised
}

// suspend is coroutine.yield.
func (th *thread) suspend(args []value) []value {
	co := th.co
	if co == nil || th.s.nested > co.wait {
		th.errorf("attempt to yield across metamethod/C-call boundary")
	}
	if !co.yield(append([]value(nil), args...)) {
		unwind.Throw(abandoned{})
	}
	return co.passed
}

package lua

import (
	"strconv"

	"github.com/firndb/firn/internal/lua/unwind"
	"github.com/firndb/firn/internal/lua/val"
)

// Limits of calls: Lua's own, but for the last.
const (
	// maxCalls is how many functions may be active in a thread, as measured.
	maxCalls = 19999

	// maxNested is how many calls may go through Go: LUAI_MAXCCALLS.
	maxNested = 200

	// handlerCalls is how much deeper an error handler may go.
	handlerCalls = 100

	// maxDepth bounds Go's stack, in nested pieces of code, each of which
	// takes some 200 bytes: 120 MB at worst, while Go ends the process at 1 GB.
	// A recursion that does little reaches maxCalls first.
	maxDepth = 600_000
)

// thread is what runs one program or one coroutine: frames of active functions
// and a stack of values.
type thread struct {
	s      *State
	m      *meter
	co     *coroutine // nil: the program itself
	frames []*frame   // kept for later calls; the first depth are active
	depth  int
	most   int       // frames that were active at once
	deep   int       // nested pieces of code, for maxDepth
	chunks [][]value // the stack of values; all but the last in use are full
	chunk  int
	top    int // in the chunk
	out    [4]value
}

// frame is one active function.
type frame struct {
	th      *thread
	fn      *function
	regs    []value
	varargs []value
	ret     []value
	buf     []value
	site    *site // how it was called, if that is known
	line    int
	tail    int // how many calls it replaced
	mark    mark
	tailFn  *function // to call in place of this one
}

// site is a place in a program that calls.
type site struct {
	kind, name string // "global", "x"; "" when there is no name
	line       int
}

type mark struct{ chunk, top int }

func newThread(s *State, co *coroutine, slots int) *thread {
	return &thread{s: s, m: &s.meter, co: co, chunks: [][]value{make([]value, slots)}}
}

func (th *thread) mark() mark     { return mark{th.chunk, th.top} }
func (th *thread) release(m mark) { th.chunk, th.top = m.chunk, m.top }

// alloc takes n values of the stack. They hold anything.
func (th *thread) alloc(n int) []value {
	if top := th.top + n; top <= len(th.chunks[th.chunk]) {
		vs := th.chunks[th.chunk][th.top:top:top]
		th.top = top
		return vs
	}
	return th.allocChunk(n)
}

func (th *thread) allocChunk(n int) []value {
	next := th.chunk + 1
	if next == len(th.chunks) {
		th.chunks = append(th.chunks, nil)
	}
	if len(th.chunks[next]) < n {
		size := max(n, 2*len(th.chunks[th.chunk]))
		th.m.charge(int64(size) * 16) // looks at the stack as it is
		th.chunks[next] = make([]value, size)
	}
	th.chunk, th.top = next, n
	return th.chunks[th.chunk][:n:n]
}

// extend appends values to those that lie at the top of the stack.
func (th *thread) extend(vs, more []value) []value {
	n := len(vs) + len(more)
	if chunk := th.chunks[th.chunk]; th.top+len(more) <= len(chunk) && th.top >= len(vs) {
		start := th.top - len(vs)
		copy(chunk[th.top:], more)
		th.top += len(more)
		return chunk[start:th.top:th.top]
	}
	all := th.allocChunk(n)
	copy(all[len(vs):], more) // first: they may lie here, released
	copy(all, vs)
	return all
}

func (th *thread) one(v value) []value {
	th.out[0] = v
	return th.out[:1]
}

func (th *thread) two(a, b value) []value {
	th.out[0], th.out[1] = a, b
	return th.out[:2]
}

func (th *thread) push(fn *function, at *site) *frame {
	if th.depth >= maxCalls+th.s.slack {
		th.errorf("stack overflow")
	}
	if th.depth == len(th.frames) {
		th.frames = append(th.frames, &frame{th: th})
	}
	f := th.frames[th.depth]
	th.depth++
	th.most = max(th.most, th.depth)
	f.fn, f.site, f.tail, f.line, f.varargs, f.regs = fn, at, 0, 0, nil, nil
	f.mark = th.mark()
	return f
}

func (th *thread) pop(f *frame) {
	th.release(f.mark)
	th.depth--
}

// call calls any value. The results are borrowed until the next call.
func (th *thread) call(v value, args []value, at *site) []value {
	if fn, ok := v.(*function); ok {
		if fn.native == nil {
			return th.run(fn, args, at)
		}
		th.m.spend(1)
		f := th.push(fn, at)
		r := fn.native(th, args)
		th.pop(f)
		return r
	}
	h := th.s.metamethod(v, "__call")
	if h.Type() != val.TypeFunction {
		th.typeErrorAt(v, "call", at)
	}
	all := th.alloc(len(args) + 1)
	copy(all[1:], args)
	all[0] = v
	return th.call(h, all, at)
}

// run runs a function of a program, and those that it ends by calling.
func (th *thread) run(fn *function, args []value, at *site) []value {
	f := th.push(fn, at)
	deep := th.deep
	for {
		p := fn.proto
		th.m.spend(p.cost)
		if th.deep += p.depth; th.deep > maxDepth {
			th.depth--
			th.errorf("stack overflow")
		}
		f.enter(p, args)
		if p.body(f) != signalTail {
			break
		}
		th.deep = deep
		args, fn = f.ret, f.tailFn
		f.fn, f.site = fn, nil
		f.tail++
		th.release(f.mark)
	}
	th.deep = deep
	ret := f.ret
	th.pop(f)
	return ret
}

// enter gives a frame its variables.
func (f *frame) enter(p *proto, args []value) {
	f.ret, f.varargs = nil, nil
	if p.vararg && len(args) > p.params {
		f.varargs = append([]value(nil), args[p.params:]...)
	}
	f.regs = f.th.alloc(p.slots)
	for i := copy(f.regs[:p.params], args); i < p.params; i++ {
		f.regs[i] = vnil
	}
	if p.argSlot >= 0 {
		f.regs[p.argSlot] = f.argTable(p)
	}
	for _, slot := range p.cells {
		f.regs[slot] = &cell{v: f.regs[slot]}
	}
}

// argTable is what "arg" is in a function of Lua 5.0's kind.
func (f *frame) argTable(p *proto) value {
	if p.bare {
		return vnil
	}
	t := f.th.newTable(len(f.varargs), 1)
	for i, v := range f.varargs {
		t.setInt(f.th.m, i+1, v)
	}
	t.setString(f.th.m, "n", number(float64(len(f.varargs))))
	return t
}

func (th *thread) newTable(array, hash int) *table {
	t := &table{}
	th.m.charge(tableBytes)
	if array > 0 || hash > 0 {
		t.resize(th.m, array, hash)
	}
	return t
}

// nested calls from Go: through metamethods and functions of the library.
func (th *thread) nested(fn value, args []value) []value {
	th.enterGo()
	r := th.call(fn, args, nil)
	th.s.nested--
	return r
}

// enterGo counts a call through Go. A little more is allowed to those who
// handle the error.
func (th *thread) enterGo() {
	th.s.nested++
	if n := th.s.nested; n == maxNested {
		th.errorf("C stack overflow")
	} else if n >= maxNested+maxNested/8 {
		unwind.Throw(&raisedError{value: val.String(errorInHandler)})
	}
}

// first is nested for who wants one result.
func (th *thread) first(fn value, args ...value) value {
	m := th.mark()
	vs := th.alloc(len(args))
	copy(vs, args)
	r := th.nested(fn, vs)
	th.release(m)
	if len(r) == 0 {
		return vnil
	}
	return r[0]
}

// where is the position of the function at a level, as a prefix.
func (th *thread) where(level int) string {
	if f := th.level(level); f != nil && f.fn.native == nil && f.line > 0 {
		return f.fn.proto.name + ":" + strconv.Itoa(f.line) + ": "
	}
	return ""
}

// level is the active function at a level, of which 0 is the newest. Functions
// that were replaced by others count, and are nil, like those that are not.
func (th *thread) level(level int) *frame {
	for i := th.depth - 1; i >= 0; i-- {
		f := th.frames[i]
		if level == 0 {
			return f
		}
		if level--; level < f.tail {
			return nil
		}
		level -= f.tail
	}
	return nil
}

// globals are those of the newest function of a program.
func (th *thread) globals() *table {
	for i := th.depth - 1; i >= 0; i-- {
		if fn := th.frames[i].fn; fn.native == nil {
			return fn.globals
		}
	}
	return th.s.globals
}

// current is the newest function, nil when there is none.
func (th *thread) current() *frame {
	if th.depth == 0 {
		return nil
	}
	return th.frames[th.depth-1]
}

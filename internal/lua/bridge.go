package lua

import (
	"strings"

	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/unwind"
)

// Values cross between programs and gopher-lua. Tables are copied, each once a
// crossing, so cycles stay cycles. Functions get a counterpart.

// maxCross bounds how deep tables that cross may hold each other.
const maxCross = 10_000

// crossing is one passage of values.
type crossing struct {
	s     *State
	in    map[*glua.LTable]*table
	out   map[*table]*glua.LTable
	depth int
}

// inner is a value of gopher-lua as programs see it.
func (s *State) inner(v glua.LValue) value {
	switch v.(type) {
	case *glua.LTable, *glua.LFunction:
		c := &crossing{s: s}
		return c.inner(v)
	case glua.LBool, glua.LNumber, glua.LString:
		return v
	case nil:
		return vnil
	}
	return v
}

func (c *crossing) inner(v glua.LValue) value {
	switch v := v.(type) {
	case *glua.LTable:
		return c.tableIn(v)
	case *glua.LFunction:
		if len(v.Upvalues) == 1 {
			if own, ok := v.Upvalues[0].Value().(*function); ok {
				return own
			}
		}
	}
	return v
}

func (c *crossing) tableIn(from *glua.LTable) *table {
	if t, ok := c.in[from]; ok {
		return t
	}
	if c.in == nil {
		c.in = map[*glua.LTable]*table{}
	}
	c.descend()
	t := c.s.main.newTable(0, 0)
	c.in[from] = t
	for i, n := 1, from.Len(); i <= n; i++ {
		if v := from.RawGetInt(i); v != vnil {
			t.setInt(&c.s.meter, i, c.inner(v))
		}
	}
	for k, v := from.Next(vnil); k != vnil; k, v = from.Next(k) {
		if t.get(k) == vnil {
			t.set(&c.s.meter, c.inner(k), c.inner(v))
		}
	}
	if meta, ok := from.Metatable.(*glua.LTable); ok {
		t.meta = c.tableIn(meta)
	}
	if _, ok := c.s.protected[from]; ok {
		t.readonly = true
	}
	c.depth--
	return t
}

func (c *crossing) descend() {
	if c.depth++; c.depth > maxCross {
		c.s.current.libError("table is nested too deep")
	}
}

// outer1 is a value of a program as gopher-lua has it.
func (s *State) outer1(v value) glua.LValue {
	switch v := v.(type) {
	case *table:
		c := &crossing{s: s}
		return c.tableOut(v)
	case *function:
		return s.outer(v)
	}
	return v
}

func (c *crossing) outer(v value) glua.LValue {
	switch v := v.(type) {
	case *table:
		return c.tableOut(v)
	case *function:
		return c.s.outer(v)
	}
	return v
}

func (c *crossing) tableOut(from *table) *glua.LTable {
	if t, ok := c.out[from]; ok {
		return t
	}
	if c.out == nil {
		c.out = map[*table]*glua.LTable{}
	}
	c.descend()
	t := c.s.l.CreateTable(len(from.array), len(from.nodes))
	c.out[from] = t
	c.s.meter.charge(tableBytes + int64(len(from.array))*slotBytes + int64(len(from.nodes))*3*nodeBytes)
	for k, v, _ := from.next(vnil); k != vnil; k, v, _ = from.next(k) {
		c.s.meter.spend(1)
		if n, ok := k.(glua.LNumber); ok {
			if i, ok := index(float64(n)); !ok || i < 1 || i > 2*t.Len()+64 {
				t.RawSetH(k, c.outer(v)) // there it needs no array up to it
				continue
			}
		}
		t.RawSet(c.outer(k), c.outer(v))
	}
	c.depth--
	return t
}

// outer is the counterpart of a function, which others may call.
func (s *State) outer(fn *function) *glua.LFunction {
	if fn.outer == nil {
		holder := s.l.NewClosure(s.callBack, vnil)
		holder.Upvalues[0].SetValue(fn)
		fn.outer = holder
	}
	return fn.outer
}

// callBack runs a program's function that a Go function calls.
func (s *State) callBack(l *glua.LState) int {
	holder := l.Get(glua.UpvalueIndex(1))
	th := s.current
	m := th.mark()
	args := th.alloc(l.GetTop())
	for i := range args {
		args[i] = s.inner(l.Get(i + 1))
	}
	r, raised := th.protected(holder, args, nil)
	if raised != nil {
		l.Error(s.outer1(raised.value), 0)
	}
	for _, v := range r {
		l.Push(s.outer1(v))
	}
	th.release(m)
	return len(r)
}

// foreign calls a function of gopher-lua's kind.
func (th *thread) foreign(fn *glua.LFunction, args []value, at *site) []value {
	th.m.spend(1)
	s, l := th.s, th.s.l
	f := th.push(foreignFunction, at)
	top := l.GetTop()
	l.Push(fn)
	for _, arg := range args {
		l.Push(s.outer1(arg))
	}
	err := l.PCall(len(args), glua.MultRet, nil)
	if th.m.err != nil {
		unwind.Throw(&killed{th.m.err})
	}
	if err != nil {
		l.SetTop(top)
		th.throw(foreignError(th, err))
	}
	n := l.GetTop() - top
	r := make([]value, n)
	for i := range r {
		r[i] = s.inner(l.Get(top + 1 + i))
	}
	l.SetTop(top)
	th.pop(f)
	return r
}

// foreignFunction stands for Go functions among the active ones.
var foreignFunction = &function{name: "?", native: func(*thread, []value) []value { return nil }}

// foreignError is what a Go function raised, worded as a function of Lua's
// library would have worded it: with the position of who called it.
func foreignError(th *thread, err error) value {
	api, ok := err.(*glua.ApiError)
	if !ok {
		return glua.LString(th.where(1) + err.Error())
	}
	text, ok := api.Object.(glua.LString)
	if !ok {
		return th.s.inner(api.Object)
	}
	msg, positioned := strings.CutPrefix(string(text), " ")
	if !positioned {
		return text
	}
	if rest, ok := strings.CutPrefix(msg, "bad argument #"); ok {
		number, rest, _ := strings.Cut(rest, " to ")
		if _, why, ok := strings.Cut(rest, " ("); ok {
			return foreignArgument(th, number, strings.TrimSuffix(why, ")"))
		}
	}
	return glua.LString(th.where(1) + msg)
}

func foreignArgument(th *thread, number, why string) value {
	n := 0
	for _, c := range number {
		n = n*10 + int(c-'0')
	}
	_, raised := caughtIn(th, func() { th.argError(n, why) })
	return raised.value
}

// caughtIn runs something that raises.
func caughtIn(th *thread, do func()) (ok bool, raised *raisedError) {
	defer func() {
		if e, is := recover().(*raisedError); is {
			raised = e
		}
	}()
	do()
	return true, nil
}

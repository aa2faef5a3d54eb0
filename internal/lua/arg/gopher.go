package arg

import (
	"fmt"
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// methodMark begins the name of a method in the calls of a compiled function.
// No name of a script can begin with it.
const methodMark = "\x00method "

// unnamed is what an error calls a function that was not called by a name.
const unnamed = "?"

// Gopher returns a Call of a function of gopher-lua's.
func Gopher(L *glua.LState) Call { return gopher{L, L.GetTop()} }

// OpenGopher returns a new table of gopher-lua's with all of a library.
func OpenGopher(L *glua.LState, l Library) *glua.LTable {
	return Open(Gopher(L), l).(gopherTable).t
}

// Meter is what the context of gopher-lua's state may implement, for Charge.
type Meter interface {
	Charge(L *glua.LState, bytes int)
}

// gopher is a call by gopher-lua's virtual machine.
type gopher struct {
	L   *glua.LState
	top int // arguments; results lie above
}

func (c gopher) Top() int           { return c.top }
func (c gopher) Push(v glua.LValue) { c.L.Push(plain(v)) }
func (c gopher) Raise(text string)  { c.L.Error(glua.LString(text), 0) }

func (c gopher) Arg(n int) glua.LValue {
	if n > c.top {
		return glua.LNil
	}
	return c.L.Get(n)
}

func (c gopher) Charge(bytes int) {
	if meter, ok := c.L.Context().(Meter); ok {
		meter.Charge(c.L, bytes)
	}
}

// stepsPerInstruction is how many steps of a library one instruction of
// gopher-lua's is worth, in time.
const stepsPerInstruction = 8

// Spend asks the context as often as instructions would have.
func (c gopher) Spend(steps int) {
	ctx := c.L.Context()
	if ctx == nil {
		return
	}
	for range steps/stepsPerInstruction + 1 {
		select {
		case <-ctx.Done():
			c.Raise(ctx.Err().Error())
		default:
		}
	}
}

func (c gopher) Table(v glua.LValue) (Table, bool) {
	t, ok := v.(*glua.LTable)
	return gopherTable{t}, ok
}

// NewTable makes small tables: gopher-lua would begin with room for 32 of each.
func (c gopher) NewTable(room int) Table {
	return gopherTable{c.L.CreateTable(1, max(room, 1))}
}

func (c gopher) NewFunction(_ string, fn Function) glua.LValue {
	return c.L.NewFunction(func(L *glua.LState) int { return fn(Gopher(L)) })
}

func (c gopher) Where() string {
	caller, ok := c.L.GetStack(1)
	if !ok {
		return ""
	}
	if _, err := c.L.GetInfo("Sl", caller, glua.LNil); err != nil || caller.CurrentLine <= 0 {
		return "" // called by a function of the library
	}
	return fmt.Sprintf("%s:%d: ", caller.Source, caller.CurrentLine)
}

func (c gopher) Callee() (name string, method bool) {
	caller, ok := c.L.GetStack(1)
	if !ok {
		return unnamed, false
	}
	if v, err := c.L.GetInfo("f", caller, glua.LNil); err != nil || v.(*glua.LFunction).IsG {
		return unnamed, false
	}
	running, _ := c.L.GetStack(0)
	if _, err := c.L.GetInfo("n", running, glua.LNil); err != nil {
		return unnamed, false
	}
	if method, ok := strings.CutPrefix(running.Name, methodMark); ok {
		return method, true
	}
	if running.Name == "(anonymous)" {
		return unnamed, false
	}
	return running.Name, false
}

// gopherTable is a table of gopher-lua's.
type gopherTable struct{ t *glua.LTable }

func (t gopherTable) String() string          { return t.t.String() }
func (t gopherTable) Type() glua.LValueType   { return glua.LTTable }
func (t gopherTable) Index(i int) glua.LValue { return t.t.RawGetInt(i) }
func (t gopherTable) Slots() int              { return t.t.MaxN() }

func (t gopherTable) Walk(yield func(k, v glua.LValue) bool) {
	for k, v := t.t.Next(glua.LNil); k != glua.LNil && yield(k, v); k, v = t.t.Next(k) {
	}
}

// indexBytes is what gopher-lua takes for an index without a value.
const indexBytes = 16

// Set reserves what an index beyond the table's length costs: gopher-lua makes
// everything that lies between.
func (t gopherTable) Set(c Call, key, v glua.LValue) {
	if f, ok := key.(glua.LNumber); ok {
		if v == glua.LNil && t.t.RawGet(key) == glua.LNil {
			return
		}
		if gap := float64(f) - float64(t.t.MaxN()); gap > 1 && f < glua.LNumber(glua.MaxArrayIndex) {
			Reserve(c, int(gap)*indexBytes)
		}
	}
	t.t.RawSet(plain(key), plain(v))
}

// plain returns a value that gopher-lua knows.
func plain(v glua.LValue) glua.LValue {
	if t, ok := v.(gopherTable); ok {
		return t.t
	}
	return v
}

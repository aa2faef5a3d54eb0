package lua

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/bit"
	"github.com/firndb/firn/internal/lua/cmsgpack"
	"github.com/firndb/firn/internal/lua/structs"
	"github.com/firndb/firn/internal/lua/val"
)

// openOthers adds the libraries that Redis ships beside Lua's own.
func (s *State) openOthers() {
	s.Register("cjson", s.json.Library())
	s.Register("struct", structs.Library())
	s.Register("cmsgpack", cmsgpack.Library())
	s.Register("bit", bit.Library())
}

// Register makes a library a global table.
func (s *State) Register(global string, l arg.Library) {
	s.globals.setString(&s.meter, global, arg.Open(&passed{th: s.main}, l))
}

// passed is a call of a library's function.
type passed struct {
	th   *thread
	args []value
	out  []value
}

func (c *passed) Top() int          { return len(c.args) }
func (c *passed) Arg(n int) value   { return argAt(c.args, n) }
func (c *passed) Push(v val.Value)  { c.out = append(c.out, v) }
func (c *passed) Raise(text string) { c.th.throw(val.String(text)) }
func (c *passed) Where() string     { return c.th.where(1) }
func (c *passed) Charge(bytes int)  { c.th.m.charge(int64(bytes)) }
func (c *passed) Spend(steps int)   { c.th.m.spend(int64(steps)) }

// RaiseValue raises an error that is any value. It does not return.
func (c *passed) RaiseValue(v val.Value) { c.th.throw(v) }

func (c *passed) Callee() (name string, method bool) {
	if at := c.th.current().site; at != nil && at.name != "" {
		return at.name, at.kind == "method"
	}
	return "?", false
}

func (c *passed) Table(v val.Value) (arg.Table, bool) {
	t, ok := v.(*table)
	return t, ok
}

func (c *passed) NewTable(room int) arg.Table { return c.th.newTable(0, room) }

func (c *passed) NewFunction(name string, fn arg.Function) val.Value {
	return &function{name: name, native: func(th *thread, args []value) []value {
		c := passed{th: th, args: args}
		n := fn(&c)
		return c.out[len(c.out)-n:]
	}}
}

// Index is what the table has at an index.
func (t *table) Index(i int) val.Value { return t.getInt(i) }

// Set gives the table a member.
func (t *table) Set(c arg.Call, key, v val.Value) {
	th := c.(*passed).th
	rawSet(th, t, key, v)
}

// Slots is how many places Walk looks at.
func (t *table) Slots() int { return len(t.array) + len(t.nodes) }

// Walk yields the members in the order of next.
func (t *table) Walk(yield func(key, v val.Value) bool) {
	for i := range t.array {
		if !t.empty(i) && !yield(number(float64(i+1)), t.array[i]) {
			return
		}
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; n.key != nil && n.val != vnil && !yield(n.key, n.val) {
			return
		}
	}
}

package lua

import "github.com/firndb/firn/internal/lua/val"

// A tree becomes Go functions: one for each expression and each statement,
// which call each other. They know everything that can be known before: slots,
// hashes of names, how errors call a variable.

// gen makes the Go functions of one function.
type gen struct {
	p      *proto
	depth  int
	zero   value // nil: none yet
	pieces *int  // made for the whole program
}

func newProto(name, source string, fn *funcNode, pieces *int) *proto {
	p := &proto{name: name, source: source, params: len(fn.params), vararg: fn.vararg, bare: fn.bare,
		slots: fn.slots, argSlot: -1, ups: fn.ups}
	for _, v := range fn.params {
		if v.captured {
			p.cells = append(p.cells, v.slot)
		}
	}
	if fn.argVar != nil {
		p.argSlot = fn.argVar.slot
		if fn.argVar.captured {
			p.cells = append(p.cells, p.argSlot)
		}
	}
	g := &gen{p: p, pieces: pieces}
	p.body = g.block(fn.body)
	p.cost = cost(fn.body)
	p.depth += callDepth
	return p
}

func (g *gen) down() {
	*g.pieces++
	g.depth++
	g.p.depth = max(g.p.depth, g.depth)
}

func (g *gen) up() { g.depth-- }

func (g *gen) exprs(es []expr) []code {
	all := make([]code, len(es))
	for i, e := range es {
		all[i] = g.expr(e)
	}
	return all
}

// expr is an expression as one value.
func (g *gen) expr(e expr) code {
	g.down()
	defer g.up()
	switch e := e.(type) {
	case constant:
		v := g.constant(e.v)
		return func(*frame) value { return v }
	case varargs:
		return func(f *frame) value {
			if len(f.varargs) == 0 {
				return vnil
			}
			return f.varargs[0]
		}
	case *local:
		return localCode(e.v)
	case *upvalue:
		i := e.i
		return func(f *frame) value { return f.fn.ups[i].v }
	case *global:
		return globalCode(e)
	case *indexed:
		return g.indexed(e)
	case *call:
		return g.callOne(e)
	case *paren:
		return g.expr(e.e)
	case *lambda:
		return g.closure(e)
	case *binary:
		return g.binary(e)
	case *concat:
		return g.concat(e)
	case *unary:
		return g.unary(e)
	case *logic:
		return g.logic(e)
	}
	return g.constructor(e.(*constructor))
}

// constant is a constant as its function has it: a function of Lua has one
// zero, whose sign is that of the first.
func (g *gen) constant(v value) value {
	if n, ok := v.(val.Number); ok && n == 0 {
		if g.zero == nil {
			g.zero = v
		}
		return g.zero
	}
	return v
}

// multi is an expression as all its values.
func (g *gen) multi(e expr) codes {
	if c, ok := e.(*call); ok {
		return g.callAll(c)
	}
	g.down()
	defer g.up()
	return func(f *frame) []value { return f.varargs }
}

func localCode(v *localVar) code {
	slot := v.slot
	if v.captured {
		return func(f *frame) value { return f.regs[slot].(*cell).v }
	}
	return func(f *frame) value { return f.regs[slot] }
}

func globalCode(e *global) code {
	key, hash, line := val.String(e.name), hashString(e.name), e.line
	return func(f *frame) value {
		g := f.fn.globals
		if v := g.getHashed(string(key), hash); v != vnil {
			return v
		}
		return f.index(g, key, line, nil)
	}
}

// late says whether an operand is read when the operation is done, and not
// before the other operand: so Lua treats variables in registers.
func late(e expr) bool {
	l, ok := e.(*local)
	return ok && l.v.captured
}

func (g *gen) indexed(e *indexed) code {
	obj, line, named := g.expr(e.obj), e.line, e.obj
	if c, ok := e.key.(constant); ok {
		if s, ok := c.v.(val.String); ok {
			hash, name := hashString(string(s)), string(s)
			return func(f *frame) value {
				o := obj(f)
				if t, ok := o.(*table); ok {
					if v := t.getHashed(name, hash); v != vnil || t.meta == nil {
						return v
					}
				}
				return f.index(o, c.v, line, named)
			}
		}
	}
	key, after := g.expr(e.key), late(e.obj)
	return func(f *frame) value {
		var o, k value
		if after {
			k = key(f)
			o = obj(f)
		} else {
			o = obj(f)
			k = key(f)
		}
		f.th.spendOn(k)
		if t, ok := o.(*table); ok {
			if v := t.get(k); v != vnil || t.meta == nil {
				return v
			}
		}
		return f.index(o, k, line, named)
	}
}

func (g *gen) closure(e *lambda) code {
	p := newProto(g.p.name, g.p.source, e.fn, g.pieces)
	return func(f *frame) value { return f.closure(p) }
}

// closure makes a function of its code.
func (f *frame) closure(p *proto) *function {
	f.th.m.charge(functionBytes + int64(len(p.ups))*8)
	fn := &function{proto: p, globals: f.fn.globals}
	if len(p.ups) > 0 {
		fn.ups = make([]*cell, len(p.ups))
		for i, up := range p.ups {
			if up.local != nil {
				fn.ups[i] = f.regs[up.local.slot].(*cell)
			} else {
				fn.ups[i] = f.fn.ups[up.up]
			}
		}
	}
	return fn
}

func (g *gen) logic(e *logic) code {
	l, r := g.expr(e.l), g.expr(e.r)
	if e.and {
		return func(f *frame) value {
			if v := l(f); !truth(v) {
				return v
			}
			return r(f)
		}
	}
	return func(f *frame) value {
		if v := l(f); truth(v) {
			return v
		}
		return r(f)
	}
}

func (g *gen) concat(e *concat) code {
	parts := g.exprs(e.parts)
	return func(f *frame) value {
		m := f.th.mark()
		vs := f.th.alloc(len(parts))
		for i, p := range parts {
			vs[i] = p(f)
		}
		v := f.join(vs, e)
		f.th.release(m)
		return v
	}
}

func (g *gen) unary(e *unary) code {
	operand, line := g.expr(e.e), e.line
	switch e.op {
	case opNot:
		return func(f *frame) value { return boolean(!truth(operand(f))) }
	case opLen:
		return func(f *frame) value { return f.length(operand(f), line, e.e) }
	}
	return func(f *frame) value {
		v := operand(f)
		if n, ok := numberOf(v); ok {
			return number(-n)
		}
		if h, ok := f.binaryMeta("__unm", v, v, line); ok {
			return h
		}
		f.typeError(line, v, "perform arithmetic on", e.e)
		return nil
	}
}

// fieldsPerFlush is how many items of a constructor wait before they are set.
const fieldsPerFlush = 50

// rounded is a size as the instruction that makes a table can say it.
func rounded(n int) int {
	e := 0
	for n >= 16 {
		n = (n + 1) >> 1
		e++
	}
	return n << e
}

type field struct {
	key, value code
	line       int
}

func (g *gen) constructor(e *constructor) code {
	fields := make([]field, len(e.items))
	var rest codes
	array := e.array
	for i, it := range e.items {
		if it.key == nil && i == len(e.items)-1 && isMulti(it.value) {
			rest = g.multi(it.value)
			fields = fields[:i]
			array--
			break
		}
		fields[i] = field{value: g.expr(it.value), line: it.line}
		if it.key != nil {
			fields[i].key = g.expr(it.key)
		}
	}
	na, nh := rounded(array), rounded(len(e.items)-e.array)
	return func(f *frame) value {
		t := f.th.newTable(na, nh)
		m := f.th.mark()
		if cap(t.array) > 0 || nh > 0 || rest != nil {
			f.th.alloc(1)[0] = t
		}
		f.fill(t, fields, rest)
		f.th.release(m)
		return t
	}
}

// fill sets the fields of a constructor.
func (f *frame) fill(t *table, fields []field, rest codes) {
	done, waiting := 0, f.th.alloc(fieldsPerFlush)[:0]
	for i := range fields {
		it := &fields[i]
		if it.key != nil {
			key := it.key(f)
			f.setIndex(t, key, it.value(f), it.line, nil)
			continue
		}
		if len(waiting) == fieldsPerFlush {
			f.setList(t, done, waiting)
			done += len(waiting)
			waiting = waiting[:0]
		}
		waiting = append(waiting, it.value(f))
	}
	var more []value
	if rest != nil {
		more = rest(f)
	}
	f.setList(t, done, waiting)
	f.setList(t, done+len(waiting), more)
}

func (f *frame) setList(t *table, done int, vs []value) {
	if last := done + len(vs); last > len(t.array) && len(vs) > 0 {
		t.resize(f.th.m, last, t.used())
	}
	for i, v := range vs {
		t.setInt(f.th.m, done+i+1, v)
	}
}

// used is how large the hash is.
func (t *table) used() int { return len(t.nodes) }

// callDepth is what a call adds to the depth of the function's own code.
const callDepth = 4

// cost is what running statements counts for, roughly in instructions.
func cost(body []stat) int64 { return int64(2 + 4*len(body)) }

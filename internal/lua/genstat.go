package lua

import "github.com/firndb/firn/internal/lua/val"

// block runs statements until one ends the block.
func (g *gen) block(body []stat) action {
	all := make([]action, len(body))
	for i, s := range body {
		all[i] = g.stat(s)
	}
	switch len(all) {
	case 0:
		return func(*frame) signal { return signalNone }
	case 1:
		return all[0]
	}
	return func(f *frame) signal {
		for _, do := range all {
			if s := do(f); s != signalNone {
				return s
			}
		}
		return signalNone
	}
}

func (g *gen) stat(s stat) action {
	g.down()
	defer g.up()
	switch s := s.(type) {
	case *localStat:
		return g.localStat(s)
	case *localFunc:
		fn, slot, captured := g.closure(&lambda{s.fn}), s.v.slot, s.v.captured
		return func(f *frame) signal {
			if captured {
				f.regs[slot] = &cell{v: vnil}
			}
			set(f, slot, captured, fn(f))
			return signalNone
		}
	case *assign:
		if len(s.targets) == 1 && len(s.exprs) == 1 {
			return g.assignOne(s.targets[0], s.exprs[0], s.line)
		}
		return g.assign(s)
	case *callStat:
		do := g.callAll(s.c)
		return func(f *frame) signal {
			do(f)
			return signalNone
		}
	case *doStat:
		return g.block(s.body)
	case *whileStat:
		return g.while(s)
	case *repeatStat:
		return g.repeat(s)
	case *ifStat:
		return g.ifStat(s)
	case *forStat:
		return g.numericFor(s)
	case *forInStat:
		return g.genericFor(s)
	case *returnStat:
		return g.returnStat(s)
	}
	return func(*frame) signal { return signalBreak }
}

// set gives a variable that is in scope a value.
func set(f *frame, slot int, captured bool, v value) {
	if captured {
		f.regs[slot].(*cell).v = v
		return
	}
	f.regs[slot] = v
}

// declare gives a variable that comes into scope its first value.
func declare(f *frame, v *localVar, x value) {
	if v.captured {
		f.th.m.charge(cellBytes)
		f.regs[v.slot] = &cell{v: x}
		return
	}
	f.regs[v.slot] = x
}

func (g *gen) localStat(s *localStat) action {
	if len(s.vars) == 1 && len(s.exprs) == 1 {
		v, e := s.vars[0], g.expr(s.exprs[0])
		if !v.captured {
			slot := v.slot
			return func(f *frame) signal {
				f.regs[slot] = e(f)
				return signalNone
			}
		}
		return func(f *frame) signal {
			declare(f, v, e(f))
			return signalNone
		}
	}
	values := g.values(s.exprs, len(s.vars))
	return func(f *frame) signal {
		m := f.th.mark()
		for i, x := range values(f) {
			declare(f, s.vars[i], x)
		}
		f.th.release(m)
		return signalNone
	}
}

// values evaluates expressions and makes them n values, on the stack.
func (g *gen) values(es []expr, n int) codes {
	if len(es) == 0 || len(es) > n || len(es) <= n && !isMulti(es[len(es)-1]) {
		all := g.exprs(es)
		return func(f *frame) []value {
			vs := f.th.alloc(max(n, len(all)))
			for i, e := range all {
				vs[i] = e(f)
			}
			for i := len(all); i < n; i++ {
				vs[i] = vnil
			}
			return vs[:n]
		}
	}
	fixed, rest := g.exprs(es[:len(es)-1]), g.multi(es[len(es)-1])
	return func(f *frame) []value {
		vs := f.th.alloc(n)
		for i, e := range fixed {
			vs[i] = e(f)
		}
		more := copy(vs[len(fixed):], rest(f))
		for i := len(fixed) + more; i < n; i++ {
			vs[i] = vnil
		}
		return vs
	}
}

func (g *gen) assignOne(target, e expr, line int) action {
	v := g.expr(e)
	switch t := target.(type) {
	case *local:
		slot, captured := t.v.slot, t.v.captured
		return func(f *frame) signal {
			set(f, slot, captured, v(f))
			return signalNone
		}
	case *upvalue:
		return func(f *frame) signal {
			x := v(f)
			f.fn.ups[t.i].v = x
			return signalNone
		}
	case *global:
		key := val.String(t.name)
		return func(f *frame) signal {
			f.setIndex(f.fn.globals, key, v(f), line, nil)
			return signalNone
		}
	}
	t := target.(*indexed)
	obj, key := g.expr(t.obj), g.expr(t.key)
	lateObj, lateKey := late(t.obj), late(t.key)
	return func(f *frame) signal {
		m := f.th.mark()
		o := obj(f)
		f.th.alloc(1)[0] = o
		k := key(f)
		x := v(f)
		if lateObj {
			o = obj(f)
		}
		if lateKey {
			k = key(f)
		}
		f.th.release(m)
		f.setIndex(o, k, x, line, t.obj)
		return signalNone
	}
}

// assign evaluates tables and keys, then the values, and then gives them away
// from the last to the first, as Lua does.
func (g *gen) assign(s *assign) action {
	objs, keys := make([]code, len(s.targets)), make([]code, len(s.targets))
	for i, t := range s.targets {
		if t, ok := t.(*indexed); ok {
			objs[i], keys[i] = g.expr(t.obj), g.expr(t.key)
		}
	}
	values := g.values(s.exprs, len(s.targets))
	return func(f *frame) signal {
		m := f.th.mark()
		refs := f.th.alloc(2 * len(objs))
		for i := range objs {
			refs[2*i], refs[2*i+1] = vnil, vnil
		}
		for i := range objs {
			if objs[i] != nil {
				refs[2*i] = objs[i](f)
				refs[2*i+1] = keys[i](f)
			}
		}
		vs := values(f)
		for i := len(vs) - 1; i >= 0; i-- {
			f.store(s.targets[i], refs[2*i], refs[2*i+1], vs[i], s.line)
		}
		f.th.release(m)
		return signalNone
	}
}

func (f *frame) store(target expr, obj, key, v value, line int) {
	switch t := target.(type) {
	case *local:
		set(f, t.v.slot, t.v.captured, v)
	case *upvalue:
		f.fn.ups[t.i].v = v
	case *global:
		f.setIndex(f.fn.globals, val.String(t.name), v, line, nil)
	case *indexed:
		f.setIndex(obj, key, v, line, t.obj)
	}
}

func (g *gen) while(s *whileStat) action {
	is, body, n := g.condition(s.cond), g.block(s.body), cost(s.body)
	return func(f *frame) signal {
		f.line = s.line // where it is, should it be ended in an empty loop
		for is(f) {
			f.th.m.spend(n)
			if s := body(f); s != signalNone {
				if s == signalBreak {
					return signalNone
				}
				return s
			}
		}
		return signalNone
	}
}

func (g *gen) repeat(s *repeatStat) action {
	body, is, n := g.block(s.body), g.condition(s.cond), cost(s.body)
	return func(f *frame) signal {
		f.line = s.line
		for {
			f.th.m.spend(n)
			if s := body(f); s != signalNone {
				if s == signalBreak {
					return signalNone
				}
				return s
			}
			if is(f) {
				return signalNone
			}
		}
	}
}

func (g *gen) ifStat(s *ifStat) action {
	conds, blocks := make([]test, len(s.conds)), make([]action, len(s.conds))
	for i := range s.conds {
		conds[i], blocks[i] = g.condition(s.conds[i]), g.block(s.blocks[i])
	}
	orElse := g.block(s.orElse)
	if len(conds) == 1 {
		is, then := conds[0], blocks[0]
		return func(f *frame) signal {
			if is(f) {
				return then(f)
			}
			return orElse(f)
		}
	}
	return func(f *frame) signal {
		for i, is := range conds {
			if is(f) {
				return blocks[i](f)
			}
		}
		return orElse(f)
	}
}

func (g *gen) numericFor(s *forStat) action {
	start, stop := g.expr(s.start), g.expr(s.stop)
	step := func(*frame) value { return number(1) }
	if s.step != nil {
		step = g.expr(s.step)
	}
	body, n := g.block(s.body), cost(s.body)
	return func(f *frame) signal {
		a, b := start(f), stop(f)
		i, last, by := f.forRange(a, b, step(f), s.line)
		f.line = s.line
		for i = float64(i-by) + by; by > 0 && i <= last || !(by > 0) && last <= i; i += by {
			f.th.m.spend(n)
			declare(f, s.v, number(i))
			if s := body(f); s != signalNone {
				if s == signalBreak {
					return signalNone
				}
				return s
			}
		}
		return signalNone
	}
}

func (f *frame) forRange(a, b, c value, line int) (i, last, step float64) {
	i, ok := numberOf(a)
	if !ok {
		f.fail(line, "'for' initial value must be a number")
	}
	if last, ok = numberOf(b); !ok {
		f.fail(line, "'for' limit must be a number")
	}
	if step, ok = numberOf(c); !ok {
		f.fail(line, "'for' step must be a number")
	}
	return i, last, step
}

func (g *gen) genericFor(s *forInStat) action {
	values, body, n := g.values(s.exprs, 3), g.block(s.body), cost(s.body)
	at := &site{kind: "local", name: "(for generator)", line: s.line}
	return func(f *frame) signal {
		m := f.th.mark()
		copy(f.regs[s.base:], values(f))
		f.th.release(m)
		state := f.regs[s.base : s.base+3]
		for {
			f.th.m.spend(n)
			if !f.iterate(state, s.vars, at) {
				return signalNone
			}
			if s := body(f); s != signalNone {
				if s == signalBreak {
					return signalNone
				}
				return s
			}
		}
	}
}

// iterate calls what a loop iterates, and says whether there was one more.
func (f *frame) iterate(state []value, vars []*localVar, at *site) bool {
	f.line = at.line
	if !isCallable(state[0]) && f.th.s.metamethod(state[0], "__call") == vnil {
		f.typeError(at.line, state[0], "call", nil)
	}
	m := f.th.mark()
	args := f.th.alloc(2)
	args[0], args[1] = state[1], state[2]
	f.th.enterGo()
	r := f.th.call(state[0], args, at)
	f.th.s.nested--
	f.th.release(m)
	if len(r) == 0 || r[0] == vnil {
		return false
	}
	state[2] = r[0]
	for i, v := range vars {
		if i < len(r) {
			declare(f, v, r[i])
		} else {
			declare(f, v, vnil)
		}
	}
	return true
}

func (g *gen) returnStat(s *returnStat) action {
	switch {
	case len(s.exprs) == 0:
		return func(f *frame) signal {
			f.ret = nil
			return signalReturn
		}
	case len(s.exprs) == 1 && !isMulti(s.exprs[0]):
		e := g.expr(s.exprs[0])
		return func(f *frame) signal {
			v := e(f)
			f.buf = append(f.buf[:0], v)
			f.ret = f.buf
			return signalReturn
		}
	case len(s.exprs) == 1:
		if c, ok := s.exprs[0].(*call); ok {
			return g.tail(c)
		}
	}
	values := g.arguments(s.exprs)
	return func(f *frame) signal {
		m := f.th.mark()
		f.buf = append(f.buf[:0], values(f)...)
		f.ret = f.buf
		f.th.release(m)
		return signalReturn
	}
}

package lua

// arguments evaluates what a call passes. The values lie at the top of the
// thread's stack.
func (g *gen) arguments(es []expr) codes {
	if len(es) > 0 && isMulti(es[len(es)-1]) {
		fixed, rest := g.exprs(es[:len(es)-1]), g.multi(es[len(es)-1])
		return func(f *frame) []value {
			vs := f.th.alloc(len(fixed))
			for i, a := range fixed {
				vs[i] = a(f)
			}
			return f.th.extend(vs, rest(f))
		}
	}
	all := g.exprs(es)
	switch len(all) {
	case 0:
		return func(*frame) []value { return nil }
	case 1:
		a := all[0]
		return func(f *frame) []value {
			v := a(f)
			vs := f.th.alloc(1)
			vs[0] = v
			return vs
		}
	}
	return func(f *frame) []value {
		vs := f.th.alloc(len(all))
		for i, a := range all {
			vs[i] = a(f)
		}
		return vs
	}
}

// target evaluates what is called, and the arguments.
func (g *gen) target(c *call) (func(f *frame) (value, []value), *site) {
	at := &site{line: c.line}
	if c.method != "" {
		at.kind, at.name = "method", c.method
		return g.method(c), at
	}
	at.kind, at.name = describe(c.fn)
	fn, args := g.expr(c.fn), g.arguments(c.args)
	return func(f *frame) (value, []value) {
		v := fn(f)
		return v, args(f)
	}, at
}

func (g *gen) method(c *call) func(f *frame) (value, []value) {
	obj := g.expr(c.fn)
	name, hash, key := c.method, hashString(c.method), text(c.method).(constant).v
	get := func(f *frame) (o, fn value) {
		o = obj(f)
		if t, ok := o.(*table); ok {
			if v := t.getHashed(name, hash); v != vnil || t.meta == nil {
				return o, v
			}
		}
		return o, f.index(o, key, c.line, c.fn)
	}
	last := len(c.args)
	var rest codes
	if last > 0 && isMulti(c.args[last-1]) {
		last--
		rest = g.multi(c.args[last])
	}
	args := g.exprs(c.args[:last])
	return func(f *frame) (value, []value) {
		o, fn := get(f)
		vs := f.th.alloc(len(args) + 1)
		vs[0] = o
		for i, a := range args {
			vs[i+1] = a(f)
		}
		if rest != nil {
			vs = f.th.extend(vs, rest(f))
		}
		return fn, vs
	}
}

// callOne is a call as one value.
func (g *gen) callOne(c *call) code {
	g.down()
	defer g.up()
	target, at := g.target(c)
	return func(f *frame) value {
		m := f.th.mark()
		fn, args := target(f)
		f.line = at.line
		r := f.th.call(fn, args, at)
		f.th.release(m)
		if len(r) == 0 {
			return vnil
		}
		return r[0]
	}
}

// callAll is a call as all its values.
func (g *gen) callAll(c *call) codes {
	g.down()
	defer g.up()
	target, at := g.target(c)
	return func(f *frame) []value {
		m := f.th.mark()
		fn, args := target(f)
		f.line = at.line
		r := f.th.call(fn, args, at)
		f.th.release(m)
		return r
	}
}

// tail is a call that ends its function: it takes the function's place.
func (g *gen) tail(c *call) action {
	g.down()
	defer g.up()
	target, at := g.target(c)
	return func(f *frame) signal {
		fn, args := target(f)
		f.line = at.line
		own, ok := fn.(*function)
		if !ok || own.native != nil {
			f.ret = f.th.call(fn, args, at)
			return signalReturn
		}
		f.buf = append(f.buf[:0], args...)
		f.ret, f.tailFn = f.buf, own
		return signalTail
	}
}

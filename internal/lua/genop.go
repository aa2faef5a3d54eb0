package lua

import (
	"github.com/firndb/firn/internal/lua/val"
)

// operands evaluates both sides of an operator, in the order in which Lua
// reads them.
func (g *gen) operands(e *binary) func(f *frame) (a, b value) {
	l, r := g.expr(e.l), g.expr(e.r)
	if late(e.l) {
		return func(f *frame) (a, b value) {
			b = r(f)
			return l(f), b
		}
	}
	return func(f *frame) (a, b value) {
		a = l(f)
		return a, r(f)
	}
}

func (g *gen) binary(e *binary) code {
	switch e.op {
	case '+', '-', '*', '/', '%', '^':
		return g.arithmetic(e)
	}
	is := g.compare(e)
	return func(f *frame) value { return boolean(is(f)) }
}

var events = map[int]string{'+': "__add", '-': "__sub", '*': "__mul", '/': "__div", '%': "__mod", '^': "__pow"}

// arithmetic is an operator on numbers. What is not quick is for slow.
func (g *gen) arithmetic(e *binary) code {
	slow := func(f *frame, a, b value) value { return f.arithmetic(e, a, b) }
	if c, ok := e.r.(constant); ok {
		if k, ok := c.v.(val.Number); ok && (e.op == '+' || e.op == '-') {
			return g.addConstant(e, k, slow)
		}
	}
	both := g.operands(e)
	switch e.op {
	case '+':
		return func(f *frame) value {
			a, b := both(f)
			if x, ok := a.(val.Number); ok {
				if y, ok := b.(val.Number); ok {
					return number(float64(x + y))
				}
			}
			return slow(f, a, b)
		}
	case '-':
		return func(f *frame) value {
			a, b := both(f)
			if x, ok := a.(val.Number); ok {
				if y, ok := b.(val.Number); ok {
					return number(float64(x - y))
				}
			}
			return slow(f, a, b)
		}
	case '*':
		return func(f *frame) value {
			a, b := both(f)
			if x, ok := a.(val.Number); ok {
				if y, ok := b.(val.Number); ok {
					return number(float64(x * y))
				}
			}
			return slow(f, a, b)
		}
	}
	return func(f *frame) value {
		a, b := both(f)
		return slow(f, a, b)
	}
}

func (g *gen) addConstant(e *binary, k val.Number, slow func(f *frame, a, b value) value) code {
	l, boxed := g.expr(e.l), g.constant(k)
	k = boxed.(val.Number)
	if e.op == '-' {
		k = -k
	}
	return func(f *frame) value {
		a := l(f)
		if x, ok := a.(val.Number); ok {
			return number(float64(x + k))
		}
		return slow(f, a, boxed)
	}
}

// arithmetic does what needs conversions or metamethods.
func (f *frame) arithmetic(e *binary, a, b value) value {
	x, okX := numberOf(a)
	if okX {
		if y, ok := numberOf(b); ok {
			return number(compute(e.op, x, y))
		}
	}
	if v, ok := f.binaryMeta(events[e.op], a, b, e.line); ok {
		return v
	}
	if okX {
		f.typeError(e.line, b, "perform arithmetic on", e.r)
	}
	f.typeError(e.line, a, "perform arithmetic on", e.l)
	return nil
}

// compare is a comparison as a condition. a > b is b < a, as in Lua.
func (g *gen) compare(e *binary) test {
	both, line := g.operands(e), e.line
	switch e.op {
	case tEq:
		return func(f *frame) bool {
			a, b := both(f)
			return f.equal(a, b, line)
		}
	case tNe:
		return func(f *frame) bool {
			a, b := both(f)
			return !f.equal(a, b, line)
		}
	case '<':
		return func(f *frame) bool {
			a, b := both(f)
			return f.less(a, b, line)
		}
	case '>':
		return func(f *frame) bool {
			a, b := both(f)
			return f.less(b, a, line)
		}
	case tLe:
		return func(f *frame) bool {
			a, b := both(f)
			return f.lessEqual(a, b, line)
		}
	}
	return func(f *frame) bool {
		a, b := both(f)
		return f.lessEqual(b, a, line)
	}
}

// condition is an expression as a condition.
func (g *gen) condition(e expr) test {
	g.down()
	defer g.up()
	switch e := e.(type) {
	case *binary:
		switch e.op {
		case tEq, tNe, '<', '>', tLe, tGe:
			return g.compare(e)
		}
	case *unary:
		if e.op == opNot {
			is := g.condition(e.e)
			return func(f *frame) bool { return !is(f) }
		}
	case *logic:
		l, r := g.condition(e.l), g.condition(e.r)
		if e.and {
			return func(f *frame) bool { return l(f) && r(f) }
		}
		return func(f *frame) bool { return l(f) || r(f) }
	}
	v := g.expr(e)
	return func(f *frame) bool { return truth(v(f)) }
}

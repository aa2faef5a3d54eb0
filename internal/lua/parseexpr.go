package lua

import "github.com/firndb/firn/internal/lua/val"

// Operators that are no token of their own.
const opMinus, opNot, opLen = '-', tNot, '#'

// priority of a binary operator, to its left and to its right. The left one
// is 0 for what is none.
func priority(kind int) (left, right int) {
	switch kind {
	case '+', '-':
		return 6, 6
	case '*', '/', '%':
		return 7, 7
	case '^':
		return 10, 9
	case tConcat:
		return 5, 4
	case tNe, tEq, '<', tLe, '>', tGe:
		return 3, 3
	case tAnd:
		return 2, 2
	case tOr:
		return 1, 1
	}
	return 0, 0
}

const unaryPriority = 8

func (p *parser) expressions() []expr {
	all := []expr{p.expression()}
	for p.test(',') {
		p.pending++
		checkRegisters(p)
		all = append(all, p.expression())
	}
	p.pending -= len(all) - 1
	return all
}

// reserve notes n values that wait in registers for the rest of a statement.
func (p *parser) reserve(n int) {
	p.pending += n
	checkRegisters(p)
}

// checkRegisters refuses what would need more registers than Lua has.
func checkRegisters(p *parser) {
	if len(p.fn.active)+p.pending >= maxRegs {
		p.failHere("function or expression too complex")
	}
}

func (p *parser) expression() expr { return p.operators(0) }

// operators reads operands and operators that bind tighter than limit.
func (p *parser) operators(limit int) (e expr) {
	p.enter()
	chain := p.chain
	switch op := p.tok.kind; op {
	case opMinus, opNot, opLen:
		p.next()
		operand := p.operators(unaryPriority)
		e = p.unary(op, operand)
	default:
		e = p.simple()
	}
	for {
		op := p.tok.kind
		left, right := priority(op)
		if left <= limit {
			break
		}
		lengthen(p)
		p.next()
		r := p.operators(right)
		e = p.binary(op, e, r)
	}
	p.chain = chain
	p.leave()
	return e
}

func (p *parser) unary(op int, e expr) expr {
	if n, ok := numeral(e); ok && op == opMinus {
		return constantNumber(-n)
	}
	return &unary{op, e, p.lastLine}
}

func (p *parser) binary(op int, l, r expr) expr {
	switch op {
	case tAnd, tOr:
		if c, ok := l.(constant); ok && truth(c.v) == (op == tAnd) {
			return &paren{r} // Lua makes no code for the other side
		}
		return &logic{op == tAnd, l, r}
	case tConcat:
		if c, ok := r.(*concat); ok {
			c.parts = append([]expr{l}, c.parts...)
			return c
		}
		return &concat{[]expr{l, r}, p.lastLine}
	}
	if v, ok := fold(op, l, r); ok {
		return v
	}
	return &binary{op, l, r, p.lastLine}
}

// fold computes what Lua computes when it compiles.
func fold(op int, l, r expr) (expr, bool) {
	x, ok := numeral(l)
	if !ok {
		return nil, false
	}
	y, ok := numeral(r)
	if !ok || (op == '/' || op == '%') && y == 0 {
		return nil, false
	}
	switch op {
	case '+', '-', '*', '/', '%', '^':
		v := compute(op, x, y)
		return constantNumber(v), v == v
	}
	return nil, false
}

func numeral(e expr) (float64, bool) {
	if c, ok := e.(constant); ok {
		if n, ok := c.v.(val.Number); ok {
			return float64(n), true
		}
	}
	return 0, false
}

func (p *parser) simple() expr {
	switch p.tok.kind {
	case tNumber:
		n := p.tok.n
		p.next()
		return constantNumber(n)
	case tString:
		s := p.tok.text
		p.next()
		return text(s)
	case tNil:
		p.next()
		return constant{vnil}
	case tTrue:
		p.next()
		return constant{val.True}
	case tFalse:
		p.next()
		return constant{val.False}
	case tDots:
		if !p.fn.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		p.fn.bare = true
		p.next()
		return varargs{}
	case '{':
		return p.constructor()
	case tFunction:
		p.next()
		return &lambda{p.function(p.line, false)}
	}
	return p.suffixed()
}

func (p *parser) constructor() expr {
	line := p.line
	t := &constructor{line: line}
	p.expect('{')
	for p.tok.kind != '}' {
		t.items = append(t.items, p.item())
		if t.items[len(t.items)-1].key == nil {
			t.array++
		}
		if !p.test(',') && !p.test(';') {
			break
		}
	}
	p.match('}', '{', line)
	return t
}

func (p *parser) item() item {
	switch p.tok.kind {
	case tName:
		if p.lookAhead() == '=' {
			key := text(p.ident())
			p.next()
			return item{key, p.expression(), p.lastLine}
		}
	case '[':
		p.next()
		key := p.expression()
		p.expect(']')
		p.expect('=')
		return item{key, p.expression(), p.lastLine}
	}
	return item{nil, p.expression(), p.lastLine}
}

// suffixed reads a variable or a parenthesis with what follows it.
func (p *parser) suffixed() (e expr) {
	chain := p.chain
	switch p.tok.kind {
	case '(':
		line := p.line
		p.next()
		e = p.expression()
		p.match(')', '(', line)
		if _, and := e.(*logic); isMulti(e) || and || isVariable(e) || isConcat(e) {
			e = &paren{e}
		}
	case tName:
		e = p.variable(p.ident())
	default:
		p.failHere("unexpected symbol")
	}
	for {
		lengthen(p)
		switch p.tok.kind {
		case '.':
			p.next()
			e = &indexed{e, text(p.ident()), p.lastLine}
		case '[':
			p.next()
			key := p.expression()
			p.expect(']')
			e = &indexed{e, key, p.lastLine}
		case ':':
			p.next()
			e = p.call(e, p.ident())
		case '(', tString, '{':
			e = p.call(e, "")
		default:
			p.chain = chain
			return e
		}
	}
}

// isVariable says whether an expression could be assigned to, which one in
// parentheses cannot.
func isVariable(e expr) bool {
	switch e.(type) {
	case *local, *upvalue, *global, *indexed:
		return true
	}
	return false
}

func isConcat(e expr) bool {
	_, ok := e.(*concat)
	return ok
}

func (p *parser) call(fn expr, method string) expr {
	c := &call{fn: fn, method: method, line: p.line}
	held := p.pending
	p.reserve(1)
	switch p.tok.kind {
	case '(':
		if p.line != p.lastLine {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.tok.kind != ')' {
			c.args = p.expressions()
		}
		p.match(')', '(', c.line)
	case '{':
		c.args = []expr{p.constructor()}
	case tString:
		c.args = []expr{text(p.tok.text)}
		p.next()
	default:
		p.failHere("function arguments expected")
	}
	p.reserve(len(c.args))
	p.pending = held
	return c
}

// variable resolves a name.
func (p *parser) variable(name string) expr {
	if v := p.fn.find(name); v != nil {
		return &local{v}
	}
	if i := p.capture(p.fn, name); i >= 0 {
		return &upvalue{i, name}
	}
	return &global{name, p.lastLine}
}

// capture is the upvalue of a function that stands for a variable around it,
// or -1.
func (p *parser) capture(fn *funcNode, name string) int {
	for i := range fn.ups {
		if fn.ups[i].name == name {
			return i
		}
	}
	if fn.parent == nil {
		return -1
	}
	up := upvalueOf{name: name, local: fn.parent.find(name), up: -1}
	if up.local == nil {
		if up.up = p.capture(fn.parent, name); up.up < 0 {
			return -1
		}
	} else {
		up.local.captured = true
	}
	upvalueLimit(p, fn)
	fn.ups = append(fn.ups, up)
	return len(fn.ups) - 1
}

func upvalueLimit(p *parser, fn *funcNode) {
	now := p.fn
	p.fn = fn
	p.limit(len(fn.ups)+1, maxUpvalues, "upvalues")
	p.fn = now
}

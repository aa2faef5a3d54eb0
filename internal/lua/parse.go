package lua

import (
	"fmt"

	"github.com/firndb/firn/internal/lua/val"
)

// Limits of a program's text: Lua's own, but for the chain, which is ours:
// Lua reads operators of one priority in a loop, and a tree of them is as deep
// as they are many.
const (
	maxLevels   = 200
	maxLocals   = 200
	maxUpvalues = 60
	maxRegs     = 250
	maxChain    = 20000
)

// parser reads a program by recursive descent, as Lua 5.1 reads it: its errors
// are Lua's, and nesting is bounded as there.
type parser struct {
	lexer
	fn     *funcNode
	levels int
	// pending is how many values wait in registers, in Lua.
	pending int
	chain   int
}

func (p *parser) enter() {
	if p.levels++; p.levels > maxLevels {
		p.fail("chunk has too many syntax levels", 0)
	}
}

func (p *parser) leave() { p.levels-- }

// lengthen notes one more link of a chain of operators or calls.
func lengthen(p *parser) {
	if p.chain++; p.chain > maxChain {
		p.fail("chunk has too many syntax levels", 0)
	}
}

func (p *parser) limit(n, most int, what string) {
	if n <= most {
		return
	}
	if p.fn.line == 0 {
		p.fail(fmt.Sprintf("main function has more than %d %s", most, what), 0)
	}
	p.fail(fmt.Sprintf("function at line %d has more than %d %s", p.fn.line, most, what), 0)
}

func (p *parser) test(kind int) bool {
	if p.tok.kind == kind {
		p.next()
		return true
	}
	return false
}

func (p *parser) expected(kind int) { p.failHere("'" + tokenName(kind) + "' expected") }

func (p *parser) expect(kind int) {
	if !p.test(kind) {
		p.expected(kind)
	}
}

// match expects the token that closes another one.
func (p *parser) match(what, who, line int) {
	if p.test(what) {
		return
	}
	if line == p.line {
		p.expected(what)
	}
	p.failHere(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", tokenName(what), tokenName(who), line))
}

func (p *parser) ident() string {
	if p.tok.kind != tName {
		p.expected(tName)
	}
	name := p.tok.text
	p.next()
	return name
}

// declare makes variables, not in scope yet. Before is how many of the same
// statement there are already.
func (p *parser) declare(name string, before int) *localVar {
	p.limit(len(p.fn.active)+before+1, maxLocals, "local variables")
	return &localVar{name: name}
}

func (p *parser) scope(vars ...*localVar) {
	for _, v := range vars {
		v.slot = len(p.fn.active)
		p.fn.active = append(p.fn.active, v)
	}
	p.fn.slots = max(p.fn.slots, len(p.fn.active))
}

func (p *parser) function(line int, method bool) *funcNode {
	fn := &funcNode{parent: p.fn, line: line}
	held := p.pending
	p.fn, p.pending = fn, 0
	p.expect('(')
	if method {
		addParam(p, "self")
	}
	p.parameters()
	p.scope(fn.params...)
	if fn.vararg {
		fn.argVar = p.declare("arg", 0)
		p.scope(fn.argVar)
	}
	p.expect(')')
	fn.body = p.chunk()
	p.match(tEnd, tFunction, line)
	p.fn, p.pending = fn.parent, held
	return fn
}

func addParam(p *parser, name string) {
	p.fn.params = append(p.fn.params, p.declare(name, len(p.fn.params)))
}

func (p *parser) parameters() {
	if p.tok.kind == ')' {
		return
	}
	for {
		switch p.tok.kind {
		case tName:
			addParam(p, p.ident())
		case tDots:
			p.next()
			p.fn.vararg = true
			return
		default:
			p.failHere("<name> or '...' expected")
		}
		if !p.test(',') {
			return
		}
	}
}

// blockFollows says whether the token ends a block.
func blockFollows(kind int) bool {
	switch kind {
	case tElse, tElseif, tEnd, tUntil, tEOS:
		return true
	}
	return false
}

func (p *parser) chunk() (body []stat) {
	p.enter()
	for last := false; !last && !blockFollows(p.tok.kind); {
		var s stat
		s, last = p.statement()
		body = append(body, s)
		p.test(';')
	}
	p.leave()
	return body
}

// block is a chunk with a scope of its own.
func (p *parser) block() []stat {
	scope := len(p.fn.active)
	body := p.chunk()
	p.fn.active = p.fn.active[:scope]
	return body
}

func (p *parser) loopBlock() []stat {
	p.fn.loops++
	body := p.block()
	p.fn.loops--
	return body
}

// statement reads one; last says that none may follow it.
func (p *parser) statement() (s stat, last bool) {
	line := p.line
	switch p.tok.kind {
	case tIf:
		return p.ifStatement(line), false
	case tWhile:
		p.next()
		cond := readCondition(p)
		p.expect(tDo)
		body := p.loopBlock()
		p.match(tEnd, tWhile, line)
		return &whileStat{cond, body, line}, false
	case tDo:
		p.next()
		body := p.block()
		p.match(tEnd, tDo, line)
		return &doStat{body}, false
	case tFor:
		return p.forStatement(line), false
	case tRepeat:
		return p.repeatStatement(line), false
	case tFunction:
		return p.functionStatement(line), false
	case tLocal:
		p.next()
		if p.test(tFunction) {
			v := p.declare(p.ident(), 0)
			p.scope(v)
			return &localFunc{v, p.function(p.line, false)}, false
		}
		return p.localStatement(), false
	case tReturn:
		return p.returnStatement(), true
	case tBreak:
		p.next()
		if p.fn.loops == 0 {
			p.failHere("no loop to break")
		}
		return breakStat{}, true
	}
	return p.expressionStatement(), false
}

func readCondition(p *parser) expr { return p.expression() }

func (p *parser) ifStatement(line int) stat {
	s := &ifStat{}
	for first := true; first || p.tok.kind == tElseif; first = false {
		p.next()
		s.conds = append(s.conds, readCondition(p))
		p.expect(tThen)
		s.blocks = append(s.blocks, p.block())
	}
	if p.test(tElse) {
		s.orElse = p.block()
	}
	p.match(tEnd, tIf, line)
	return s
}

func (p *parser) repeatStatement(line int) stat {
	p.next()
	scope := len(p.fn.active)
	p.fn.loops++
	body := p.chunk()
	p.match(tUntil, tRepeat, line)
	cond := readCondition(p)
	p.fn.loops--
	p.fn.active = p.fn.active[:scope]
	return &repeatStat{body, cond, line}
}

func (p *parser) forStatement(line int) (s stat) {
	p.next()
	scope := len(p.fn.active)
	name := p.ident()
	switch p.tok.kind {
	case '=':
		s = readNumericFor(p, name, line)
	case ',', tIn:
		s = readGenericFor(p, name, line)
	default:
		p.failHere("'=' or 'in' expected")
	}
	p.match(tEnd, tFor, line)
	p.fn.active = p.fn.active[:scope]
	return s
}

// hiddenVars makes the variables of a loop that have no name.
func hiddenVars(p *parser, names ...string) (vars []*localVar) {
	for i, name := range names {
		vars = append(vars, p.declare(name, i))
	}
	return vars
}

func readNumericFor(p *parser, name string, line int) stat {
	s := &forStat{}
	hidden := hiddenVars(p, "(for index)", "(for limit)", "(for step)")
	s.v = p.declare(name, 3)
	p.next()
	s.start = p.expression()
	p.expect(',')
	s.stop = p.expression()
	if p.test(',') {
		s.step = p.expression()
	}
	p.scope(hidden...)
	p.expect(tDo)
	s.line = p.lastLine // where Lua checks the numbers
	p.scope(s.v)
	s.body = p.loopBlock()
	return s
}

func readGenericFor(p *parser, name string, line int) stat {
	s := &forInStat{}
	hidden := hiddenVars(p, "(for generator)", "(for state)", "(for control)")
	s.vars = append(s.vars, p.declare(name, 3))
	for p.test(',') {
		s.vars = append(s.vars, p.declare(p.ident(), 3+len(s.vars)))
	}
	p.expect(tIn)
	s.line = p.line
	s.exprs = p.expressions()
	p.scope(hidden...)
	s.base = hidden[0].slot
	p.expect(tDo)
	p.scope(s.vars...)
	s.body = p.loopBlock()
	return s
}

func (p *parser) functionStatement(line int) stat {
	p.next()
	target := p.variable(p.ident())
	method := false
	for p.tok.kind == '.' || p.tok.kind == ':' {
		method = p.tok.kind == ':'
		p.next()
		target = &indexed{target, text(p.ident()), p.lastLine}
		if method {
			break
		}
	}
	fn := p.function(line, method)
	return &assign{[]expr{target}, []expr{&lambda{fn}}, line}
}

func (p *parser) localStatement() stat {
	s := &localStat{}
	for {
		s.vars = append(s.vars, p.declare(p.ident(), len(s.vars)))
		if !p.test(',') {
			break
		}
	}
	if p.test('=') {
		s.exprs = p.expressions()
	}
	s.line = p.lastLine
	p.scope(s.vars...)
	return s
}

func (p *parser) returnStatement() stat {
	p.next()
	s := &returnStat{}
	if !blockFollows(p.tok.kind) && p.tok.kind != ';' {
		s.exprs = p.expressions()
		p.reserve(len(s.exprs))
		p.pending -= len(s.exprs)
	}
	s.line = p.lastLine
	return s
}

func (p *parser) expressionStatement() stat {
	e := p.suffixed()
	if c, ok := e.(*call); ok {
		return &callStat{c}
	}
	s := &assign{}
	for {
		switch e.(type) {
		case *local, *upvalue, *global, *indexed:
		default:
			p.failHere("syntax error")
		}
		s.targets = append(s.targets, e)
		if !p.test(',') {
			break
		}
		e = p.suffixed()
		p.limit(len(s.targets), maxLevels-p.levels, "variables in assignment")
	}
	p.expect('=')
	s.exprs = p.expressions()
	s.line = p.lastLine
	return s
}

func constantNumber(n float64) expr { return constant{val.Number(n)} }

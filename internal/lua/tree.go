package lua

import "github.com/firndb/firn/internal/lua/val"

// The tree of a program. Names are resolved while it is read.

// expr is an expression: one of the types below.
type expr interface{}

type (
	constant struct{ v value }
	varargs  struct{}
	local    struct{ v *localVar }
	upvalue  struct {
		i    int
		name string
	}
	global struct {
		name string
		line int
	}
	indexed struct {
		obj, key expr
		line     int
	}
	call struct {
		fn     expr // or the receiver of method
		method string
		args   []expr
		line   int
	}
	paren  struct{ e expr } // cuts to one value
	lambda struct{ fn *funcNode }
	binary struct {
		op   int
		l, r expr
		line int
	}
	concat struct {
		parts []expr
		line  int
	}
	unary struct {
		op   int
		e    expr
		line int
	}
	logic struct {
		and  bool
		l, r expr
	}
	constructor struct {
		items []item
		array int // how many items have no key
		line  int
	}
	item struct {
		key, value expr // key nil: the next of the array
		line       int
	}
)

// stat is a statement: one of the types below.
type stat interface{}

type (
	localStat struct {
		vars  []*localVar
		exprs []expr
		line  int
	}
	localFunc struct {
		v  *localVar
		fn *funcNode
	}
	assign struct {
		targets []expr
		exprs   []expr
		line    int
	}
	callStat  struct{ c *call }
	doStat    struct{ body []stat }
	whileStat struct {
		cond expr
		body []stat
		line int
	}
	repeatStat struct {
		body []stat
		cond expr
		line int
	}
	ifStat struct {
		conds  []expr
		blocks [][]stat
		orElse []stat
	}
	forStat struct {
		v                 *localVar
		start, stop, step expr
		body              []stat
		line              int
	}
	forInStat struct {
		vars  []*localVar
		exprs []expr
		base  int // the slot of what is iterated
		body  []stat
		line  int
	}
	returnStat struct {
		exprs []expr
		line  int
	}
	breakStat struct{}
)

// localVar is a local variable. Its slot is its own while it is in scope.
type localVar struct {
	name     string
	slot     int
	captured bool // by an inner function: the slot holds a cell
}

// upvalueOf says where a function finds a variable when it is made.
type upvalueOf struct {
	name  string
	local *localVar // of the function around it, or else
	up    int       // that function's upvalue
}

// funcNode is a function of the tree, and the state of reading it.
type funcNode struct {
	parent *funcNode
	params []*localVar
	vararg bool
	argVar *localVar // "arg", if the function has one
	bare   bool      // "..." is used, so "arg" stays nil
	body   []stat
	line   int // where it is defined; 0: the program itself
	slots  int
	ups    []upvalueOf
	active []*localVar
	loops  int
}

func (fn *funcNode) find(name string) *localVar {
	for i := len(fn.active) - 1; i >= 0; i-- {
		if fn.active[i].name == name {
			return fn.active[i]
		}
	}
	return nil
}

// isMulti says whether an expression may be any number of values.
func isMulti(e expr) bool {
	switch e.(type) {
	case *call, varargs:
		return true
	}
	return false
}

func text(s string) expr { return constant{val.String(s)} }

package lua

import (
	"fmt"

	"github.com/firndb/firn/internal/lua/unwind"
	"github.com/firndb/firn/internal/lua/val"
)

// raisedError is what a program's error panics with.
type raisedError struct {
	value value
	frame place // where it was raised, for who reports it
	known bool
}

// place is a line of a program.
type place struct {
	source string
	line   int
}

// killed is what panics when a program has to end, whatever it catches.
type killed struct{ err error }

const errorInHandler = "error in error handling"

// throw raises a value.
func (th *thread) throw(v value) {
	unwind.Throw(&raisedError{value: v})
}

// errorf raises a message at the line that runs: with a position when that is
// a line of a program.
func (th *thread) errorf(format string, args ...any) {
	th.throw(val.String(th.where(0) + fmt.Sprintf(format, args...)))
}

// libError raises a message of a function of the library, at its caller.
func (th *thread) libError(format string, args ...any) {
	th.throw(val.String(th.where(1) + fmt.Sprintf(format, args...)))
}

// fail raises a message at a line of the function.
func (f *frame) fail(line int, format string, args ...any) {
	f.line = line
	f.th.errorf(format, args...)
}

// argError says that argument n, from 1, is wrong.
func (th *thread) argError(n int, msg string) {
	name := "?"
	f := th.current()
	if f.site != nil && f.site.name != "" {
		name = f.site.name
		if f.site.kind == "method" {
			if n--; n == 0 {
				th.libError("calling '%s' on bad self (%s)", name, msg)
			}
		}
	}
	th.libError("bad argument #%d to '%s' (%s)", n, name, msg)
}

func (th *thread) typeArgError(args []value, n int, want string) {
	got := "no value"
	if n <= len(args) {
		got = typeName(args[n-1])
	}
	th.argError(n, want+" expected, got "+got)
}

// describe is the name of what an expression reads, as errors say it.
func describe(e expr) (kind, name string) {
	switch e := e.(type) {
	case *local:
		return "local", e.v.name
	case *upvalue:
		return "upvalue", e.name
	case *global:
		return "global", e.name
	case *indexed:
		if c, ok := e.key.(constant); ok {
			if s, ok := c.v.(val.String); ok {
				return "field", cString([]byte(s))
			}
		}
		return "field", "?"
	case *paren:
		return describe(e.e)
	}
	return "", ""
}

func typeErrorText(v value, op, kind, name string) string {
	if name == "" {
		return "attempt to " + op + " a " + typeName(v) + " value"
	}
	return "attempt to " + op + " " + kind + " '" + name + "' (a " + typeName(v) + " value)"
}

// typeError says that an operation is not for a value, which the expression
// gave.
func (f *frame) typeError(line int, v value, op string, e expr) {
	kind, name := describe(e)
	f.fail(line, "%s", typeErrorText(v, op, kind, name))
}

func (th *thread) typeErrorAt(v value, op string, at *site) {
	kind, name := "", ""
	if at != nil {
		kind, name = at.kind, at.name
	}
	th.errorf("%s", typeErrorText(v, op, kind, name))
}

func (f *frame) compareError(line int, a, b value) {
	if x, y := typeName(a), typeName(b); x != y {
		f.fail(line, "attempt to compare %s with %s", x, y)
	}
	f.fail(line, "attempt to compare two %s values", typeName(a))
}

// origin is where an error was raised: the newest function, or its caller when
// that is none of the program.
func (th *thread) origin() place {
	for level := range 2 {
		f := th.level(level)
		if f == nil {
			return place{"=(tail call)", -1}
		}
		if f.fn.native == nil {
			return place{f.fn.proto.source, f.line}
		}
	}
	return place{"=[C]", -1}
}

// protected calls a function and catches what it raises. The results are
// borrowed.
func (th *thread) protected(fn value, args []value, handler value) (r []value, raised *raisedError) {
	depth, m, nested, deep := th.depth, th.mark(), th.s.nested, th.deep
	defer func() {
		panicked := recover()
		switch e := panicked.(type) {
		case nil:
		case *raisedError:
			th.deep = deep
			if handler != nil {
				e = th.handle(e, handler)
			}
			raised = e
			th.depth, th.s.nested = depth, nested
			th.release(m)
		default:
			panic(panicked)
		}
	}()
	return th.nested(fn, args), nil
}

// handle gives an error to a handler, which runs where the error was raised.
func (th *thread) handle(e *raisedError, handler value) (handled *raisedError) {
	th.s.slack += handlerCalls
	defer func() {
		th.s.slack -= handlerCalls
		panicked := recover()
		switch panicked.(type) {
		case nil:
		case *raisedError:
			handled = &raisedError{value: val.String(errorInHandler)}
		default:
			panic(panicked)
		}
	}()
	if typeName(handler) != "function" {
		return &raisedError{value: val.String(errorInHandler)}
	}
	return &raisedError{value: th.first(handler, e.value)}
}

// Lengths of chunkID: of errors of the compiler, and of a running program.
const (
	maxSyntaxID = 80
	maxID       = 60
)

// chunkID is how errors call a program: @name and =name are names, and what is
// neither is the text itself.
func chunkID(source string, most int) string {
	source = cString([]byte(source))
	if source == "" {
		return `[string ""]`
	}
	switch source[0] {
	case '=':
		return source[1:min(len(source), most)]
	case '@':
		name := source[1:]
		if len(name) > most-8 {
			name = "..." + name[len(name)-(most-8):]
		}
		return name
	}
	line := source
	for i := range len(line) {
		if line[i] == '\n' || line[i] == '\r' {
			line = line[:i]
			break
		}
	}
	room := most - len(` [string "..."] `) - 1
	if len(line) < len(source) || len(line) > room {
		return `[string "` + line[:min(len(line), room)] + `..."]`
	}
	return `[string "` + line + `"]`
}

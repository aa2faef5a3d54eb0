package luatest

import (
	"testing"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/val"
)

// Program is a compiled program, for fuzzing.
type Program struct {
	state *lua.State
	chunk *lua.Chunk
}

// NewProgram compiles the body of a function.
func NewProgram(t testing.TB, body string) *Program {
	t.Helper()
	chunk, err := lua.Compile("fuzz", body)
	if err != nil {
		t.Fatal(err)
	}
	return &Program{state: lua.New(nil), chunk: chunk}
}

// maxSteps bounds a run: what reads a few kilobytes needs far less.
const maxSteps = 50_000_000

// Run runs the program and returns its result. Any error fails the test: those
// of Lua are for the program to catch.
func (p *Program) Run(t testing.TB, args ...val.Value) val.Value {
	t.Helper()
	v, err := p.state.Call(p.state.Load(p.chunk), &lua.Guard{Steps: maxSteps}, args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return v
}

package lua

import (
	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/bit"
	"github.com/firndb/firn/internal/lua/cmsgpack"
	"github.com/firndb/firn/internal/lua/structs"
)

// hidden are the names of the base library that Redis does not have.
var hidden = []string{"dofile", "loadfile", "module", "require", "newproxy", "print", "_printregs", "getfenv", "setfenv", "_GOPHER_LUA_VERSION"}

func (s *State) openLibraries() {
	for _, open := range []glua.LGFunction{glua.OpenBase, glua.OpenTable, glua.OpenString, glua.OpenMath, glua.OpenCoroutine} {
		s.l.Push(s.l.NewFunction(open))
		s.l.Call(0, 0)
	}
	s.l.SetTop(0)
	for _, name := range hidden {
		s.globals.RawSetString(name, glua.LNil)
	}
	s.globals.RawSetString("_VERSION", glua.LString("Lua 5.1"))
	s.globals.RawSetString("bit", arg.OpenGopher(s.l, bit.Library()))
	s.globals.RawSetString("cjson", arg.OpenGopher(s.l, s.json.Library()))
	s.globals.RawSetString("cmsgpack", arg.OpenGopher(s.l, cmsgpack.Library()))
	s.globals.RawSetString("struct", arg.OpenGopher(s.l, structs.Library()))
	s.replace("pairs", s.pairs)
	s.replace("next", s.next)
	s.replace("rawget", s.rawget)
	s.replace("rawset", s.rawset)
	s.replace("setmetatable", s.setmetatable)
}

func (s *State) replace(name string, fn glua.LGFunction) {
	s.globals.RawSetString(name, s.l.NewFunction(fn))
}

func (s *State) next(l *glua.LState) int {
	t := s.through(l.CheckTable(1))
	key, v := t.Next(l.Get(2))
	if key == glua.LNil {
		l.Push(glua.LNil)
		return 1
	}
	l.Push(key)
	l.Push(v)
	return 2
}

func (s *State) pairs(l *glua.LState) int {
	t := l.CheckTable(1)
	l.Push(s.globals.RawGetString("next"))
	l.Push(t)
	l.Push(glua.LNil)
	return 3
}

func (s *State) rawget(l *glua.LState) int {
	l.Push(s.through(l.CheckTable(1)).RawGet(l.CheckAny(2)))
	return 1
}

func (s *State) rawset(l *glua.LState) int {
	t := l.CheckTable(1)
	if s.behind[t] != nil {
		l.RaiseError(readonly)
	}
	l.RawSet(t, l.CheckAny(2), l.CheckAny(3))
	l.SetTop(1)
	return 1
}

func (s *State) setmetatable(l *glua.LState) int {
	t := l.CheckTable(1)
	if s.behind[t] != nil {
		l.RaiseError(readonly)
	}
	l.SetMetatable(t, l.Get(2))
	l.SetTop(1)
	return 1
}

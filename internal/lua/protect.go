package lua

import glua "github.com/yuin/gopher-lua"

// readonly is what Redis answers who changes a protected table.
const readonly = "Attempt to modify a readonly table"

func refuseChange(l *glua.LState) int {
	l.RaiseError(readonly)
	return 0
}

// Protect returns the same as a table that scripts cannot change: an empty
// table that reads through to t.
func (s *State) Protect(t *glua.LTable) *glua.LTable {
	front := s.l.NewTable()
	meta := s.l.NewTable()
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", s.l.NewFunction(refuseChange))
	meta.RawSetString("__metatable", glua.LFalse)
	front.Metatable = meta
	s.behind[front] = t
	return front
}

// through is the table that holds what t shows.
func (s *State) through(t *glua.LTable) *glua.LTable {
	if real, ok := s.behind[t]; ok {
		return real
	}
	return t
}

// seal puts all tables that there are behind their protection.
func (s *State) seal() {
	s.globals.ForEach(func(name, v glua.LValue) {
		if t, ok := v.(*glua.LTable); ok && s.behind[t] == nil && t != s.globals {
			s.globals.RawSet(name, s.Protect(t))
		}
	})
	s.env = s.Protect(s.globals)
	s.globals.RawSetString("_G", s.env)
	missing := s.l.NewTable()
	missing.RawSetString("__index", s.l.NewFunction(missingGlobal))
	s.globals.Metatable = missing
	s.l.Env = s.env
}

func missingGlobal(l *glua.LState) int {
	switch l.Get(2).(type) {
	case glua.LString, glua.LNumber:
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
	default:
		l.RaiseError("Second argument to luaProtectedTableError must be a string or number")
	}
	return 0
}

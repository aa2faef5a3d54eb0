package scripting

import (
	"errors"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/resp"
	glua "github.com/yuin/gopher-lua"
)

// openRedis makes the table redis of a state, whose functions work on what r
// runs at the time.
func openRedis(s *lua.State, r *Run) {
	L := s.L()
	t := L.NewTable()
	L.SetFuncs(t, map[string]glua.LGFunction{
		"call":  func(L *glua.LState) int { return redisCall(L, r, true) },
		"pcall": func(L *glua.LState) int { return redisCall(L, r, false) },
	})
	s.SetGlobal("redis", s.Protect(t))
}

// redisCall is redis.call and redis.pcall.
func redisCall(L *glua.LState, r *Run, raises bool) int {
	words := r.wordsOf(L)
	reply, err := r.do(words)
	if r.ended != nil {
		L.RaiseError("%s", r.ended.Error())
	}
	if err != nil {
		t := L.NewTable()
		t.RawSetString("err", glua.LString(err.Error()))
		if raises {
			L.Error(t, 1)
		}
		L.Push(t)
		return 1
	}
	value, _ := valueOf(L, reply)
	L.Push(value)
	return 1
}

// scriptError is the answer to a script that has failed.
func scriptError(_ *Run, _ *Script, err error) error {
	if e, ok := errors.AsType[*lua.Error](err); ok {
		if t, ok := e.Value.(*glua.LTable); ok {
			return resp.Error(t.RawGetString("err").String())
		}
	}
	return resp.Error("ERR " + err.Error())
}

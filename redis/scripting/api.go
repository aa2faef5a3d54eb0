package scripting

import (
	"github.com/firndb/firn/internal/lua"
	glua "github.com/yuin/gopher-lua"
)

// openRedis makes the table redis of a state, whose functions work on what r
// runs at the time.
func openRedis(s *lua.State, r *Run) {
	L := s.L()
	t := L.NewTable()
	for name, fn := range map[string]func(*glua.LState, *Run) int{
		"call":               func(L *glua.LState, r *Run) int { return redisCall(L, r, true) },
		"pcall":              func(L *glua.LState, r *Run) int { return redisCall(L, r, false) },
		"error_reply":        redisErrorReply,
		"status_reply":       redisStatusReply,
		"sha1hex":            redisSHA1,
		"log":                redisLog,
		"setresp":            redisSetRESP,
		"set_repl":           redisSetRepl,
		"replicate_commands": func(L *glua.LState, _ *Run) int { return pushOne(L, glua.LTrue) },
		"breakpoint":         func(L *glua.LState, _ *Run) int { return pushOne(L, glua.LFalse) },
		"debug":              func(*glua.LState, *Run) int { return 0 },
		"acl_check_cmd":      redisCheckCommand,
	} {
		t.RawSetString(name, L.NewFunction(func(L *glua.LState) int { return fn(L, r) }))
	}
	for name, v := range constants(r.Engine.opts.Version) {
		t.RawSetString(name, v)
	}
	s.SetGlobal("redis", t)
}

// pushOne returns one value to a script.
func pushOne(L *glua.LState, v glua.LValue) int {
	L.Push(v)
	return 1
}

// raise ends the script with an error of the table redis, unless it catches it.
func raise(L *glua.LState, text string) int {
	L.Error(errorTable(L, "ERR "+text, false), 1)
	return 0
}

// redisCall is redis.call, which raises errors, and redis.pcall, which returns
// them.
func redisCall(L *glua.LState, r *Run, raises bool) int {
	v, failed := r.called(L)
	if failed && raises {
		L.Error(v, 1)
	}
	return pushOne(L, v)
}

// called runs the command that a function's arguments are. failed says that
// its value is an error.
func (r *Run) called(L *glua.LState) (v glua.LValue, failed bool) {
	words, refused := r.wordsOf(L)
	if refused != "" {
		return errorTable(L, "ERR "+refused, false), true
	}
	reply, err := r.do(words)
	if err != nil {
		return errorTable(L, errorIn([]byte(err.Error())), true), true
	}
	if len(reply) == 0 {
		return glua.LFalse, false
	}
	d := decoder{l: L, rest: reply}
	return d.value(), reply[0] == '-'
}

package scripting

import (
	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// openRedis makes the table redis of a state, whose functions work on what r
// runs at the time. The order is the one in which Redis makes its table, which
// next shows.
func openRedis(s *lua.State, r *Run) {
	on := func(name string, fn func(lua.Call, *Run) int) arg.Member {
		return arg.Member{Name: name, Function: func(c arg.Call) int { return fn(c.(lua.Call), r) }}
	}
	members := []arg.Member{
		on("call", func(c lua.Call, r *Run) int { return redisCall(c, r, true) }),
		on("pcall", func(c lua.Call, r *Run) int { return redisCall(c, r, false) }),
		on("log", redisLog),
	}
	members = append(members, logLevels()...)
	members = append(members, versions(r.Engine.opts.Version)...)
	members = append(members,
		on("setresp", redisSetRESP), on("sha1hex", redisSHA1), on("error_reply", redisErrorReply), on("status_reply", redisStatusReply),
		on("set_repl", redisSetRepl))
	members = append(members, replFlags()...)
	members = append(members,
		on("acl_check_cmd", redisCheckCommand),
		on("breakpoint", func(c lua.Call, _ *Run) int { return pushOne(c, val.False) }),
		on("debug", func(lua.Call, *Run) int { return 0 }),
		on("replicate_commands", func(c lua.Call, _ *Run) int { return pushOne(c, val.True) }))
	s.Register("redis", arg.Library{Members: members})
}

// pushOne returns one value to a script.
func pushOne(c lua.Call, v val.Value) int {
	c.Push(v)
	return 1
}

// raise ends the script with an error of the table redis, unless it catches it.
func raise(c lua.Call, text string) int {
	c.RaiseValue(errorTable(c, "ERR "+text, false))
	return 0
}

// redisCall is redis.call, which raises errors, and redis.pcall, which returns
// them.
func redisCall(c lua.Call, r *Run, raises bool) int {
	v, failed := r.called(c)
	if failed && raises {
		c.RaiseValue(v)
	}
	return pushOne(c, v)
}

// called runs the command that a function's arguments are. failed says that
// its value is an error.
func (r *Run) called(c lua.Call) (v val.Value, failed bool) {
	words, refused := r.wordsOf(c)
	if refused != "" {
		return errorTable(c, "ERR "+refused, false), true
	}
	reply, err := r.do(words)
	if err != nil {
		return errorTable(c, errorOf(err), true), true
	}
	if len(reply) == 0 {
		return val.False, false
	}
	d := decoder{c: c, rest: reply, holes: r.Proto == 3}
	return d.value(), reply[0] == '-'
}

package scripting

import (
	"sync"
	"time"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/redis/keyspace"
)

// pool keeps Lua states that are at rest. They are clean by construction:
// what scripts can change of a state is gone when the next one begins.
type pool struct{ runs sync.Pool }

// take is a Run that nobody uses.
func (e *Engine) take() *Run {
	if r, ok := e.pool.runs.Get().(*Run); ok {
		return r
	}
	r := &Run{Engine: e}
	r.Call.View = new(keyspace.View)
	r.guard.Stop = r.look
	r.state = lua.New(func(s *lua.State) { openRedis(s, r) })
	return r
}

// maxKeptBytes bounds the buffers that a pooled state keeps.
const maxKeptBytes = 64 << 10

// give returns a Run.
func (e *Engine) give(r *Run) {
	*r.Call.View = keyspace.View{}
	r.Call.Client, r.Call.Cmd, r.Call.Args, r.Call.Wants = nil, nil, nil, nil
	r.Host, r.Outer, r.ended = nil, nil, nil
	r.Name, r.Reason = "", ""
	r.Function, r.ReadOnly, r.Wrote, r.Hurried, r.Limit = false, false, false, false, 0
	r.Deadline, r.Late = time.Time{}, nil
	clear(r.words)
	if r.words = r.words[:0]; cap(r.words) > maxKeptBytes/16 {
		r.words = nil
	}
	if cap(r.arena) > maxKeptBytes {
		r.arena = nil
	}
	if r.Call.Reply.Buf = nil; cap(r.reply) > maxKeptBytes {
		r.reply = nil
	}
	if !r.state.Broken() {
		e.pool.runs.Put(r)
	}
}

package scripting

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// functionKill is FUNCTION KILL.
func functionKill(c *command.Call) error {
	if err := engineOf(c).Kill(true); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

// functionStats is FUNCTION STATS.
func functionStats(c *command.Call) error {
	libraries, functions, err := keyspace.CountLibraries(c.View)
	if err != nil {
		return err
	}
	e := engineOf(c)
	w := &c.Reply
	w.Map(2)
	w.BulkString("running_script")
	replyRunning(w, e)
	w.BulkString("engines")
	native, ok := functionsOf(e).natives.library()
	engines := 1
	if ok {
		engines++
	}
	w.Map(engines)
	replyEngine(w, luaEngine, libraries, functions)
	if ok {
		replyEngine(w, native.Engine, 1, len(native.Functions))
	}
	return nil
}

func replyEngine(w *resp.Writer, name string, libraries, functions int) {
	w.BulkString(name)
	w.Map(2)
	w.BulkString("libraries_count")
	w.Int(int64(libraries))
	w.BulkString("functions_count")
	w.Int(int64(functions))
}

// replyRunning shows the function that has been running longest, of those that
// take their time. A script that is none is not shown.
func replyRunning(w *resp.Writer, e *Engine) {
	u, ok := e.Underway()
	if !ok {
		w.Null()
		return
	}
	w.Map(3)
	w.BulkString("name")
	w.BulkString(u.Name)
	w.BulkString("command")
	w.Array(len(u.Words))
	for _, word := range u.Words {
		w.BulkString(word)
	}
	w.BulkString("duration_ms")
	w.Int(u.Took.Milliseconds())
}

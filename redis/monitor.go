package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// MONITOR.
var monitorCommands = []command.Command{{
	Name: "MONITOR", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
	Group: "server", Since: "1.0.0", Complexity: "O(1)",
	Summary: "Shows the client every command that the server runs, until RESET or the connection ends.",
	Differs: "A client that does not read what it is shown is ended by the limit of class pubsub in client-output-buffer-limit.",
	Run:     monitor,
}}

func monitor(c *command.Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return resp.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
	}
	if s.monitoring.Load() {
		return nil // as in Redis, there is no reply either
	}
	s.monitoring.Store(true)
	s.srv.monitors.Add(&s.inbox)
	c.Reply.Simple("OK")
	return nil
}

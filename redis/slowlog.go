package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/measure"
	"github.com/firndb/firn/resp"
)

// SLOWLOG.
var slowlogCommands = []command.Command{{
	Name: "SLOWLOG", Flags: command.Local,
	Group: "server", Since: "2.2.12", Complexity: "that of the subcommand",
	Summary: "A container for slow log commands.",
	Sub: []command.Command{
		{
			Name: "GET", Args: "[count]", Max: -1, Flags: command.Local | command.Admin | command.Loading | command.Stale,
			Since: "2.2.12", Complexity: "O(n), n the entries returned",
			Tips:    []string{"request_policy:all_nodes", "nondeterministic_output"},
			Summary: "Returns the slow log's entries.",
			Differs: "The command's name is shown in lower case.",
			Run:     slowlogGet,
		},
		command.HelpWith(0, slowlogHelpText),
		{
			Name: "LEN", Flags: command.Local | command.Admin | command.Loading | command.Stale,
			Since: "2.2.12", Complexity: "O(1)",
			Tips:    []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
			Summary: "Returns the number of entries in the slow log.",
			Run:     func(c *command.Call) error { c.Reply.Int(int64(sessionOf(c).srv.slow.Count())); return nil },
		},
		{
			Name: "RESET", Flags: command.Local | command.Admin | command.Loading | command.Stale,
			Since: "2.2.12", Complexity: "O(1)",
			Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			Summary: "Clears all entries from the slow log.",
			Run:     func(c *command.Call) error { sessionOf(c).srv.slow.Reset(); c.Reply.Simple("OK"); return nil },
		},
	},
}}

func slowlogGet(c *command.Call) error {
	n := int64(measure.UsualSlowEntries)
	if len(c.Args) > 1 {
		return command.ErrSubcommand(c)
	}
	if len(c.Args) == 1 {
		count, ok := resp.ParseInt(c.Args[0])
		if !ok || count < -1 {
			return resp.Error("ERR count should be greater than or equal to -1")
		}
		if n = count; n == -1 {
			n = measure.MaxSlowLog
		}
	}
	entries := sessionOf(c).srv.slow.Newest(n)
	c.Reply.Array(len(entries))
	for _, e := range entries {
		c.Reply.Array(6)
		c.Reply.Int(e.ID)
		c.Reply.Int(e.At.Unix())
		c.Reply.Int(e.Took.Microseconds())
		command.ReplyStrings(&c.Reply, e.Words)
		c.Reply.BulkString(e.Peer)
		c.Reply.BulkString(e.Name)
	}
	return nil
}

package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

var transactionCommands = []command.Command{
	{
		Name: "MULTI", Flags: command.Local | command.Fast | command.NoQueue | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "transactions", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Starts a transaction: the commands that follow are queued until EXEC.",
		Run:     multiStart,
	},
	{
		Name: "EXEC", Flags: command.Local | command.NoQueue | command.Executes | command.NoScript | command.Loading | command.Stale | command.SkipsSlowlog,
		Group: "transactions", Since: "1.2.0", Complexity: "that of the commands",
		Summary: "Executes all commands of a transaction.",
		Differs: "The commands have one timestamp. Those that read the past (AT, HISTORY) are answered before the rest. " +
			"A transaction that only reads runs on one snapshot.",
		Run: multiRefuse,
	},
	{
		Name: "DISCARD", Flags: command.Local | command.Fast | command.NoQueue | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "transactions", Since: "2.0.0", Complexity: "O(n), n the queued commands",
		Summary: "Discards a transaction and forgets watched keys.",
		Run:     multiDiscard,
	},
}

func multiStart(c *command.Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return resp.Error("ERR MULTI calls can not be nested")
	}
	s.multi.begin()
	c.Reply.Simple("OK")
	return nil
}

func multiDiscard(c *command.Call) error {
	if !sessionOf(c).multi.on {
		return resp.Error("ERR DISCARD without MULTI")
	}
	sessionOf(c).multi.end()
	c.Reply.Simple("OK")
	return nil
}

// multiRefuse is EXEC when there is nothing to execute; exec does the rest.
func multiRefuse(c *command.Call) error {
	if !sessionOf(c).multi.on {
		return resp.Error("ERR EXEC without MULTI")
	}
	sessionOf(c).multi.end()
	return errExecAbort
}

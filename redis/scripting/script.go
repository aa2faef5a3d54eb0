package scripting

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

func scriptCommand() command.Command {
	return command.Command{
		Name: "SCRIPT", Args: "subcommand [arg ...]", Group: "scripting", Since: "2.6.0", Complexity: "Depends on subcommand.",
		Summary: "A container for Lua scripts management commands.",
		Sub: []command.Command{
			{
				Name: "EXISTS", Args: "sha1 [sha1 ...]", Min: 1, Max: -1, Flags: command.Local | command.NoScript, Since: "2.6.0",
				Tips:       []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
				Complexity: "O(n), n the scripts to check", Summary: "Determines whether server-side Lua scripts exist in the script cache.",
				Run: scriptExists,
			},
			{
				Name: "FLUSH", Args: "[ASYNC | SYNC]", Max: -1, Flags: command.Local | command.NoScript, Since: "2.6.0",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Complexity: "O(n), n the scripts in the cache", Summary: "Removes all server-side Lua scripts from the script cache.",
				Run: scriptFlush,
			},
			{
				Name: "LOAD", Args: "script", Min: 1, Flags: command.Local | command.NoScript | command.Stale, Since: "2.6.0",
				Tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Complexity: "O(n), n the bytes of the script", Summary: "Loads a server-side Lua script to the script cache.",
				Run: scriptLoad,
			},
		},
	}
}

func engineOf(c *command.Call) *Engine { return c.Client.(Hosted).ScriptHost().Engine() }

func scriptExists(c *command.Call) error {
	e := engineOf(c)
	c.Reply.Array(len(c.Args))
	for _, sha := range c.Args {
		command.ReplyFlag(c, e.cache.find(sha) != nil)
	}
	return nil
}

func scriptFlush(c *command.Call) error {
	if len(c.Args) > 1 || len(c.Args) == 1 && !command.Is(c.Args[0], "SYNC") && !command.Is(c.Args[0], "ASYNC") {
		return resp.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	}
	engineOf(c).cache.flush()
	c.Reply.Simple("OK")
	return nil
}

func scriptLoad(c *command.Call) error {
	var sha [shaHexBytes]byte
	name := shaOf(&sha, c.Args[0])
	if _, err := engineOf(c).load(string(name), c.Args[0], true); err != nil {
		return err
	}
	c.Reply.Bulk(name)
	return nil
}

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
				Name: "DEBUG", Args: "YES | SYNC | NO", Min: 1, Flags: command.Local | command.NoScript, Since: "3.2.0", Complexity: "O(1)",
				Summary: "Sets the debug mode of server-side Lua scripts.",
				Differs: "There is no debugger: everything but NO is refused.",
				Run:     scriptDebug,
			},
			{
				Name: "KILL", Flags: command.Local | command.NoScript | command.AllowBusy, Since: "2.6.0", Complexity: "O(1)",
				Tips:    []string{"request_policy:all_shards", "response_policy:one_succeeded"},
				Summary: "Terminates a server-side Lua script during execution.",
				Run:     scriptKill,
			},
			{
				Name: "HELP", Flags: command.Local | command.Loading | command.Stale, Since: "5.0.0", Complexity: "O(1)",
				Summary: "Returns helpful text about the different subcommands.",
				Run:     func(c *command.Call) error { return command.ReplyLines(c, scriptHelp) },
			},
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
				Waits: func(args [][]byte) bool { return len(args[0]) > hurriedSource },
				Run:   scriptLoad,
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

// scriptHelp is the text of SCRIPT HELP, Redis's.
var scriptHelp = []string{
	"SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"DEBUG (YES|SYNC|NO)",
	"    Set the debug mode for subsequent scripts executed.",
	"EXISTS <sha1> [<sha1> ...]",
	"    Return information about the existence of the scripts in the script cache.",
	"FLUSH [ASYNC|SYNC]",
	"    Flush the Lua scripts cache. Very dangerous on replicas.",
	"    When called without the optional mode argument, the behavior is determined by the",
	"    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
	"    * ASYNC: Asynchronously flush the scripts cache.",
	"    * SYNC: Synchronously flush the scripts cache.",
	"KILL",
	"    Kill the currently executing Lua script.",
	"LOAD <script>",
	"    Load a script into the scripts cache without executing it.",
	"HELP",
	"    Prints this help.",
}

func scriptKill(c *command.Call) error {
	if err := engineOf(c).Kill(false); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

func scriptDebug(c *command.Call) error {
	switch {
	case command.Is(c.Args[0], "NO"):
		c.Reply.Simple("OK")
		return nil
	case command.Is(c.Args[0], "YES"), command.Is(c.Args[0], "SYNC"):
		return resp.Error("ERR there is no debugger for scripts here")
	}
	return resp.Error("ERR Use SCRIPT DEBUG YES/SYNC/NO")
}

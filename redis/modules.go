package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// moduleCommands say that there are no modules, and never will be.
var moduleCommands = []command.Command{{
	Name: "MODULE", Flags: command.Local, Group: "server", Since: "4.0.0", Complexity: "that of the subcommand",
	Summary: "A container for module commands.",
	Sub: []command.Command{
		command.HelpWith(0, moduleHelp),
		{
			Name: "LIST", Flags: command.Local | command.Admin | command.NoScript,
			Since: "4.0.0", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output_order"},
			Summary: "Returns an empty list: there are no modules.",
			Run:     func(c *command.Call) error { c.Reply.Array(0); return nil },
		},
		moduleRefuses(command.Command{Name: "LOAD", Args: "path [arg [arg ...]]", Since: "4.0.0", Min: 1, Max: -1}),
		moduleRefuses(command.Command{
			Name: "LOADEX", Args: "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]", Since: "7.0.0", Min: 1, Max: -1,
		}),
		moduleRefuses(command.Command{Name: "UNLOAD", Args: "name", Since: "4.0.0", Min: 1}),
	},
}}

func moduleRefuses(c command.Command) command.Command {
	c.Flags = command.Local | command.Admin | command.NoScript | command.NoAsyncLoading
	c.Complexity, c.Summary = "O(1)", "Refused: there are no modules."
	c.Run = func(*command.Call) error {
		return resp.Error("ERR MODULE command not allowed. Firn has no modules: what it can do is in COMMAND LIST.")
	}
	return c
}

const moduleHelp = `
LIST
    Return a list of loaded modules.
LOAD <path> [<arg> ...]
    Load a module library from <path>, passing to it any optional arguments.
LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]
    Load a module library from <path>, while passing it module configurations and optional arguments.
UNLOAD <name>
    Unload a module.
`

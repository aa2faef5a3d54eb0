package redis

import (
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

var commandCommands = []command.Command{{
	Name: "COMMAND", Flags: command.Local | command.Loading | command.Stale, Categories: command.CatConnection,
	Group: "server", Since: "2.8.13", Complexity: "O(n), n all commands",
	Tips:    []string{"nondeterministic_output_order"},
	Summary: "Returns detailed information about all commands.",
	Run:     func(c *command.Call) error { return replyCommands(c, sessionOf(c).srv.commands.Sorted) },
	Sub: []command.Command{
		{
			Name: "COUNT", Flags: command.Local | command.Loading | command.Stale, Categories: command.CatConnection,
			Since: "2.8.13", Complexity: "O(1)",
			Summary: "Returns a count of commands.",
			Run:     func(c *command.Call) error { c.Reply.Int(int64(len(sessionOf(c).srv.commands.Sorted))); return nil },
		},
		{
			Name: "DOCS", Args: "[command-name [command-name ...]]", Max: -1, Flags: command.Local | command.Loading | command.Stale,
			Categories: command.CatConnection,
			Since:      "7.0.0", Complexity: "O(n), n the commands to look up",
			Tips:    []string{"nondeterministic_output_order"},
			Summary: "Returns documentary information about commands.",
			Run:     commandDocs,
		},
		{
			Name: "GETKEYS", Args: "command [arg ...]", Min: 2, Max: -1, Flags: command.Local | command.Loading | command.Stale,
			Categories: command.CatConnection,
			Since:      "2.8.13", Complexity: "O(n), n the arguments to the command",
			Summary: "Extracts the key names from an arbitrary command.",
			Run:     commandGetKeys,
		},
		{
			Name: "GETKEYSANDFLAGS", Args: "command [arg ...]", Min: 2, Max: -1, Flags: command.Local | command.Loading | command.Stale,
			Categories: command.CatConnection,
			Since:      "7.0.0", Complexity: "O(n), n the arguments to the command",
			Summary: "Extracts the key names from an arbitrary command, and how it uses each of them.",
			Run:     commandGetKeysAndFlags,
		},
		command.HelpWith(command.CatConnection, commandHelpText),
		{
			Name: "INFO", Args: "[command-name [command-name ...]]", Max: -1, Flags: command.Local | command.Loading | command.Stale,
			Categories: command.CatConnection,
			Since:      "2.8.13", Complexity: "O(n), n the commands to look up",
			Tips:    []string{"nondeterministic_output_order"},
			Summary: "Returns information about one, multiple or all commands.",
			Run:     commandInfo,
		},
		{
			Name: "LIST", Args: "[FILTERBY MODULE module-name | ACLCAT category | PATTERN pattern]", Max: -1,
			Flags: command.Local | command.Loading | command.Stale, Categories: command.CatConnection,
			Since: "7.0.0", Complexity: "O(n), n all commands",
			Tips:    []string{"nondeterministic_output_order"},
			Summary: "Returns a list of command names.",
			Run:     commandList,
		},
	},
}}

func replyCommands(c *command.Call, entries []*command.Entry) error {
	c.Reply.Array(len(entries))
	for _, e := range entries {
		replyCommand(&c.Reply, e)
	}
	return nil
}

// replyCommand appends what COMMAND INFO tells about a command.
func replyCommand(w *resp.Writer, e *command.Entry) {
	if e == nil {
		w.Null()
		return
	}
	w.Array(10)
	w.BulkString(e.Full)
	w.Int(int64(e.Arity()))
	command.ReplyTexts(w, e.FlagNames())
	keys, _ := e.FixedKeys()
	w.Int(int64(keys.First))
	w.Int(int64(keys.Last))
	w.Int(int64(keys.Step))
	command.ReplyTexts(w, e.In.Names())
	w.Set(len(e.Tips))
	for _, tip := range e.Tips {
		w.BulkString(tip)
	}
	w.Set(len(e.Specs))
	for i := range e.Specs {
		replySpec(w, &e.Specs[i])
	}
	w.Set(len(e.Sub))
	for _, sub := range e.Sub {
		replyCommand(w, sub)
	}
}

// replySpec appends a key specification.
func replySpec(w *resp.Writer, s *command.KeySpec) {
	if s.Notes == "" {
		w.Map(3)
	} else {
		w.Map(4)
		command.ReplyField(w, "notes", s.Notes)
	}
	w.BulkString("flags")
	command.ReplyTexts(w, s.Use.Names())
	w.BulkString("begin_search")
	w.Map(2)
	switch {
	case s.Unknown:
		command.ReplyField(w, "type", "unknown")
		w.BulkString("spec")
		w.Map(0)
	case s.Keyword != "":
		command.ReplyField(w, "type", "keyword")
		w.BulkString("spec")
		w.Map(2)
		command.ReplyField(w, "keyword", s.Keyword)
		command.ReplyNumber(w, "startfrom", s.Begin)
	default:
		command.ReplyField(w, "type", "index")
		w.BulkString("spec")
		w.Map(1)
		command.ReplyNumber(w, "index", s.Begin)
	}
	w.BulkString("find_keys")
	w.Map(2)
	switch {
	case s.Unknown:
		command.ReplyField(w, "type", "unknown")
		w.BulkString("spec")
		w.Map(0)
	case s.Counted:
		command.ReplyField(w, "type", "keynum")
		w.BulkString("spec")
		w.Map(3)
		command.ReplyNumber(w, "keynumidx", 0)
		command.ReplyNumber(w, "firstkey", 1)
		command.ReplyNumber(w, "keystep", s.Step)
	default:
		command.ReplyField(w, "type", "range")
		w.BulkString("spec")
		w.Map(3)
		command.ReplyNumber(w, "lastkey", s.Last)
		command.ReplyNumber(w, "keystep", s.Step)
		command.ReplyNumber(w, "limit", s.Limit)
	}
}

func commandInfo(c *command.Call) error {
	if len(c.Args) == 0 {
		return replyCommands(c, sessionOf(c).srv.commands.Sorted)
	}
	entries := make([]*command.Entry, len(c.Args))
	for i, name := range c.Args {
		entries[i] = sessionOf(c).srv.commands.Named(name)
	}
	return replyCommands(c, entries)
}

func commandList(c *command.Call) error {
	show := func(*command.Entry) bool { return true }
	switch args := c.Args; {
	case len(args) == 0:
	case len(args) != 3 || !command.Is(args[0], "FILTERBY"):
		return command.ErrSyntax
	case command.Is(args[1], "MODULE"):
		show = func(*command.Entry) bool { return false }
	case command.Is(args[1], "ACLCAT"):
		category := command.CategoryNamed(string(args[2]))
		show = func(e *command.Entry) bool { return e.In&category != 0 }
	case command.Is(args[1], "PATTERN"):
		show = func(e *command.Entry) bool { return glob.Match(args[2], []byte(e.Full), true) }
	default:
		return command.ErrSyntax
	}
	var names []string
	for _, e := range sessionOf(c).srv.commands.Numbered {
		if show(e) {
			names = append(names, e.Full)
		}
	}
	return command.ReplyNames(c, names)
}

func commandGetKeys(c *command.Call) error {
	uses, err := keysOfArguments(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(uses))
	for _, use := range uses {
		c.Reply.Bulk(use.Key)
	}
	return nil
}

func commandGetKeysAndFlags(c *command.Call) error {
	uses, err := keysOfArguments(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(uses))
	for _, use := range uses {
		c.Reply.Array(2)
		c.Reply.Bulk(use.Key)
		command.ReplyTexts(&c.Reply, use.Use.Names())
	}
	return nil
}

// keysOfArguments takes the call's arguments for a command and finds its keys.
func keysOfArguments(c *command.Call) ([]command.KeyUse, error) {
	e, args, err := sessionOf(c).srv.commands.Resolve(c.Args)
	switch {
	case e == nil:
		return nil, resp.Error("ERR Invalid command specified")
	case !e.MayHaveKeys():
		return nil, resp.Error("ERR The command has no key arguments")
	case err != nil:
		return nil, resp.Error("ERR Invalid number of arguments specified for command")
	}
	uses, _ := e.AppendKeyUses(nil, args)
	if len(uses) == 0 && e.Flags&command.RunsScript == 0 { // a script may have no keys
		return nil, resp.Error("ERR Invalid arguments specified for command")
	}
	return uses, nil
}

package redis

import (
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/resp"
)

var commandCommands = []Command{{
	Name: "COMMAND", Flags: Local, Group: "server", Since: "2.8.13", Complexity: "O(N) where N is the total number of commands",
	Summary: "Returns detailed information about all commands.",
	Run:     func(c *Call) error { return replyCommands(c, sessionOf(c).srv.table.sorted) },
	Sub: []Command{
		{
			Name: "COUNT", Flags: Local, Since: "2.8.13", Complexity: "O(1)",
			Summary: "Returns a count of commands.",
			Run:     func(c *Call) error { c.Reply.Int(int64(len(sessionOf(c).srv.table.sorted))); return nil },
		},
		{
			Name: "DOCS", Args: "[command-name [command-name ...]]", Max: -1, Flags: Local, Since: "7.0.0",
			Complexity: "O(N) where N is the number of commands to look up",
			Summary:    "Returns documentary information about commands.",
			Run:        commandDocs,
		},
		{
			Name: "GETKEYS", Args: "command [arg ...]", Min: 2, Max: -1, Flags: Local, Since: "2.8.13",
			Complexity: "O(N) where N is the number of arguments to the command",
			Summary:    "Extracts the key names from an arbitrary command.",
			Run:        commandGetKeys,
		},
		{
			Name: "GETKEYSANDFLAGS", Args: "command [arg ...]", Min: 2, Max: -1, Flags: Local, Since: "7.0.0",
			Complexity: "O(N) where N is the number of arguments to the command",
			Summary:    "Extracts the key names from an arbitrary command, and how it uses each of them.",
			Run:        commandGetKeysAndFlags,
		},
		help,
		{
			Name: "INFO", Args: "[command-name [command-name ...]]", Max: -1, Flags: Local, Since: "2.8.13",
			Complexity: "O(N) where N is the number of commands to look up",
			Summary:    "Returns information about one, multiple or all commands.",
			Run:        commandInfo,
		},
		{
			Name: "LIST", Args: "[FILTERBY MODULE module-name | ACLCAT category | PATTERN pattern]", Max: -1, Flags: Local, Since: "7.0.0",
			Complexity: "O(N) where N is the total number of commands",
			Summary:    "Returns a list of command names.",
			Run:        commandList,
		},
	},
}}

// each calls fn for every command that can be run, subcommands included.
func (t *table) each(fn func(*entry)) {
	for _, e := range t.numbered {
		if e.Run != nil {
			fn(e)
		}
	}
}

// named is the entry of a name such as "get" or "client|id"; nil if unknown.
func (t *table) named(name []byte) *entry {
	for i, c := range name {
		if c != '|' {
			continue
		}
		if e := t.find(name[:i]); e != nil {
			return e.findSub(name[i+1:])
		}
	}
	return t.find(name)
}

func replyCommands(c *Call, entries []*entry) error {
	c.Reply.Array(len(entries))
	for _, e := range entries {
		replyCommand(&c.Reply, e)
	}
	return nil
}

// replyCommand appends what COMMAND INFO tells about a command.
func replyCommand(w *resp.Writer, e *entry) {
	if e == nil {
		w.Null()
		return
	}
	w.Array(10)
	w.BulkString(e.full)
	w.Int(int64(e.arity()))
	replyTexts(w, e.flagNames())
	keys, _ := e.fixedKeys()
	w.Int(int64(keys.First))
	w.Int(int64(keys.Last))
	w.Int(int64(keys.Step))
	replyTexts(w, e.in.names())
	replyStrings(w, tipFacts().of(e))
	w.Array(len(e.specs))
	for i := range e.specs {
		e.specs[i].reply(w)
	}
	w.Array(len(e.sub))
	for _, sub := range e.sub {
		replyCommand(w, sub)
	}
}

// replyNames replies an array of names.
func replyNames(c *Call, names []string) error {
	replyStrings(&c.Reply, names)
	return nil
}

// replyStrings appends an array of strings.
func replyStrings(w *resp.Writer, texts []string) {
	w.Array(len(texts))
	for _, text := range texts {
		w.BulkString(text)
	}
}

// replyTexts appends a set of simple strings.
func replyTexts(w *resp.Writer, texts []string) {
	w.Set(len(texts))
	for _, text := range texts {
		w.Simple(text)
	}
}

// replyField appends the name of a field of a map, and a text.
func replyField(w *resp.Writer, name, text string) {
	w.BulkString(name)
	w.BulkString(text)
}

// replyNumber appends the name of a field of a map, and a number.
func replyNumber(w *resp.Writer, name string, n int) {
	w.BulkString(name)
	w.Int(int64(n))
}

// reply appends a key specification.
func (s *keySpec) reply(w *resp.Writer) {
	w.Map(3)
	w.BulkString("flags")
	replyTexts(w, s.flags.names())
	w.BulkString("begin_search")
	w.Map(2)
	switch {
	case s.unknown:
		replyField(w, "type", "unknown")
		w.BulkString("spec")
		w.Map(0)
	case s.keyword != "":
		replyField(w, "type", "keyword")
		w.BulkString("spec")
		w.Map(2)
		replyField(w, "keyword", s.keyword)
		replyNumber(w, "startfrom", s.begin)
	default:
		replyField(w, "type", "index")
		w.BulkString("spec")
		w.Map(1)
		replyNumber(w, "index", s.begin)
	}
	w.BulkString("find_keys")
	w.Map(2)
	switch {
	case s.unknown:
		replyField(w, "type", "unknown")
		w.BulkString("spec")
		w.Map(0)
	case s.counted:
		replyField(w, "type", "keynum")
		w.BulkString("spec")
		w.Map(3)
		replyNumber(w, "keynumidx", 0)
		replyNumber(w, "firstkey", 1)
		replyNumber(w, "keystep", s.step)
	default:
		replyField(w, "type", "range")
		w.BulkString("spec")
		w.Map(3)
		replyNumber(w, "lastkey", s.last)
		replyNumber(w, "keystep", s.step)
		replyNumber(w, "limit", s.limit)
	}
}

// arity is Redis's: the number of words, negative if it is the fewest.
func (e *entry) arity() int {
	n := e.Min + 1 + e.depth()
	if e.Run == nil {
		return -2
	}
	if e.MaxArgs() != e.Min || len(e.sub) > 0 {
		return -n
	}
	return n
}

func commandInfo(c *Call) error {
	if len(c.Args) == 0 {
		return replyCommands(c, sessionOf(c).srv.table.sorted)
	}
	entries := make([]*entry, len(c.Args))
	for i, name := range c.Args {
		entries[i] = sessionOf(c).srv.table.named(name)
	}
	return replyCommands(c, entries)
}

func commandList(c *Call) error {
	show := func(*entry) bool { return true }
	switch args := c.Args; {
	case len(args) == 0:
	case len(args) != 3 || !is(args[0], "FILTERBY"):
		return errSyntax
	case is(args[1], "MODULE"):
		show = func(*entry) bool { return false }
	case is(args[1], "ACLCAT"):
		category := categoryNamed(string(args[2]))
		show = func(e *entry) bool { return e.in&category != 0 }
	case is(args[1], "PATTERN"):
		show = func(e *entry) bool { return glob.Match(args[2], []byte(e.full), true) }
	default:
		return errSyntax
	}
	var names []string
	for _, e := range sessionOf(c).srv.table.numbered {
		if show(e) {
			names = append(names, e.full)
		}
	}
	return replyNames(c, names)
}

func commandGetKeys(c *Call) error {
	uses, err := keysOfArguments(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(uses))
	for _, use := range uses {
		c.Reply.Bulk(use.key)
	}
	return nil
}

func commandGetKeysAndFlags(c *Call) error {
	uses, err := keysOfArguments(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(uses))
	for _, use := range uses {
		c.Reply.Array(2)
		c.Reply.Bulk(use.key)
		replyTexts(&c.Reply, use.flags.names())
	}
	return nil
}

// keysOfArguments takes the call's arguments for a command and finds its keys.
func keysOfArguments(c *Call) ([]keyUse, error) {
	e, args, err := sessionOf(c).srv.table.resolve(c.Args)
	switch {
	case e == nil:
		return nil, resp.Error("ERR Invalid command specified")
	case !e.mayHaveKeys():
		return nil, resp.Error("ERR The command has no key arguments")
	case err != nil:
		return nil, resp.Error("ERR Invalid number of arguments specified for command")
	}
	uses, _ := e.appendKeyUses(nil, args)
	if len(uses) == 0 {
		return nil, resp.Error("ERR Invalid arguments specified for command")
	}
	return uses, nil
}

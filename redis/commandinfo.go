package redis

import (
	"slices"

	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/resp"
)

var commandCommands = []Command{{
	Name: "COMMAND", Flags: Local, Group: "server", Since: "2.8.13", Complexity: "O(N) where N is the total number of commands",
	Summary: "Returns detailed information about all commands.",
	Run:     func(c *Call) error { return replyCommands(c, c.Session.srv.table.sorted) },
	Sub: []Command{
		{
			Name: "COUNT", Flags: Local, Since: "2.8.13", Complexity: "O(1)",
			Summary: "Returns a count of commands.",
			Run:     func(c *Call) error { c.Reply.Int(int64(len(c.Session.srv.table.sorted))); return nil },
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
		help,
		{
			Name: "INFO", Args: "[command-name [command-name ...]]", Max: -1, Flags: Local, Since: "2.8.13",
			Complexity: "O(N) where N is the number of commands to look up",
			Summary:    "Returns information about one, multiple or all commands.",
			Run:        commandInfo,
		},
		{
			Name: "LIST", Args: "[FILTERBY MODULE module-name | ACLCAT category | PATTERN pattern]", Max: 3, Flags: Local, Since: "7.0.0",
			Complexity: "O(N) where N is the total number of commands",
			Summary:    "Returns a list of command names.",
			Run:        commandList,
		},
	},
}}

// each calls fn for every command that can be run, subcommands included.
func (t *table) each(fn func(*entry)) {
	for _, e := range t.sorted {
		if e.Run != nil {
			fn(e)
		}
		for _, sub := range e.sub {
			fn(sub)
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
	names := e.Flags.names()
	if e.Group == "pubsub" {
		names = slices.Insert(names, 0, "pubsub")
	}
	w.Set(len(names))
	for _, name := range names {
		w.Simple(name)
	}
	w.Int(int64(e.Keys.First))
	w.Int(int64(e.Keys.Last))
	w.Int(int64(e.Keys.Step))
	categories := e.categories()
	w.Set(len(categories))
	for _, name := range categories {
		w.Simple(name)
	}
	w.Array(0) // tips
	replyKeySpecs(w, e)
	w.Array(len(e.sub))
	for _, sub := range e.sub {
		replyCommand(w, sub)
	}
}

// replyKeySpecs appends where a command's keys are, in Redis's newer form.
func replyKeySpecs(w *resp.Writer, e *entry) {
	if e.Keys.First == 0 {
		w.Array(0)
		return
	}
	access := "RO"
	if e.Flags&Writes != 0 {
		access = "RW"
	}
	last := e.Keys.Last
	if last > 0 {
		last -= e.Keys.First
	}
	w.Array(1)
	w.Map(3)
	w.BulkString("flags")
	w.Set(1)
	w.Simple(access)
	w.BulkString("begin_search")
	w.Map(2)
	w.BulkString("type")
	w.BulkString("index")
	w.BulkString("spec")
	w.Map(1)
	w.BulkString("index")
	w.Int(int64(e.Keys.First))
	w.BulkString("find_keys")
	w.Map(2)
	w.BulkString("type")
	w.BulkString("range")
	w.BulkString("spec")
	w.Map(3)
	w.BulkString("lastkey")
	w.Int(int64(last))
	w.BulkString("keystep")
	w.Int(int64(e.Keys.Step))
	w.BulkString("limit")
	w.Int(0)
}

// arity is Redis's: the number of words, negative if it is the fewest.
func (e *entry) arity() int {
	n := e.Min + 1
	for _, c := range e.full {
		if c == '|' {
			n++
		}
	}
	if e.Run == nil {
		return -2
	}
	if e.MaxArgs() != e.Min || len(e.sub) > 0 {
		return -n
	}
	return n
}

// names are the flags as COMMAND INFO shows them.
func (f Flags) names() []string {
	var names []string
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{f&Writes != 0, "write"},
		{f&(Writes|Local) == 0, "readonly"},
		{f&Admin != 0, "admin"},
		{f&Blocks != 0, "blocking"},
		{f&(Local|NoQueue) != 0, "loading"},
		{f&(Local|NoQueue) != 0, "stale"},
		{f&Skip != 0, "skip_monitor"},
		{f&Fast != 0, "fast"},
		{f&NoAuth != 0, "no_auth"},
		{f&NoMulti != 0, "no_multi"},
	} {
		if flag.on {
			names = append(names, flag.name)
		}
	}
	return names
}

// categories are the ACL categories that follow from flags and group.
func (e *entry) categories() []string {
	group := map[string]string{
		"string": "@string", "hash": "@hash", "generic": "@keyspace", "connection": "@connection", "transactions": "@transaction",
	}[e.Group]
	all := []string{"@slow"}
	if e.Flags&Fast != 0 {
		all[0] = "@fast"
	}
	switch {
	case e.Flags&Writes != 0:
		all = append(all, "@write")
	case e.Flags&Local == 0:
		all = append(all, "@read")
	}
	if e.Flags&Admin != 0 {
		all = append(all, "@admin", "@dangerous")
	}
	if group != "" {
		all = append(all, group)
	}
	if e.Flags&Blocks != 0 {
		all = append(all, "@blocking")
	}
	return all
}

func commandInfo(c *Call) error {
	if len(c.Args) == 0 {
		return replyCommands(c, c.Session.srv.table.sorted)
	}
	entries := make([]*entry, len(c.Args))
	for i, name := range c.Args {
		entries[i] = c.Session.srv.table.named(name)
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
		show = func(e *entry) bool { return slices.Contains(e.categories(), "@"+string(args[2])) }
	case is(args[1], "PATTERN"):
		show = func(e *entry) bool { return glob.Match(args[2], []byte(e.full), true) }
	default:
		return errSyntax
	}
	var names []string
	for _, e := range c.Session.srv.table.sorted {
		if show(e) {
			names = append(names, e.full)
		}
		for _, sub := range e.sub {
			if len(c.Args) > 0 && show(sub) {
				names = append(names, sub.full)
			}
		}
	}
	c.Reply.Array(len(names))
	for _, name := range names {
		c.Reply.BulkString(name)
	}
	return nil
}

func commandDocs(c *Call) error {
	entries := c.Session.srv.table.sorted
	if len(c.Args) > 0 {
		entries = nil
		for _, name := range c.Args {
			if e := c.Session.srv.table.named(name); e != nil {
				entries = append(entries, e)
			}
		}
	}
	c.Reply.Map(len(entries))
	for _, e := range entries {
		replyDocs(&c.Reply, e)
	}
	return nil
}

// replyDocs appends a command's name and what COMMAND DOCS tells about it.
func replyDocs(w *resp.Writer, e *entry) {
	w.BulkString(e.full)
	fields := [][2]string{{"summary", e.Summary}, {"since", e.Since}, {"group", e.Group}, {"complexity", e.Complexity}}
	n := len(fields)
	if len(e.sub) > 0 {
		n++
	}
	w.Map(n)
	for _, field := range fields {
		w.BulkString(field[0])
		w.BulkString(field[1])
	}
	if len(e.sub) == 0 {
		return
	}
	w.BulkString("subcommands")
	w.Map(len(e.sub))
	for _, sub := range e.sub {
		replyDocs(w, sub)
	}
}

func commandGetKeys(c *Call) error {
	e, args, err := c.Session.srv.table.resolve(c.Args)
	switch {
	case e == nil:
		return Error("ERR Invalid command specified")
	case err != nil:
		return Error("ERR Invalid number of arguments specified for command")
	case e.Keys.First == 0:
		return Error("ERR The command has no key arguments")
	}
	keys := e.keysOf(args)
	c.Reply.Array(len(keys))
	for _, key := range keys {
		c.Reply.Bulk(key)
	}
	return nil
}

// keysOf picks the keys from a command's arguments.
func (e *entry) keysOf(args [][]byte) [][]byte {
	last := e.Keys.Last
	if last < 0 {
		last += len(args) + 1
	}
	var keys [][]byte
	for i := e.Keys.First; i <= min(last, len(args)); i += max(e.Keys.Step, 1) {
		keys = append(keys, args[i-1])
	}
	return keys
}

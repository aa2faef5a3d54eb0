package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

func commandDocs(c *command.Call) error {
	entries := sessionOf(c).srv.commands.Sorted
	if len(c.Args) > 0 {
		entries = nil
		for _, name := range c.Args {
			if e := sessionOf(c).srv.commands.Named(name); e != nil {
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
func replyDocs(w *resp.Writer, e *command.Entry) {
	w.BulkString(e.Full)
	n := 4
	old := e.Deprecated
	if old.Since != "" {
		n += 3
	}
	if len(e.Sub) > 0 {
		n++
	}
	arguments := command.ParseArguments(e.Args)
	if len(arguments) > 0 {
		n++
	}
	w.Map(n)
	command.ReplyField(w, "summary", e.Summary)
	command.ReplyField(w, "since", e.Since)
	command.ReplyField(w, "group", e.Group)
	command.ReplyField(w, "complexity", e.Complexity)
	if old.Since != "" {
		w.BulkString("doc_flags")
		command.ReplyTexts(w, []string{"deprecated"})
		command.ReplyField(w, "deprecated_since", old.Since)
		command.ReplyField(w, "replaced_by", old.Instead)
	}
	if len(arguments) > 0 {
		w.BulkString("arguments")
		r := command.ArgumentsReply{W: w, Specs: len(e.Specs)}
		r.List(arguments)
	}
	if len(e.Sub) == 0 {
		return
	}
	w.BulkString("subcommands")
	w.Map(len(e.Sub))
	for _, sub := range e.Sub {
		replyDocs(w, sub)
	}
}

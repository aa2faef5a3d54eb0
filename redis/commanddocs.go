package redis

import "github.com/firndb/firn/resp"

func commandDocs(c *Call) error {
	entries := sessionOf(c).srv.table.sorted
	if len(c.Args) > 0 {
		entries = nil
		for _, name := range c.Args {
			if e := sessionOf(c).srv.table.named(name); e != nil {
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
	n := 4
	old, isOld := deprecated[e.full]
	if isOld {
		n += 3
	}
	if len(e.sub) > 0 {
		n++
	}
	arguments := parseArguments(e.Args)
	if len(arguments) > 0 {
		n++
	}
	w.Map(n)
	replyField(w, "summary", e.Summary)
	replyField(w, "since", e.Since)
	replyField(w, "group", e.Group)
	replyField(w, "complexity", e.Complexity)
	if isOld {
		w.BulkString("doc_flags")
		replyTexts(w, []string{"deprecated"})
		replyField(w, "deprecated_since", old[0])
		replyField(w, "replaced_by", old[1])
	}
	if len(arguments) > 0 {
		w.BulkString("arguments")
		r := argumentsReply{w: w, specs: len(e.specs)}
		r.list(arguments)
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

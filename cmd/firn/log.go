package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// logQuery is what firn log is asked for.
type logQuery struct {
	since, until string
	limit        int
	json         bool
}

func logCommand() *cobra.Command {
	q := &logQuery{}
	c := &cobra.Command{
		Use:   "log PATH",
		Short: "Print what was committed, oldest first",
		Long: "Print the changes of keys and databases that were committed, oldest first, from\n" +
			"the horizon on, and who made them. PATH may be in use. The rows of one commit have\n" +
			"the same ts. Of a program's own documents the table and the id are shown in the\n" +
			"place of the database and the key.",
		Example: "  firn log orders.db --since -5m\n  firn log orders.db --limit 20 --json",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if q.limit < 0 {
				return usageError{fmt.Errorf("--limit %d: choose 1 or more, or 0 for all", q.limit)}
			}
			return reading(args[0], "cannot read the log of", func(store *firn.Store) error { return q.run(store, c.OutOrStdout()) })
		},
	}
	c.Flags().StringVar(&q.since, "since", "", "the first moment, such as -1h or 2026-01-01T12:00:00Z")
	c.Flags().StringVar(&q.until, "until", "", "the last moment")
	c.Flags().IntVar(&q.limit, "limit", 0, "print the newest so many only")
	c.Flags().BoolVar(&q.json, "json", false, "print one JSON object a line")
	return c
}

// logLine is one change: of a key or a database, or, with a table, of a
// program's own document.
type logLine struct {
	ts     firn.Timestamp
	change keyspace.Change
	table  string
	author firn.Author
}

func (q *logQuery) run(store *firn.Store, out io.Writer) error {
	since, err := momentFlag(store, q.since)
	if err != nil {
		return err
	}
	until, err := momentFlag(store, q.until)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	p := newLogPrinter(buffered, q.json)
	var newest []logLine
	err = eachChange(store, since, until, func(l logLine) error {
		if q.limit == 0 {
			return p.print(l)
		}
		if newest = append(newest, l); len(newest) >= 2*q.limit {
			newest = append(newest[:0], newest[len(newest)-q.limit:]...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range newest[max(len(newest)-q.limit, 0):] {
		if err := p.print(l); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	return buffered.Flush()
}

func eachChange(store *firn.Store, since, until firn.Timestamp, fn func(logLine) error) error {
	bounds := store.Bounds()
	if since > bounds.Newest {
		return nil
	}
	if since != 0 {
		since = max(since, bounds.Began) // there is nothing before
	}
	meaning, err := logMeaning(store, since)
	if err != nil {
		return err
	}
	by := authors{store: store}
	var page []logLine
	return store.LogLent(since, until, func(table string, doc *firn.Document) error {
		l, ok, err := meaning(table, doc)
		if err != nil || !ok {
			return err
		}
		l.author, err = by.of(doc)
		page = append(page, l)
		return err
	}, func() error {
		defer func() { page = page[:0] }()
		for _, l := range page {
			if err := fn(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// logMeaning tells what to show of versions of the log from a moment on; not ok
// is nothing.
func logMeaning(store *firn.Store, since firn.Timestamp) (func(table string, doc *firn.Document) (l logLine, ok bool, err error), error) {
	servers := map[string]bool{} // tables that Redis's types live in
	changes := &keyspace.Changes{}
	if hasKeys(store) {
		for _, t := range keyspace.Tables() {
			servers[t.Name] = true
		}
		var err error
		if changes, err = keyspace.NewChanges(store, since); err != nil {
			return nil, err
		}
	}
	return func(table string, doc *firn.Document) (l logLine, ok bool, err error) {
		l = logLine{ts: doc.TS, table: table}
		if !servers[table] {
			l.change = keyspace.Change{DB: -1, Key: []byte(doc.ID), Type: "document", Deleted: doc.Deleted}
			return l, true, nil
		}
		l.table = ""
		l.change, ok, err = changes.Of(table, doc)
		return l, ok, err
	}, nil
}

// logPrinter prints changes as a table or as JSON. The table is set page by
// page, because a log may be long.
type logPrinter struct {
	json  *json.Encoder
	table *tabwriter.Writer
	rows  int
}

const tablePage = 1000

func newLogPrinter(w io.Writer, asJSON bool) *logPrinter {
	if asJSON {
		return &logPrinter{json: newEncoder(w)}
	}
	p := &logPrinter{table: newTable(w)}
	fmt.Fprintln(p.table, "TS\tTIME\tDB\tKEY\tOPERATION\tTYPE\tDELETED\t"+authorHeader)
	return p
}

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }

func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

func (p *logPrinter) print(l logLine) error {
	if p.json != nil {
		return p.json.Encode(l.object())
	}
	c := &l.change
	db, key := strconv.Itoa(c.DB), "-"
	switch {
	case l.table != "":
		db = word(l.table)
	case c.DB < 0:
		db = "-"
	}
	if c.Key != nil {
		key = word(string(c.Key))
	}
	fmt.Fprintf(p.table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.ts, clockTime(l.ts), db, key, orDash(c.Operation), c.Type,
		deletedWord(c.Deleted), authorColumns(l.author))
	if p.rows++; p.rows%tablePage == 0 {
		return p.table.Flush()
	}
	return nil
}

func (l *logLine) object() jsonObject {
	c := &l.change
	var o jsonObject
	o.add("ts", l.ts)
	o.add("time", clockTime(l.ts))
	if l.table != "" {
		o.add("table", l.table)
		o.add("id", jsonText(string(c.Key)))
		o.add("deleted", c.Deleted)
		addAuthor(&o, l.author)
		return o
	}
	if c.DB >= 0 {
		o.add("db", c.DB)
	} else {
		o.add("db", nil)
	}
	if c.Key != nil {
		o.add("key", jsonText(string(c.Key)))
	} else {
		o.add("key", nil)
	}
	o.add("operation", c.Operation)
	o.add("type", c.Type)
	o.add("deleted", c.Deleted)
	addAuthor(&o, l.author)
	return o
}

func deletedWord(deleted bool) string {
	if deleted {
		return "deleted"
	}
	return "-"
}

func (p *logPrinter) flush() error {
	if p.table != nil {
		return p.table.Flush()
	}
	return nil
}

func orDash(s string) string {
	if strings.TrimSpace(s) == "" {
		return "-"
	}
	return s
}

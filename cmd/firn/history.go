package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
	answer "github.com/firndb/firn/resp/reply"
)

func historyCommand() *cobra.Command {
	var db, limit int
	var asJSON bool
	var table string
	c := &cobra.Command{
		Use:     "history PATH KEY",
		Short:   "Print what happened to a key, oldest first",
		Long:    "Print the versions of a key, its deletions included, oldest first, as far back as\nhistory is kept. PATH may be in use. A key that begins with a minus sign comes after --.",
		Example: "  firn history orders.db order:7\n  firn history orders.db order:7 --limit 10 --json\n  firn history app.db ada --table users",
		Args:    arguments(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 0 {
				return usageError{fmt.Errorf("--limit %d: choose 1 or more, or 0 for all", limit)}
			}
			if err := checkDatabase(db); err != nil {
				return err
			}
			return reading(args[0], "cannot read", func(store *firn.Store) error {
				if table != "" {
					return documentHistory(store, c.OutOrStdout(), table, args[1], limit, asJSON)
				}
				words := []string{"HISTORY", "GET", args[1], "REV"}
				if limit > 0 {
					words = append(words, "LIMIT", strconv.Itoa(limit))
				}
				r, err := ask(store, db, words...)
				if err != nil {
					return err
				}
				slices.Reverse(r.Elements)
				if len(r.Elements) == 0 {
					return fmt.Errorf("database %d has never had a key %s, as far as history reaches", db, quoted(args[1]))
				}
				out := bufio.NewWriter(c.OutOrStdout())
				return errors.Join(printVersions(out, r.Elements, asJSON), out.Flush())
			})
		},
	}
	c.Flags().IntVar(&db, "db", 0, "number of the database")
	c.Flags().StringVar(&table, "table", "", "KEY is the id of a document in this table of a program's own")
	c.Flags().IntVar(&limit, "limit", 0, "print the newest so many only")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// printVersions prints maps that all have the same fields: whatever the server
// tells, and the time in words.
func printVersions(w io.Writer, versions []answer.Value, asJSON bool) error {
	if asJSON {
		e := newEncoder(w)
		for i := range versions {
			if err := e.Encode(versionObject(&versions[i])); err != nil {
				return err
			}
		}
		return nil
	}
	table := newTable(w)
	for i := range versions {
		v := &versions[i]
		if i == 0 {
			printHeader(table, v)
		}
		for f := 0; f+1 < len(v.Elements); f += 2 {
			name, value := v.Elements[f].Text, &v.Elements[f+1]
			if f > 0 {
				fmt.Fprint(table, "\t")
			}
			fmt.Fprint(table, column(name, value))
			if name == "ts" {
				fmt.Fprint(table, "\t", replyTime(value))
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

func printHeader(w io.Writer, v *answer.Value) {
	var names []string
	for f := 0; f+1 < len(v.Elements); f += 2 {
		name := strings.ToUpper(strings.TrimSuffix(v.Elements[f].Text, "_at"))
		if names = append(names, name); name == "TS" {
			names = append(names, "TIME")
		}
	}
	fmt.Fprintln(w, strings.Join(names, "\t"))
}

func versionObject(v *answer.Value) jsonObject {
	var o jsonObject
	for f := 0; f+1 < len(v.Elements); f += 2 {
		name, value := v.Elements[f].Text, &v.Elements[f+1]
		if o.add(name, json.RawMessage(value.AppendJSON(nil))); name == "ts" {
			o.add("time", replyTime(value))
		}
	}
	return o
}

// column is a field's value in a table.
func column(name string, v *answer.Value) string {
	switch {
	case v.Null || name == "deleted" && plain(v) != "true" || strings.HasPrefix(name, "expires") && v.Text == "-1":
		return "-"
	case name == "deleted":
		return "deleted"
	case strings.HasPrefix(name, "expires"):
		if ms, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return clockTime(firn.Timestamp(ms * 1000))
		}
	case v.IsAggregate():
		return strings.TrimSpace(strings.ReplaceAll(shown(v, ""), "\n", ", "))
	case v.Mark == '$':
		return word(v.Text)
	}
	return plain(v)
}

// replyTime is the time of a timestamp in a reply.
func replyTime(v *answer.Value) string {
	ts, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return "-"
	}
	return clockTime(firn.Timestamp(ts))
}

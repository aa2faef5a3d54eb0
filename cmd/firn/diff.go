package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
	answer "github.com/firndb/firn/resp/reply"
)

func diffCommand() *cobra.Command {
	var db int
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff PATH KEY WHEN WHEN",
		Short: "Print what changed in a key between two moments",
		Long: "Print what changed in a key from one moment to a later one: of a collection the\n" +
			"elements that were added (+), removed (-) and changed (~), of anything else the\n" +
			"value before and after. PATH may be in use. What begins with a minus sign comes\nafter --.",
		Example: "  firn diff orders.db order:7 2026-01-01T12:00:00Z now\n  firn diff --json -- orders.db order:7 -1h now",
		Args:    arguments(cobra.ExactArgs(4)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkDatabase(db); err != nil {
				return err
			}
			return reading(args[0], "cannot compare versions in", func(store *firn.Store) error {
				r, err := ask(store, db, "HISTORY", "DIFF", args[1], args[2], args[3])
				if err != nil {
					return err
				}
				out := bufio.NewWriter(c.OutOrStdout())
				if asJSON {
					err = printJSON(out, &r)
				} else {
					printDiff(out, &r)
				}
				return errors.Join(err, out.Flush())
			})
		},
	}
	c.Flags().IntVar(&db, "db", 0, "number of the database")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// printDiff prints the map of HISTORY DIFF: what has a before and an after on
// one line, elements one a line.
func printDiff(w io.Writer, r *answer.Value) {
	for _, name := range []string{"type", "expires"} {
		before, after := r.Field(name+"_before"), r.Field(name+"_after")
		if before == nil || after == nil {
			continue
		}
		if was, is := column(name, before), column(name, after); was == is {
			fmt.Fprintf(w, "%s %s\n", name, was)
		} else {
			fmt.Fprintf(w, "%s %s -> %s\n", name, was, is)
		}
	}
	for _, part := range []struct{ name, sign string }{{"added", "+"}, {"removed", "-"}, {"changed", "~"}} {
		if elements := r.Field(part.name); elements != nil {
			printElements(w, part.sign, elements)
		}
	}
	before, after := r.Field("before"), r.Field("after")
	if before != nil && after != nil && !before.Null && shown(before, "") == shown(after, "") {
		fmt.Fprintf(w, "  %s", shown(before, "  ")) // the same
		return
	}
	for _, part := range []struct{ name, sign string }{{"before", "-"}, {"after", "+"}} {
		if whole := r.Field(part.name); whole != nil && !whole.Null {
			fmt.Fprintf(w, "%s %s", part.sign, shown(whole, "  "))
		}
	}
}

func printElements(w io.Writer, sign string, elements *answer.Value) {
	for i := 0; i < len(elements.Elements); i++ {
		e := &elements.Elements[i]
		switch {
		case elements.Mark == '%' && i+1 < len(elements.Elements):
			i++
			fmt.Fprintf(w, "%s %s => %s\n", sign, shownValue(e), shownValue(&elements.Elements[i]))
		case e.IsAggregate() && len(e.Elements) == 3 && sign == "~":
			fmt.Fprintf(w, "%s %s => %s -> %s\n", sign, shownValue(&e.Elements[0]), shownValue(&e.Elements[1]), shownValue(&e.Elements[2]))
		case e.IsAggregate():
			fmt.Fprintf(w, "%s %s", sign, shown(e, "  "))
		default:
			fmt.Fprintf(w, "%s %s\n", sign, shownValue(e))
		}
	}
}

// shownValue is a value on one line: numbers bare, text in quotes.
func shownValue(v *answer.Value) string {
	switch {
	case v.Null:
		return "(nil)"
	case v.Mark == '$':
		return quoted(v.Text)
	}
	return plain(v)
}

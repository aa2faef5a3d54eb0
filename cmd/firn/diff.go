package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
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
					err = newEncoder(out).Encode(&r)
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
func printDiff(w io.Writer, r *reply) {
	for _, name := range []string{"type", "expires"} {
		before, after := r.field(name+"_before"), r.field(name+"_after")
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
		if elements := r.field(part.name); elements != nil {
			printElements(w, part.sign, elements)
		}
	}
	before, after := r.field("before"), r.field("after")
	if before != nil && after != nil && !before.null && before.format("") == after.format("") {
		fmt.Fprintf(w, "  %s", before.format("  ")) // the same
		return
	}
	for _, part := range []struct{ name, sign string }{{"before", "-"}, {"after", "+"}} {
		if whole := r.field(part.name); whole != nil && !whole.null {
			fmt.Fprintf(w, "%s %s", part.sign, whole.format("  "))
		}
	}
}

func printElements(w io.Writer, sign string, elements *reply) {
	for i := 0; i < len(elements.elements); i++ {
		e := &elements.elements[i]
		switch {
		case elements.mark == '%' && i+1 < len(elements.elements):
			i++
			fmt.Fprintf(w, "%s %s => %s\n", sign, shownValue(e), shownValue(&elements.elements[i]))
		case e.isAggregate() && len(e.elements) == 3 && sign == "~":
			fmt.Fprintf(w, "%s %s => %s -> %s\n", sign, shownValue(&e.elements[0]), shownValue(&e.elements[1]), shownValue(&e.elements[2]))
		case e.isAggregate():
			fmt.Fprintf(w, "%s %s", sign, e.format("  "))
		default:
			fmt.Fprintf(w, "%s %s\n", sign, shownValue(e))
		}
	}
}

// shownValue is a value on one line: numbers bare, text in quotes.
func shownValue(v *reply) string {
	switch {
	case v.null:
		return "(nil)"
	case v.mark == '$':
		return quoted(v.text)
	}
	return v.plain()
}

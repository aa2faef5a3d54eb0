package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
)

const atHelp = `Run a read command of Redis on the store in PATH as it was at a moment, and print
the reply as redis-cli does: for people on a terminal, raw elsewhere. PATH may
be in use.

A moment is a timestamp in microseconds, <n>ms, <n>s, an RFC 3339 time, a date
(midnight UTC), a time ago such as -5m, -1d12h or -2w, now, or a token. Put --
before it if it begins with a minus sign.`

func atCommand() *cobra.Command {
	var db int
	var asJSON, raw, formatted bool
	var table string
	c := &cobra.Command{
		Use:     "at PATH WHEN COMMAND [ARG]...",
		Short:   "Run a read command as of a moment of the past",
		Long:    atHelp,
		Example: "  firn at orders.db 2026-01-01T12:00:00Z HGETALL order:7\n  firn at --db 1 -- orders.db -1h GET k\n  firn at --table users app.db 2026-01-01T12:00:00Z ada",
		Args:    arguments(cobra.MinimumNArgs(3)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkDatabase(db); err != nil {
				return err
			}
			if asJSON && (raw || formatted) || raw && formatted {
				return usageError{errors.New("choose one of --json, --raw and --no-raw")}
			}
			return reading(args[0], "cannot read", func(store *firn.Store) error {
				if table != "" {
					return documentAt(store, c.OutOrStdout(), table, args[1], args[2], asJSON)
				}
				r, err := ask(store, db, append([]string{"AT"}, args[1:]...)...)
				if err != nil {
					return err
				}
				out := bufio.NewWriter(c.OutOrStdout())
				switch {
				case asJSON:
					err = printJSON(out, &r)
				case raw || !formatted && !isTerminal(c.OutOrStdout()):
					printRaw(out, &r)
				default:
					_, err = out.WriteString(shown(&r, ""))
				}
				return errors.Join(err, out.Flush())
			})
		},
	}
	c.Flags().SetInterspersed(false) // what comes after PATH is the command's
	c.Flags().IntVar(&db, "db", 0, "number of the database")
	c.Flags().StringVar(&table, "table", "", "print the document of this table, of a program's own, whose id stands in the place of the command")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&raw, "raw", false, "print raw, on a terminal too")
	c.Flags().BoolVar(&formatted, "no-raw", false, "print for people, also to a pipe")
	return c
}

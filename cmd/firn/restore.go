package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
)

const restoreHelp = `Make a store at OUT from the one in IN, as it was at a moment, with its history
up to there. IN may be a backup or a store in use; it is not changed. OUT must
not exist.

The new store begins a history of its own: tokens that clients keep of the old
one are FORKED, so nobody takes what was undone for what is.`

func restoreCommand() *cobra.Command {
	var at string
	var quiet, strict bool
	c := &cobra.Command{
		Use:     "restore IN OUT",
		Short:   "Make a store as of a moment from a store or a backup",
		Long:    restoreHelp,
		Example: "  firn restore orders.db restored.db --at -10m",
		Args:    arguments(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			show := newProgress(c.ErrOrStderr(), quiet)
			return reading(args[0], "cannot restore", func(store *firn.Store) error {
				ts, err := momentFlag(store, at)
				if err != nil {
					return err
				}
				var left leftOut
				err = store.Restore(c.Context(), args[1], ts, show.show, left.unless(strict))
				show.end()
				if err != nil {
					return err
				}
				left.tell(c.ErrOrStderr())
				if !quiet {
					tellCopy(c.OutOrStdout(), fmt.Sprintf("restored %s to %s", args[0], args[1]), args[1], store, ts, show.began)
				}
				return nil
			})
		},
	}
	copyFlags(c, &at, &quiet, &strict, "the moment to go back to, such as -1h, 2026-01-01T12:00:00Z or a token; the newest if not given")
	return c
}

var errInterrupted = errors.New("interrupted")

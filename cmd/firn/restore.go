package main

import (
	"context"
	"errors"
	"fmt"
	"os"

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
	var quiet bool
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
				err = restore(c.Context(), args[0], args[1], ts, show.show)
				show.end()
				if err != nil {
					return err
				}
				if !quiet {
					tellCopy(c.OutOrStdout(), fmt.Sprintf("restored %s to %s", args[0], args[1]), args[1], store, ts, show.began)
				}
				return nil
			})
		},
	}
	copyFlags(c, &at, &quiet, "the moment to go back to, such as -1h, 2026-01-01T12:00:00Z or a token; the newest if not given")
	return c
}

var errInterrupted = errors.New("interrupted")

// restore ends with ctx: the process does then, and what it was writing has
// another name than out.
func restore(ctx context.Context, in, out string, at firn.Timestamp, show func(done, total int64)) error {
	ended := make(chan error, 1) // nobody may be there to receive
	go func() { ended <- firn.Restore(in, out, at, show) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
			os.Remove(fmt.Sprint(out, ".partial", suffix))
		}
		return errInterrupted
	}
}

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check PATH",
		Short: "Check a store's file, and print what is wrong with it",
		Long: "Check a store's file: that it is sound, that the index leads to the documents of\n" +
			"the log and to all of them, and that versions are chained. Nothing is changed.",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exists(args[0]); err != nil {
				return fmt.Errorf("cannot check %s: %w", args[0], err)
			}
			problems, err := firn.Check(args[0], func(problem string) { fmt.Fprintln(c.OutOrStdout(), problem) })
			if err != nil {
				return fmt.Errorf("cannot check %s: %w", args[0], err)
			}
			if problems > 0 {
				return fmt.Errorf("%s: %d problems found", args[0], problems)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: no problems found\n", args[0])
			return nil
		},
	}
}

func reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex PATH",
		Short: "Rebuild a store's index from its log",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exists(args[0]); err != nil {
				return fmt.Errorf("cannot reindex %s: %w", args[0], err)
			}
			var first firn.Timestamp
			tell := isTerminal(c.ErrOrStderr())
			err := firn.Reindex(args[0], keyspace.Tables(), func(at, last firn.Timestamp) {
				if first == 0 {
					first = at
				}
				if tell {
					fmt.Fprintf(c.ErrOrStderr(), "\r%3d %%", (at-first)*100/max(last-first, 1))
				}
			})
			if tell && first != 0 {
				fmt.Fprintln(c.ErrOrStderr())
			}
			if err != nil {
				return fmt.Errorf("cannot reindex %s: %w", args[0], err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: index rebuilt\n", args[0])
			return nil
		},
	}
}

// exists refuses what is no file, so that none is made by mistake.
func exists(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("no such file")
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return err
}

package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
)

const backupHelp = `Write a copy of the store in PATH to OUT: all of it, or as it was at a moment,
with its history. PATH may be in use, by firn serve for one; writes go on.

The copy is made as OUT.partial, read back and checked, made durable, and only
then called OUT. A file that is called so already is left alone.

The copy continues the history of the store: tokens of the one are good for the
other. To go back to a moment and start over from there, use firn restore.`

func backupCommand() *cobra.Command {
	var at string
	var quiet, strict bool
	c := &cobra.Command{
		Use:     "backup PATH OUT",
		Short:   "Write a copy of a store, which may be in use",
		Long:    backupHelp,
		Example: "  firn backup orders.db backups/orders.db\n  firn backup orders.db before.db --at 2026-01-01T12:00:00Z",
		Args:    arguments(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			show := newProgress(c.ErrOrStderr(), quiet)
			return reading(args[0], "cannot back up", func(store *firn.Store) error {
				ts, err := momentFlag(store, at)
				if err != nil {
					return err
				}
				var left leftOut
				err = store.Backup(c.Context(), args[1], ts, show.show, left.unless(strict))
				show.end()
				if err != nil {
					return err
				}
				left.tell(c.ErrOrStderr())
				if !quiet {
					tellCopy(c.OutOrStdout(), fmt.Sprintf("backed up %s to %s", args[0], args[1]), args[1], store, ts, show.began)
				}
				return nil
			})
		},
	}
	copyFlags(c, &at, &quiet, &strict, "copy the store as it was then, such as -1h, 2026-01-01T12:00:00Z or a token; the newest state if not given")
	return c
}

func copyFlags(c *cobra.Command, at *string, quiet, strict *bool, when string) {
	c.Flags().StringVar(at, "at", "", when)
	c.Flags().BoolVarP(quiet, "quiet", "q", false, "say nothing unless it fails")
	c.Flags().BoolVar(strict, "strict", false, "refuse a moment at which not everything can be read, instead of leaving that out")
}

// leftOut is what a copy of the past leaves out: what has a policy of its own
// that has let go of that moment.
type leftOut struct {
	names []string // the first few
	n     int
}

// maxLeftOut is how many are named.
const maxLeftOut = 10

// unless is add, or an error if nothing may be left out.
func (l *leftOut) unless(strict bool) func(firn.Scope, firn.Timestamp) error {
	if strict {
		return func(scope firn.Scope, from firn.Timestamp) error {
			return fmt.Errorf("%s can be read from %s (%d) on: choose a later moment, or leave it out without --strict", scopeName(scope), clockTime(from), from)
		}
	}
	return l.add
}

func (l *leftOut) add(scope firn.Scope, from firn.Timestamp) error {
	if l.n++; l.n <= maxLeftOut {
		l.names = append(l.names, fmt.Sprintf("%s (can be read from %s on)", scopeName(scope), clockTime(from)))
	}
	return nil
}

// scopeName is what a policy is for: a group, such as a database, and a member
// of it, such as a key.
func scopeName(scope firn.Scope) string {
	if scope.Member == "" {
		return word(scope.Group)
	}
	return word(scope.Group) + " " + word(scope.Member)
}

// tell warns of it.
func (l *leftOut) tell(w io.Writer) {
	if l.n == 0 {
		return
	}
	fmt.Fprintln(w, "firn: left out, because their own policies have let go of that moment:")
	for _, name := range l.names {
		fmt.Fprintln(w, "firn:  ", name)
	}
	if more := l.n - len(l.names); more > 0 {
		fmt.Fprintf(w, "firn:   and %d more\n", more)
	}
}

// tellCopy says what was made. That it was checked, the library promises; it
// is not opened again, because that would leave files of SQLite beside it.
func tellCopy(w io.Writer, did, path string, source *firn.Store, at firn.Timestamp, began time.Time) {
	bytes := int64(0)
	if info, err := os.Stat(path); err == nil {
		bytes = info.Size()
	}
	until := "now"
	if at != 0 {
		until = clockTime(at)
	}
	fmt.Fprintf(w, "%s: %s in %s, history from %s until %s\n", did, size(bytes), time.Since(began).Round(time.Millisecond),
		clockTime(source.Bounds().Oldest), until)
	fmt.Fprintln(w, "every row, index entry and chain of versions was read back: no problems found")
}
